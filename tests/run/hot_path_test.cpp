// A run that was made ready allocates nothing, and locks nothing but the queue.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <numeric>

#include "run/executor.h"
#include "run/scale_add_program.h"
#include "support/call_counts.h"

namespace lapilli {
namespace {

VulkanDevice open(bool staged) {
  DeviceOptions options;
  options.pipeline_cache = false;
  options.restrictions.no_host_visible_device_memory = staged;
  return VulkanDevice::open(options);
}

Executor executor_of(const VulkanDevice& device, Program program) {
  return {device, std::make_shared<ResidentConstants>(device), std::make_shared<const Program>(std::move(program))};
}

// Two dispatches, weights, parameters in a buffer, a barrier.
class HotPath : public ::testing::TestWithParam<bool> {
 protected:
  HotPath() {
    std::iota(weights_.begin(), weights_.end(), 1.0F);
    std::iota(input_.begin(), input_.end(), -100.0F);
  }

  [[nodiscard]] Executor executor() const {
    const VulkanDevice device = open(GetParam());
    return executor_of(device, scale_add_program(device.traits(), weights_));
  }

  void expect_right() const {
    for (std::size_t i = 0; i < output_.size(); ++i) {
      ASSERT_EQ(output_[i], 2 * (2 * input_[i] + weights_[i]) + weights_[i] + 3) << i;
    }
  }

  std::array<float, 1000> weights_{}, input_{}, output_{};
  std::array<std::span<const std::byte>, 1> inputs_{std::as_bytes(std::span(input_))};
  std::array<std::span<std::byte>, 1> outputs_{std::as_writable_bytes(std::span(output_))};
};

constexpr std::size_t run_count = 100;
// Vulkan wants calls for one queue to come one at a time.
constexpr CallCounts queue_only{0, run_count};

TEST_P(HotPath, runs_without_allocating) {
  Executor executor = this->executor();
  executor.run(inputs_, outputs_);
  EXPECT_EQ(counted([&] {
              for (std::size_t run = 0; run < run_count; ++run) {
                input_[run] += 1;
                executor.run(inputs_, outputs_);
              }
            }),
            queue_only);
  expect_right();
}

TEST_P(HotPath, submits_ahead_without_allocating) {
  Executor executor = this->executor();
  const auto run_two = [&] {
    const Executor::Ticket first = executor.submit(inputs_), second = executor.submit(inputs_);
    executor.read(first, outputs_);
    executor.read(second, outputs_);
  };
  run_two();
  EXPECT_EQ(counted([&] {
              for (std::size_t run = 0; run < run_count / 2; ++run) run_two();
            }),
            queue_only);
  expect_right();
}

INSTANTIATE_TEST_SUITE_P(Memory, HotPath, ::testing::Bool(),
                         [](const auto& tested) { return tested.param ? "staged" : "in_place"; });

TEST(HotPathPorts, convert_packed_elements_without_allocating) {
  const VulkanDevice device = open(false);
  Program program;
  program.segments = {{SegmentKind::input, 1000}};
  program.inputs = {{"x", DType::int4, {1000}, 0}};
  program.outputs = {{"y", DType::int4, {1000}, 0}};
  Executor executor = executor_of(device, std::move(program));
  std::array<std::byte, 500> input{}, output{};
  input.fill(std::byte{0x5A});
  const std::array<std::span<const std::byte>, 1> inputs{std::span<const std::byte>(input)};
  const std::array<std::span<std::byte>, 1> outputs{std::span<std::byte>(output)};
  executor.run(inputs, outputs);
  EXPECT_EQ(counted([&] {
              for (std::size_t run = 0; run < run_count; ++run) executor.run(inputs, outputs);
            }),
            queue_only);
  EXPECT_EQ(output, input);
}

TEST(HotPathCounters, see_what_they_are_to_see) {
  EXPECT_EQ(counted([] { ::operator delete(::operator new(100)); }), (CallCounts{1, 0}));
  std::mutex mutex;
  EXPECT_EQ(counted([&] { const std::scoped_lock lock(mutex); }), (CallCounts{0, 1}));
  const CallCounts making = counted([] { (void)open(false).allocate(1000, MemoryKind::staging); });
  EXPECT_GT(making.allocations, 10U);
}

}  // namespace
}  // namespace lapilli
