// One structure for many sizes, and another one where its guards no longer hold.
#include <gtest/gtest.h>

#include "ops/contraction.h"
#include "ops/movement.h"
#include "ops/pointwise.h"
#include "ops/window.h"
#include "plan/build.h"
#include "plan/instantiate.h"
#include "program/verify.h"
#include "run/executor.h"
#include "support/node_runner.h"
#include "vulkan/device_plan.h"
#include "vulkan/recorded_snapshots.h"

namespace lapilli::testing {
namespace {

// An operator on inputs of symbolic shape, planned for some sizes and run for those and others.
class Planned {
 public:
  Planned(OperatorPointer op, std::vector<Shape> inputs, SymbolValues sizes)
      : op_(std::move(op)), inputs_(std::move(inputs)), assumptions_(std::move(sizes)) {
    Graph graph;
    std::vector<ValueId> values;
    for (const Shape& shape : inputs_) {
      values.push_back(graph.add_input(std::format("input {}", values.size()), Fact::of(DType::float32, shape)));
    }
    graph.add_output(graph.add_node(op_, values, {"node"}, {"output"}, assumptions_)[0]);
    structure_ = build_structure(graph, assumptions_, test_device().traits(), {});
  }

  [[nodiscard]] bool serves(const SymbolValues& sizes) const { return guards_hold(structure_.guards, sizes); }

  // Against the operator's host evaluation for these sizes.
  void expect_right(const SymbolValues& sizes) const {
    std::vector<Tensor> tensors;
    std::vector<std::span<const std::byte>> bytes;
    for (const Shape& shape : inputs_) {
      tensors.push_back(random_tensor(DType::float32, evaluate(shape, sizes), -2, 2,
                                      static_cast<std::uint32_t>(tensors.size() + 1)));
    }
    for (const Tensor& tensor : tensors) bytes.push_back(tensor.bytes());
    auto program = std::make_shared<Program>(instantiate(structure_, sizes, test_device().traits()).program);
    verify(*program, test_device().traits());
    Tensor result = Tensor::allocate(program->outputs[0].dtype, program->outputs[0].shape);
    const std::array outputs{result.mutable_bytes()};
    Executor(test_device(), std::make_shared<ResidentConstants>(test_device()), program).run(bytes, outputs);
    EXPECT_LE(relative_error(result, op_->evaluate(tensors)[0]), 1e-6);
  }

 private:
  OperatorPointer op_;
  std::vector<Shape> inputs_;
  Assumptions assumptions_;
  Structure structure_;
};

const Dim b = Dim::symbol("b"), h = Dim::symbol("h");

TEST(Structure, of_a_product_serves_every_batch) {
  const Planned planned(std::make_shared<MatMul>(), {{b, 5, 8}, {8, 3}}, {{"b", 2}});
  for (const std::int64_t batch : {2, 1, 7}) {
    ASSERT_TRUE(planned.serves({{"b", batch}})) << batch;
    planned.expect_right({{"b", batch}});
  }
}

TEST(Structure, of_a_sum_ends_where_an_operand_begins_to_broadcast) {
  const OperatorPointer sum = make_pointwise(PointwiseFunction::add, DType::float32, 2);
  const Planned same(sum, {{b, 3}, {h, 3}}, {{"b", 4}, {"h", 4}});
  EXPECT_TRUE(same.serves({{"b", 9}, {"h", 9}}));
  EXPECT_FALSE(same.serves({{"b", 4}, {"h", 1}}));
  same.expect_right({{"b", 9}, {"h", 9}});
  const Planned repeated(sum, {{b, 3}, {h, 3}}, {{"b", 4}, {"h", 1}});
  EXPECT_TRUE(repeated.serves({{"b", 9}, {"h", 1}}));
  EXPECT_FALSE(repeated.serves({{"b", 9}, {"h", 9}}));
  repeated.expect_right({{"b", 4}, {"h", 1}});
  repeated.expect_right({{"b", 9}, {"h", 1}});
}

// With sizes rounded up, the last window counts only where it begins before the padding behind.
TEST(Structure, of_a_pooling_ends_where_its_last_window_falls_out) {
  WindowAttributes attributes;
  attributes.function = ReductionFunction::maximum;
  attributes.axes = {{2, 2, 3, 1, Dim(0), Dim(1)}};
  attributes.round_up = true;
  const OperatorPointer pool = std::make_shared<Window>(attributes);
  const Planned planned(pool, {{b, 2, h}}, {{"b", 1}, {"h", 7}});
  std::size_t served = 0;
  for (std::int64_t height = 4; height < 12; ++height) {
    const SymbolValues sizes{{"b", 2}, {"h", height}};
    if (planned.serves(sizes)) {
      ++served;
      planned.expect_right(sizes);
    } else {
      const Planned other(pool, {{b, 2, h}}, sizes);
      EXPECT_TRUE(other.serves(sizes));
      EXPECT_FALSE(other.serves({{"b", 1}, {"h", 7}}));
      other.expect_right(sizes);
    }
  }
  // Heights differ in which class they belong to.
  EXPECT_GT(served, 0U);
  EXPECT_LT(served, 8U);
}

// Sizes as data: what Shape gives an exporter's arithmetic, which a kernel then adds to positions.
TEST(Structure, writes_sizes_that_kernels_read) {
  Graph graph;
  Assumptions assumptions({{"b", 2}, {"h", 5}});
  const Shape shape{b, h};
  const ValueId input = graph.add_input("x", Fact::of(DType::int64, shape));
  const ValueId known = graph.add_known("sizes", Fact::of_elements(DType::int64, {2}, {b * 3, h - 7}));
  const OperatorPointer sum = make_pointwise(PointwiseFunction::add, DType::int64, 2);
  const ValueId row = graph.add_node(std::make_shared<Reshape>(Shape{2, 1, 1}), {known}, {"row"}, {}, assumptions)[0];
  graph.add_output(graph.add_node(sum, {input, row}, {"sum"}, {"y"}, assumptions)[0]);
  const Structure structure = build_structure(graph, assumptions, test_device().traits(), {});
  for (const SymbolValues& sizes : {SymbolValues{{"b", 2}, {"h", 5}}, SymbolValues{{"b", 3}, {"h", 9}}}) {
    ASSERT_TRUE(guards_hold(structure.guards, sizes));
    const std::int64_t rows = sizes.at("b"), columns = sizes.at("h");
    auto program = std::make_shared<Program>(instantiate(structure, sizes, test_device().traits()).program);
    verify(*program, test_device().traits());
    const Tensor x = random_tensor(DType::int64, {rows, columns}, -100, 100);
    Tensor result = Tensor::allocate(DType::int64, {2, rows, columns});
    const std::array inputs{x.bytes()};
    const std::array outputs{result.mutable_bytes()};
    Executor(test_device(), std::make_shared<ResidentConstants>(test_device()), program).run(inputs, outputs);
    std::vector<std::int64_t> expected;
    for (const std::int64_t summand : {rows * 3, columns - 7}) {
      for (const std::int64_t element : x.elements<std::int64_t>()) expected.push_back(element + summand);
    }
    EXPECT_EQ(integers_of(result), expected);
  }
}

TEST(Structure, knows_which_sizes_matter) {
  Graph graph;
  Assumptions assumptions({{"b", 2}, {"unused", 5}});
  const ValueId input = graph.add_input("x", Fact::of(DType::float32, {b, 3}));
  graph.add_output(graph.add_node(make_pointwise(PointwiseFunction::sine, DType::float32, 1), {input}, {"n"}, {"y"},
                                  assumptions)[0]);
  const Structure structure = build_structure(graph, assumptions, test_device().traits(), {});
  EXPECT_EQ(relevant_sizes(structure, {{"b", 4}, {"unused", 9}}), (SymbolValues{{"b", 4}}));
}

// A network without fixed sizes: two branches, joined, over images of any number and size.
TEST(Structure, of_a_network_makes_no_new_pipeline_for_a_new_size) {
  const Dim w = Dim::symbol("w");
  Assumptions assumptions({{"b", 1}, {"h", 32}, {"w", 48}});
  Graph graph;
  const auto convolution = [&](ValueId input, std::int64_t from, std::int64_t to, std::int64_t kernel) {
    ConvolutionAttributes attributes;
    attributes.pads_begin = attributes.pads_end = {kernel / 2, kernel / 2};
    const ValueId weights = graph.add_constant("", random_tensor(DType::float32, {to, from, kernel, kernel}));
    return graph.add_node(std::make_shared<Convolution>(attributes), {input, weights}, {"convolution"}, {},
                          assumptions)[0];
  };
  const ValueId x = convolution(graph.add_input("x", Fact::of(DType::float32, {b, 3, h, w})), 3, 8, 3);
  const ValueId joined =
      graph.add_node(std::make_shared<Concat>(1), {convolution(x, 8, 16, 1), convolution(x, 8, 8, 3)}, {"joined"}, {},
                     assumptions)[0];
  graph.add_output(convolution(joined, 24, 4, 1));
  for (const char* device : {"nvidia_h200", "llvmpipe_mesa_26_1"}) {
    const DeviceTraits traits = make_device_plan(recorded_snapshot(device), {}).traits;
    Assumptions for_device = assumptions;
    const Structure structure = build_structure(graph, for_device, traits, {});
    const Program first = instantiate(structure, assumptions.sizes(), traits).program;
    for (const SymbolValues& sizes :
         {SymbolValues{{"b", 8}, {"h", 64}, {"w", 64}}, SymbolValues{{"b", 2}, {"h", 31}, {"w", 17}}}) {
      ASSERT_TRUE(guards_hold(structure.guards, sizes)) << device;
      const InstantiatedProgram other = instantiate(structure, sizes, traits);
      verify(other.program, traits);
      EXPECT_EQ(other.program.pipelines, first.pipelines) << device;
      EXPECT_EQ(other.report.barriers + 1, other.report.levels) << device;
    }
  }
}

}  // namespace
}  // namespace lapilli::testing
