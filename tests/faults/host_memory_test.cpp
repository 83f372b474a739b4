// Each allocation of host memory fails once, on the way from a model file to a result: an Error, nothing leaks, and
// the next attempt works.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <format>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "faults/inputs.h"
#include "lapilli/lapilli.h"

namespace {

// Drivers are built to end the process where memory is missing, so what they ask for is granted while models run.
enum class Failing : std::uint8_t { nothing, own_calls, all_calls };

std::atomic<Failing> failing{Failing::nothing};
std::atomic<std::int64_t> calls_left{0}, live{0};  // live: blocks that may fail

// In front of each block, in room that keeps its alignment, stands whether it counts as live.
std::size_t room_for(std::size_t alignment) { return std::max(alignment, alignof(std::max_align_t)); }

void* take(std::size_t bytes, std::size_t alignment, bool may_fail) {
  if (may_fail && calls_left.fetch_sub(1) == 1) throw std::bad_alloc();
  const std::size_t room = room_for(alignment);
  auto* start = static_cast<char*>(std::aligned_alloc(room, (bytes + 2 * room - 1) / room * room));
  if (start == nullptr) throw std::bad_alloc();
  start[room - 1] = may_fail ? 1 : 0;
  live += may_fail ? 1 : 0;
  return start + room;
}

// Inlined, it looks to GCC as if it read in front of the block.
[[gnu::noinline]] void give_back(void* memory, std::size_t alignment = 1) noexcept {
  if (memory == nullptr) return;
  auto* block = static_cast<char*>(memory);
  live -= block[-1];
  std::free(block - room_for(alignment));  // NOLINT(cppcoreguidelines-no-malloc): this is operator delete
}

}  // namespace

void* operator new(std::size_t bytes) { return take(bytes, 1, failing == Failing::all_calls); }
void* operator new[](std::size_t bytes) { return take(bytes, 1, failing == Failing::all_calls); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return take(bytes, static_cast<std::size_t>(alignment), failing == Failing::all_calls);
}
void operator delete(void* memory) noexcept { give_back(memory); }
void operator delete[](void* memory) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t) noexcept { give_back(memory); }
void operator delete[](void* memory, std::size_t) noexcept { give_back(memory); }
void operator delete(void* memory, std::align_val_t alignment) noexcept {
  give_back(memory, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory, std::size_t, std::align_val_t alignment) noexcept {
  give_back(memory, static_cast<std::size_t>(alignment));
}

// The linker leads calls of operator new from our own objects here (CMakeLists.txt).
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): the linker's names
extern "C" {
void* __wrap__Znwm(std::size_t bytes) { return take(bytes, 1, failing != Failing::nothing); }
void* __wrap__Znam(std::size_t bytes) { return take(bytes, 1, failing != Failing::nothing); }
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

namespace lapilli {
namespace {

// Lets the first, the second, ... allocation of `action` fail, until it needs no more of them; past the first
// `all_until` only samples. Calls `check` after each.
template <class Action, class Check>
void fail_each(Failing calls, std::int64_t all_until, const Action& action, const Check& check) {
  std::int64_t number = 0;
  for (std::int64_t step = 1;; number += step) {
    SCOPED_TRACE(number);
    calls_left = number + 1;
    failing = calls;
    try {
      action();
      failing = Failing::nothing;
    } catch (const Error& error) {
      failing = Failing::nothing;
      EXPECT_EQ(error.code(), ErrorCode::out_of_memory) << error.what();
    } catch (const std::exception& error) {
      failing = Failing::nothing;
      ADD_FAILURE() << "no Error: " << error.what();
    }
    const bool ended = calls_left > 0;
    check();
    if (ended) break;
    if (number >= all_until) step = number / 50;
  }
  EXPECT_GT(number, 50);
}

class HostMemory : public testing::TestWithParam<const char*> {
 protected:
  static Device open() {
    DeviceOptions options;
    options.selector = "llvmpipe";
    options.pipeline_cache = false;
    return Device::open(options);
  }

  [[nodiscard]] Model load() const { return Model::load(path_, device_); }

  static std::vector<std::byte> bytes_of(const std::vector<Tensor>& tensors) {
    std::vector<std::byte> bytes;
    for (const Tensor& tensor : tensors) bytes.insert(bytes.end(), tensor.bytes().begin(), tensor.bytes().end());
    return bytes;
  }

  std::filesystem::path path_ = std::filesystem::path(FAULT_TEST_DATA) / GetParam() / "model.onnx";
  Device device_ = open();
};

TEST_P(HostMemory, EveryAllocationOfReadingAndPlanning) {
  const auto plan = [&] {
    const Model model = load();
    (void)model.outputs();
    if (!model.runs_in_parts()) (void)model.plan();
  };
  plan();  // makes what is made once in a process
  const std::int64_t before = live;
  fail_each(Failing::all_calls, 3000, plan, [&] { EXPECT_EQ(live, before); });
  plan();
}

TEST_P(HostMemory, EveryAllocationOfRuns) {
  const Model model = load();
  const std::vector<Tensor> inputs = inputs_of(model);
  const auto run = [&] {
    Context context(model);
    (void)context.run(inputs);
    (void)context.last_plan();
    (void)context.profile();
  };
  run();  // makes what model and device keep
  const std::int64_t before = live;
  const std::uint64_t in_use = device_.memory().in_use;
  fail_each(Failing::own_calls, 300, run, [&] {
    EXPECT_EQ(live, before);
    EXPECT_EQ(device_.memory().in_use, in_use);
  });
}

TEST_P(HostMemory, AContextGoesOnAfterEveryFailedAllocation) {
  const Model model = load();
  const std::vector<Tensor> inputs = inputs_of(model);
  Context context(model);
  const std::vector<std::byte> right = bytes_of(context.run(inputs));
  const auto run = [&] {
    context.trim();
    (void)context.run(inputs);
  };
  fail_each(Failing::own_calls, 300, run, [&] { EXPECT_EQ(bytes_of(context.run(inputs)), right); });
}

INSTANTIATE_TEST_SUITE_P(Suite, HostMemory,
                         testing::Values("node/test_conv_with_strides_padding", "node/test_lstm_defaults",
                                         "node/test_slice", "node/test_nonzero_example",
                                         "pytorch-converted/test_Conv2d_strided"),
                         [](const auto& parameter) {
                           std::string name = parameter.param;
                           std::ranges::replace(name, '/', '_');
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

// Sizes that pass all checks of arithmetic and are past all memory.
TEST(HostMemorySizes, PastAllMemoryAreErrors) {
  constexpr std::array<std::pair<DType, std::int64_t>, 4> cases{{{DType::uint8, std::int64_t{1} << 50U},
                                                                 {DType::float32, std::int64_t{1} << 57U},
                                                                 {DType::string, std::int64_t{1} << 50U},
                                                                 {DType::string, std::int64_t{1} << 59U}}};
  for (const auto& [dtype, elements] : cases) {
    try {
      (void)Tensor::allocate(dtype, {elements});
      ADD_FAILURE() << to_string(dtype) << " " << elements;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::out_of_memory) << error.what();
      const std::string wanted = dtype == DType::string ? "there is not enough host memory"
                                                        : std::format("{}[{}] takes ", to_string(dtype), elements);
      EXPECT_TRUE(std::string_view(error.what()).starts_with(wanted)) << error.what();
    }
  }
}

}  // namespace
}  // namespace lapilli
