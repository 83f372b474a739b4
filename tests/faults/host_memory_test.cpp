// Each allocation of host memory fails once, on the way from a model file to a Program: an Error, and nothing leaks.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <format>
#include <fstream>
#include <new>

#include "lapilli/error.h"
#include "support/plan_anything.h"

namespace {

std::atomic<bool> armed{false};
std::atomic<std::int64_t> calls_left{0}, live{0};

void* take(std::size_t bytes, std::size_t alignment) {
  if (armed && calls_left.fetch_sub(1) == 1) throw std::bad_alloc();
  void* memory =
      std::aligned_alloc(alignment, (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  ++live;
  return memory;
}

void give_back(void* memory) noexcept {
  if (memory != nullptr) --live;
  std::free(memory);  // NOLINT(cppcoreguidelines-no-malloc): this is operator delete
}

}  // namespace

void* operator new(std::size_t bytes) { return take(bytes, alignof(std::max_align_t)); }
void* operator new[](std::size_t bytes) { return take(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return take(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { give_back(memory); }
void operator delete[](void* memory) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t) noexcept { give_back(memory); }
void operator delete[](void* memory, std::size_t) noexcept { give_back(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { give_back(memory); }

namespace lapilli {
namespace {

DeviceTraits traits_of_a_device() {
  DeviceTraits traits;
  traits.storage_8bit = traits.storage_16bit = traits.int64 = traits.float64 = true;
  traits.max_storage_buffers = 16;
  return traits;
}

class HostMemory : public testing::TestWithParam<const char*> {};

TEST_P(HostMemory, EveryAllocationFailsOnce) {
  const DeviceTraits traits = traits_of_a_device();
  std::ifstream file(std::filesystem::path(FAULT_TEST_DATA) / GetParam() / "model.onnx", std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto plan = [&] { return plan_anything(std::as_bytes(std::span(bytes)), traits, 2, true); };
  ASSERT_EQ(plan(), Reached::planned);  // and makes what is made once in a process
  std::int64_t number = 0, step = 1;
  for (bool ended = false; !ended; number += step) {
    const std::int64_t before = live;
    calls_left = number + 1;
    armed = true;
    try {
      const Reached reached = plan();
      armed = false;
      ended = calls_left > 0;
      // What could not be had is an error or was not needed.
      EXPECT_TRUE(!ended || reached == Reached::planned) << number;
    } catch (const std::bad_alloc&) {
      armed = false;
    } catch (const std::exception& error) {
      armed = false;
      ADD_FAILURE() << number << ": " << error.what();
    }
    EXPECT_EQ(live, before) << "allocation " << number;
    if (number >= 3000) step = number / 100;  // the rest by samples
  }
  EXPECT_GT(number, 100);
  EXPECT_EQ(plan(), Reached::planned);
}

INSTANTIATE_TEST_SUITE_P(Suite, HostMemory,
                         testing::Values("node/test_conv_with_strides_padding", "node/test_lstm_defaults",
                                         "node/test_slice", "pytorch-converted/test_Conv2d_strided"),
                         [](const auto& parameter) {
                           std::string name = parameter.param;
                           std::ranges::replace(name, '/', '_');
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace lapilli
