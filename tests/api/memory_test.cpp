#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "api/test_models.h"
#include "lapilli/error.h"
#include "lapilli/model.h"

namespace lapilli {
namespace {

using testing::device_options;
using testing::floats;
using testing::layers_input;
using testing::layers_model;
using testing::layers_values;
using testing::open_device;
using testing::resident_kib;

void expect_right(Context& context, std::int64_t rows) {
  const std::array<Tensor, 1> inputs{layers_input(rows)};
  EXPECT_EQ(floats(context.run(inputs)[0]), layers_values(inputs[0]).y) << rows;
}

TEST(Memory, is_given_back_by_trim_and_at_the_end) {
  const Device device = open_device();
  EXPECT_EQ(device.memory().in_use, 0U);
  {
    const Model model = Model::load(layers_model, device);
    Context context(model);
    expect_right(context, 1000);
    EXPECT_GE(model.weight_bytes(), 2U * 16 * 16 * 4);
    EXPECT_EQ(context.memory().plans, 1U);
    EXPECT_EQ(device.memory().in_use, model.weight_bytes() + context.memory().bytes);
    model.trim();  // the context's plan still needs the weights
    EXPECT_GE(model.weight_bytes(), 2U * 16 * 16 * 4);
    expect_right(context, 1000);
    context.trim();
    EXPECT_EQ(context.memory().plans, 0U);
    EXPECT_EQ(device.memory().in_use, model.weight_bytes());
    model.trim();
    EXPECT_EQ(device.memory().in_use, 0U);
    expect_right(context, 1000);
  }
  EXPECT_EQ(device.memory().in_use, 0U);
  EXPECT_GT(device.memory().peak, 2U * 1000 * 16 * 4);
  EXPECT_EQ(device.validation_messages(), std::vector<std::string>{});
}

// Large buffers go back to the driver at once.
TEST(Memory, is_really_released) {
  const Device device = open_device();
  const std::uint64_t before = device.memory().reserved;
  {
    Context context(Model::load(layers_model, device));
    context.prepare({{"batch", 500000}});
    EXPECT_GT(device.memory().reserved, before + 64000000U);
  }
  EXPECT_LT(device.memory().reserved, before + 40000000);
}

TEST(Memory, stays_within_its_budget) {
  DeviceOptions options = device_options();
  options.memory_budget = 1000000;
  const Device device = Device::open(options);
  const Model model = Model::load(layers_model, device);
  Context context(model);
  for (const std::int64_t rows : {2000, 3000, 4000, 2000, 10, 3000}) expect_right(context, rows);
  EXPECT_LE(device.memory().peak, 1000000U);
  EXPECT_LT(context.memory().plans, 4U);
  try {
    expect_right(context, 20000);
    FAIL() << "more than the budget was given";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
    EXPECT_NE(std::string(error.what()).find("budget of 976.6 KiB"), std::string::npos) << error.what();
  }
  expect_right(context, 2000);
}

// 256 MiB of weights: the file's pages go back once they are on the device, which is host memory here.
TEST(Memory, holds_no_second_copy_of_the_weights) {
  const std::filesystem::path folder = ::testing::TempDir();
  std::filesystem::copy_file(API_TEST_DATA "/large.onnx", folder / "large.onnx",
                             std::filesystem::copy_options::overwrite_existing);
  std::ofstream(folder / "large.bin").flush();
  std::filesystem::resize_file(folder / "large.bin", std::uint64_t{256} << 20U);
  const Device device = open_device();
  const Model model = Model::load(folder / "large.onnx", device);
  Context context(model);
  const std::int64_t row = 7;
  const std::array<Tensor, 1> inputs{Tensor::of<std::int64_t>(DType::int64, {1}, {&row, 1})};
  // The second time the driver's compiler, which takes memory too, has nothing to do.
  (void)context.run(inputs);
  context.trim();
  model.trim();
  EXPECT_EQ(device.memory().in_use, 0U);
  const std::uint64_t file_before = resident_kib("RssFile"), all_before = resident_kib("VmRSS");
  EXPECT_EQ(context.run(inputs)[0].shape(), (std::vector<std::int64_t>{1, 1024}));
  EXPECT_GE(device.memory().in_use, std::uint64_t{256} << 20U);
  EXPECT_LT(resident_kib("RssFile"), file_before + (48U << 10U));
  EXPECT_LT(resident_kib("VmRSS"), all_before + (256U << 10U) * 13 / 10);
  std::filesystem::remove(folder / "large.bin");
}

}  // namespace
}  // namespace lapilli
