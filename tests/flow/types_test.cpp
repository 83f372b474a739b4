// Types that an operator does not take are errors where the model is built, or where the host is about to run the
// node.
#include "import/onnx/operators/types.h"

#include <gtest/gtest.h>

#include <array>

#include "flow/host_node.h"
#include "import/onnx/graph/evaluate.h"
#include "import/onnx/graph/part.h"
#include "import/onnx/operators/node_builder.h"

namespace lapilli::testing {
namespace {

using onnx::InputTypes;
using onnx::TypeSet;

constexpr TypeSet few{DType::float32, DType::int64};

static_assert(few.contains(DType::int64) && !few.contains(DType::int32));
static_assert((few | TypeSet{DType::int32}).contains(DType::int32));
static_assert(TypeSet().empty() && !few.empty());
static_assert(InputTypes().of(3).empty());
static_assert(InputTypes({few, TypeSet{DType::boolean}}).of(5) == TypeSet{DType::boolean});
static_assert((InputTypes({few}) | InputTypes({TypeSet{DType::boolean}, few})).of(1) == few);

TEST(Types, NameWhatASetHas) { EXPECT_EQ(few.to_string(), "float32, int64"); }

onnx::Model model_of(onnx::Node node, const std::vector<DType>& types) {
  onnx::Model model;
  for (std::size_t i = 0; i < types.size(); ++i) {
    onnx::ValueInfo info;
    info.name = node.inputs[i];
    info.type.kind = onnx::Type::Kind::tensor;
    info.type.dtype = types[i];
    info.type.shape.emplace(4, onnx::Dimension{.size = 2, .symbol = {}});
    model.graph.inputs.push_back(std::move(info));
  }
  onnx::ValueInfo output;
  output.name = node.outputs[0];
  model.graph.outputs.push_back(std::move(output));
  model.graph.nodes.push_back(std::move(node));
  return model;
}

std::string build_error(const onnx::Model& model) {
  return error_of([&] {
    Assumptions assumptions({});
    std::ignore = onnx::build_model(model, assumptions);
  });
}

std::string build_error(const onnx::Node& node, const std::vector<DType>& types) {
  return build_error(model_of(node, types));
}

TEST(Types, AreCheckedWhereANodeIsBuilt) {
  const onnx::Node convolution = make_node("Conv", {"image", "weights"}, {"result"});
  EXPECT_EQ(build_error(convolution, {DType::float16, DType::float16}), "");
  EXPECT_EQ(build_error(convolution, {DType::float32, DType::uint8}),
            "node 'Conv' (Conv): input 1 ('weights') is uint8; Conv takes float32, float16, bfloat16, float64 there");
  EXPECT_EQ(build_error(make_node("Where", {"c", "x", "y"}, {"z"}), {DType::boolean, DType::uint8, DType::uint8}),
            "");
  EXPECT_NE(build_error(make_node("Where", {"c", "x", "y"}, {"z"}), {DType::int64, DType::uint8, DType::uint8}), "");
  EXPECT_NE(build_error(make_node("Not", {"x"}, {"z"}), {DType::float32}), "");
}

TEST(Types, OfOutputsAreTheDeclaredOnes) {
  onnx::Model model = model_of(make_node("Relu", {"x"}, {"y"}), {DType::float32});
  onnx::Type& declared = model.graph.outputs[0].type;
  declared.kind = onnx::Type::Kind::tensor;
  declared.dtype = DType::float32;
  EXPECT_EQ(build_error(model), "");
  declared.dtype = DType::int64;
  EXPECT_EQ(build_error(model), "output 'y' is declared as int64, but it is float32");
}

TEST(Types, AreCheckedWhereTheHostComputes) {
  const std::array inputs{texts({1}, {"a"}), texts({1}, {"b"})};
  EXPECT_EQ(
      error_of([&] { std::ignore = onnx::evaluate_node(make_node("Add", {"x", "y"}, {"z"}), inputs); }),
      "input 0 ('x') is string; Add takes float32, float16, bfloat16, float64, int8, int16, int32, int64, uint8, "
      "uint16, uint32, uint64 there");
}

// Every record but those without inputs says what it takes.
TEST(Types, AreThereForEveryOperator) {
  for (const auto& family : onnx::operator_families()) {
    for (const onnx::OperatorRecord& record : family) {
      const bool anything =
          record.name == "Constant" || record.name.starts_with("Random") || record.domain == "lapilli";
      EXPECT_TRUE(anything || !record.types.sets().empty()) << record.name;
    }
  }
}

}  // namespace
}  // namespace lapilli::testing
