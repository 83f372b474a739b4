#include "run/executor.h"

#include <gtest/gtest.h>

#include <numeric>
#include <thread>

#include "lapilli/error.h"
#include "run/scale_add_program.h"

namespace lapilli {
namespace {

DeviceOptions quiet_options() {
  DeviceOptions options;
  options.pipeline_cache = false;
  return options;
}

std::vector<float> ramp(std::size_t count, float first, float step) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = first + step * static_cast<float>(i);
  return values;
}

/// What scale_add_program computes, in float as the kernel does; all values here are exact in float.
std::vector<float> expected(std::span<const float> x, std::span<const float> w) {
  std::vector<float> y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = 2 * (2 * x[i] + w[i]) + w[i] + 3;
  return y;
}

struct Fixture {
  explicit Fixture(const DeviceOptions& options = quiet_options())
      : device(VulkanDevice::open(options)), constants(std::make_shared<ResidentConstants>(device)) {}

  [[nodiscard]] Executor executor(Program program) const {
    return {device, constants, std::make_shared<const Program>(std::move(program))};
  }

  VulkanDevice device;
  std::shared_ptr<ResidentConstants> constants;
};

TEST(Executor, RunsAProgramAgainAndAgain) {
  const Fixture fixture;
  const std::vector<float> weights = ramp(1000, 1, 0.5F);
  Executor executor = fixture.executor(scale_add_program(fixture.device.traits(), weights));
  for (int round = 0; round < 5; ++round) {
    const std::vector<float> input = ramp(1000, static_cast<float>(round), 0.25F);
    EXPECT_EQ(run_floats(executor, input, 1000), expected(input, weights));
  }
}

TEST(Executor, StagesWhereTheHostCannotReachDeviceMemory) {
  DeviceOptions options = quiet_options();
  options.restrictions.no_host_visible_device_memory = true;
  const Fixture fixture(options);
  EXPECT_FALSE(fixture.device.plan().write_to_device_memory);
  const std::vector<float> weights = ramp(777, -3, 1);
  Executor executor = fixture.executor(scale_add_program(fixture.device.traits(), weights));
  const std::vector<float> input = ramp(777, 5, 2);
  EXPECT_EQ(run_floats(executor, input, 777), expected(input, weights));
}

TEST(Executor, SharesConstantsByContents) {
  const Fixture fixture;
  const Program program = scale_add_program(fixture.device.traits(), ramp(512, 0, 1));
  const Executor first = fixture.executor(program);
  const std::uint64_t bytes = fixture.constants->bytes();
  EXPECT_GE(bytes, 2048U);
  const Executor second = fixture.executor(program);
  EXPECT_EQ(fixture.constants->bytes(), bytes);
  const Executor third = fixture.executor(scale_add_program(fixture.device.traits(), ramp(512, 0, 1)));
  EXPECT_GT(fixture.constants->bytes(), bytes);  // another source, even though its values are the same
}

TEST(Executor, ThreadsGetTheSequentialResult) {
  const Fixture fixture;
  const std::vector<float> weights = ramp(5000, 7, 1);
  const auto program = std::make_shared<const Program>(scale_add_program(fixture.device.traits(), weights));
  std::array<bool, 4> right{};
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < right.size(); ++t) {
      threads.emplace_back([&, t] {
        Executor executor(fixture.device, fixture.constants, program);
        bool all = true;
        for (int round = 0; round < 20; ++round) {
          const std::vector<float> input = ramp(5000, static_cast<float>(100 * t) + static_cast<float>(round), 1);
          all = all && run_floats(executor, input, 5000) == expected(input, weights);
        }
        right[t] = all;
      });
    }
  }
  EXPECT_EQ(right, (std::array<bool, 4>{true, true, true, true}));
}

TEST(Executor, MeasuresTimeOnTheDevice) {
  const Fixture fixture;
  Executor executor = fixture.executor(scale_add_program(fixture.device.traits(), ramp(100000, 0, 1)));
  const std::vector<std::uint64_t> times = executor.run_resident(3);
  ASSERT_EQ(times.size(), 3U);
  for (const std::uint64_t time : times) EXPECT_GT(time, 0U);
  if (fixture.device.plan().timestamps) {
    EXPECT_TRUE(executor.gpu_nanoseconds().has_value());
    EXPECT_EQ(executor.profile().size(), 2U);
  }
}

TEST(Executor, TakesPortsOfNoElements) {
  const Fixture fixture;
  Program program;
  program.segments = {{SegmentKind::input, 0}, {SegmentKind::output, 0}, {SegmentKind::constant, 0}};
  program.constants = {{2, Tensor::allocate(DType::float32, {0, 4}), {DType::float32, {0, 4}, {0, 4}, {4, 1}, 0}}};
  program.inputs = {{"x", DType::float32, {0, 3}, 0}};
  program.outputs = {{"y", DType::int64, {2, 0}, 1}};
  Executor executor = fixture.executor(program);
  EXPECT_TRUE(run_floats(executor, {}, 0).empty());
}

TEST(Executor, ReturnsAnInputOrAConstantAsOutput) {
  const Fixture fixture;
  Program program;
  program.segments = {{SegmentKind::input, 16}, {SegmentKind::constant, 12}};
  const std::array<float, 3> constant{7, 8, 9};
  program.constants = {{1, Tensor::of<float>(DType::float32, {3}, constant), {DType::float32, {3}, {3}, {1}, 0}}};
  program.inputs = {{"x", DType::float32, {4}, 0}};
  program.outputs = {{"y", DType::float32, {4}, 0}, {"z", DType::float32, {3}, 1}};
  Executor executor = fixture.executor(program);
  const std::array<float, 4> x{1, 2, 3, 4};
  std::array<float, 4> y{};
  std::array<float, 3> z{};
  const std::array<std::span<const std::byte>, 1> inputs{std::as_bytes(std::span(x))};
  const std::array<std::span<std::byte>, 2> outputs{std::as_writable_bytes(std::span(y)),
                                                    std::as_writable_bytes(std::span(z))};
  executor.run(inputs, outputs);
  EXPECT_EQ(y, x);
  EXPECT_EQ(z, constant);
}

TEST(Executor, RefusesWrongSizesByName) {
  const Fixture fixture;
  Executor executor = fixture.executor(scale_add_program(fixture.device.traits(), ramp(8, 0, 1)));
  try {
    (void)run_floats(executor, ramp(7, 0, 1), 8);
    FAIL() << "28 bytes were taken for 32";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_STREQ(error.what(), "input x has 32 bytes, but 28 are given");
  }
  EXPECT_EQ(run_floats(executor, ramp(8, 0, 1), 8).size(), 8U);  // and is still of use
}

TEST(Executor, NamesTheNodeThatFails) {
  const Fixture fixture;
  Program program = scale_add_program(fixture.device.traits(), ramp(8, 0, 1));
  program.pipelines[1].kernel = "missing";
  try {
    (void)fixture.executor(program);
    FAIL() << "a missing kernel was accepted";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "second: there is no kernel named missing");
  }
}

TEST(Executor, SaysHowMuchMemoryIsTooMuch) {
  DeviceOptions options = quiet_options();
  options.restrictions.max_allocation = 4096;
  const Fixture fixture(options);
  try {
    (void)fixture.executor(scale_add_program(fixture.device.traits(), ramp(2000, 0, 1)));
    FAIL() << "8000 bytes were allocated";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::limit_exceeded);
    EXPECT_NE(std::string(error.what()).find("4.0 KiB"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace lapilli
