// Runs with sizes that a context keeps allocate nothing, and lock nothing but the queue.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

#include "api/test_models.h"
#include "lapilli/lapilli.h"
#include "support/call_counts.h"

namespace lapilli {
namespace {

using testing::device_options;
using testing::floats;
using testing::layers_input;
using testing::layers_model;
using testing::layers_values;
using testing::shaped_model;

constexpr std::size_t run_count = 100;
constexpr CallCounts queue_only{0, run_count};

Device open(bool staged) {
  DeviceOptions options = device_options();
  options.validation = false;  // which takes memory of its own
  options.restrictions.no_host_visible_device_memory = staged;
  return Device::open(options);
}

class ContextHotPath : public ::testing::TestWithParam<bool> {
 protected:
  Context context_{Model::load(layers_model, open(GetParam()))};
  std::array<Tensor, 1> inputs_{layers_input(3)}, outputs_;
};

TEST_P(ContextHotPath, runs_without_allocating) {
  context_.run(inputs_, outputs_);
  EXPECT_EQ(counted([&] {
              for (std::size_t run = 0; run < run_count; ++run) {
                inputs_[0].mutable_elements<float>()[run % 16] += 1;
                context_.run(inputs_, outputs_);
              }
            }),
            queue_only);
  EXPECT_EQ(floats(outputs_[0]), layers_values(inputs_[0]).y);
}

TEST_P(ContextHotPath, submits_ahead_without_allocating) {
  std::array<Tensor, 1> others{layers_input(3, 1)}, other_outputs;
  const auto run_two = [&] {
    lapilli::Run first = context_.submit(inputs_), second = context_.submit(others);
    first.results(outputs_);
    second.results(other_outputs);
  };
  run_two();
  EXPECT_EQ(counted([&] {
              for (std::size_t run = 0; run < run_count / 2; ++run) run_two();
            }),
            queue_only);
  EXPECT_EQ(floats(outputs_[0]), layers_values(inputs_[0]).y);
  EXPECT_EQ(floats(other_outputs[0]), layers_values(others[0]).y);
}

// As many sizes as a context keeps, in turns.
TEST_P(ContextHotPath, changes_sizes_without_allocating) {
  std::vector<std::array<Tensor, 1>> inputs, outputs(4);
  for (std::int64_t rows = 1; rows <= 4; ++rows) inputs.push_back({layers_input(rows)});
  const auto run_all = [&] {
    for (std::size_t i = 0; i < inputs.size(); ++i) context_.run(inputs[i], outputs[i]);
  };
  run_all();
  EXPECT_EQ(counted([&] {
              for (std::size_t run = 0; run < run_count / 4; ++run) run_all();
            }),
            queue_only);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    EXPECT_EQ(floats(outputs[i][0]), layers_values(inputs[i][0]).y) << i;
}

INSTANTIATE_TEST_SUITE_P(Memory, ContextHotPath, ::testing::Bool(),
                         [](const auto& tested) { return tested.param ? "staged" : "in_place"; });

// The second input says the shape of the output, so runs differ by its elements alone.
TEST(ContextHotPath, looks_at_elements_that_say_sizes_without_allocating) {
  Context context(Model::load(shaped_model, open(false)));
  const auto shape = [](std::int64_t rows, std::int64_t columns) {
    const std::array elements{rows, columns};
    return Tensor::of<std::int64_t>(DType::int64, {2}, elements);
  };
  const Tensor x = layers_input(3);
  const std::array<Tensor, 2> wide{x, shape(2, 24)}, tall{x, shape(24, 2)};
  std::array<Tensor, 1> wide_output, tall_output;
  const auto run_both = [&] {
    context.run(wide, wide_output);
    context.run(tall, tall_output);
  };
  run_both();
  EXPECT_EQ(counted([&] {
              for (std::size_t run = 0; run < run_count / 2; ++run) run_both();
            }),
            queue_only);
  std::vector<float> doubled = floats(x);
  for (float& element : doubled) element *= 2;
  EXPECT_EQ(wide_output[0].shape(), (std::vector<std::int64_t>{2, 24}));
  EXPECT_EQ(tall_output[0].shape(), (std::vector<std::int64_t>{24, 2}));
  EXPECT_EQ(floats(wide_output[0]), doubled);
  EXPECT_EQ(floats(tall_output[0]), doubled);
}

}  // namespace
}  // namespace lapilli
