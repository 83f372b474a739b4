#include "lapilli/model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "api/test_models.h"
#include "lapilli/error.h"

namespace lapilli {
namespace {

using testing::huge_model;
using testing::open_device;
using testing::rows_model;
using testing::shaped_model;

Tensor counted(std::int64_t rows, float first) {
  Tensor tensor = Tensor::allocate(DType::float32, {rows, 3});
  for (float& element : tensor.mutable_elements<float>()) element = first++;
  return tensor;
}

// relu((left + right) * 2 - 1), rows of one operand repeated where it has only one.
std::vector<float> expected(const Tensor& left, const Tensor& right) {
  const auto a = left.elements<float>(), b = right.elements<float>();
  std::vector<float> result(std::max(a.size(), b.size()));
  for (std::size_t i = 0; i < result.size(); ++i) {
    const float sum = a[a.size() == 3 ? i % 3 : i] + b[b.size() == 3 ? i % 3 : i];
    result[i] = std::max(0.0F, sum * 2 - 1);
  }
  return result;
}

void expect_right(Context& context, std::int64_t rows, std::int64_t others) {
  const std::vector<Tensor> inputs{counted(rows, -4), counted(others, 0.5F)};
  const Tensor result = context.run(inputs)[0];
  const auto elements = result.elements<float>();
  EXPECT_EQ(std::vector<float>(elements.begin(), elements.end()), expected(inputs[0], inputs[1]))
      << rows << " and " << others;
}

TEST(Model, plans_again_only_where_sizes_change_their_class) {
  const Device device = open_device();
  const Model model = Model::load(rows_model, device);
  const auto makes_a_structure = [&](std::int64_t rows, std::int64_t others) {
    return model.plan({{"rows", rows}, {"others", others}}).structure_ms > 0;
  };
  EXPECT_TRUE(makes_a_structure(4, 4));
  EXPECT_FALSE(makes_a_structure(9, 9));
  EXPECT_TRUE(makes_a_structure(4, 1));  // the second operand is repeated
  EXPECT_FALSE(makes_a_structure(7, 1));
  EXPECT_FALSE(makes_a_structure(5, 5));  // the first structure is still there
  EXPECT_TRUE(makes_a_structure(1, 4));
  Context context(model);
  for (const auto& [rows, others] : {std::pair{4, 4}, {9, 9}, {4, 1}, {1, 4}, {1, 1}, {4, 4}, {2, 1}, {3, 3}}) {
    expect_right(context, rows, others);
  }
  EXPECT_THROW((void)model.plan({{"rows", 2}, {"others", 3}}), Error);
  EXPECT_EQ(device.validation_messages(), std::vector<std::string>{});
}

ModelOptions without_rule(const std::string& name) {
  ModelOptions options;
  options.disabled_rules.insert(name);
  return options;
}

TEST(Model, leaves_out_the_rules_that_it_is_told_to) {
  const Device device = open_device();
  const Model optimised = Model::load(rows_model, device);
  EXPECT_EQ(optimised.plan().dispatches, 1U);
  const Model unfused = Model::load(rows_model, device, without_rule("fuse-pointwise"));
  EXPECT_EQ(unfused.plan().dispatches, 4U);
  ModelOptions unchanged;
  unchanged.optimise = false;
  const Model as_it_is = Model::load(rows_model, device, unchanged);
  EXPECT_EQ(as_it_is.plan().dispatches, 4U);
  for (const Model& model : {optimised, unfused, as_it_is}) {
    Context context(model);
    expect_right(context, 5, 5);
    expect_right(context, 5, 1);
  }
  const Model wrong = Model::load(rows_model, device, without_rule("fuse-everything"));
  EXPECT_THROW((void)wrong.plan(), Error);
}

TEST(Model, names_its_node_once_in_an_error) {
  const Model model = Model::load(shaped_model, open_device());
  try {
    (void)model.plan({{"rows", 3}});
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              std::string(shaped_model) +
                  ": node 'shaped' (Reshape): float32[rows, 16] cannot become [1, 1]: the element counts differ");
  }
}

TEST(Model, names_its_file_once_in_an_error) {
  const std::filesystem::path lacks_data = huge_model;
  const std::filesystem::path cut = std::filesystem::temp_directory_path() / "cut_model.onnx";
  std::filesystem::copy_file(rows_model, cut, std::filesystem::copy_options::overwrite_existing);
  std::filesystem::resize_file(cut, std::filesystem::file_size(cut) / 2);
  const Device device = open_device();
  for (const std::filesystem::path& path : {lacks_data, cut, std::filesystem::path("no_such_model.onnx")}) {
    try {
      (void)Model::load(path, device);
      ADD_FAILURE() << path;
    } catch (const Error& error) {
      const std::string text = error.what();
      EXPECT_TRUE(text.starts_with(path.string() + ": ")) << text;
      EXPECT_EQ(text.find(path.string()), text.rfind(path.string())) << text;
    }
  }
  std::filesystem::remove(cut);
}

}  // namespace
}  // namespace lapilli
