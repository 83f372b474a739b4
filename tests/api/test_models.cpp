#include "api/test_models.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <utility>

namespace lapilli::testing {
namespace {

constexpr std::int64_t width = 16;

template <class Weight>
std::vector<float> product(const std::vector<float>& left, const Weight& weight) {
  std::vector<float> result(left.size());
  for (std::size_t i = 0; i < result.size(); ++i) {
    const auto column = static_cast<std::int64_t>(i) % width;
    const std::size_t row_start = i - static_cast<std::size_t>(column);
    for (std::int64_t k = 0; k < width; ++k) {
      result[i] += left[row_start + static_cast<std::size_t>(k)] * static_cast<float>(weight(k, column));
    }
  }
  return result;
}

}  // namespace

DeviceOptions device_options() {
  const char* chosen = std::getenv("LAPILLI_TEST_DEVICE");
  DeviceOptions options;
  options.selector = chosen != nullptr ? chosen : "llvmpipe";
  options.validation = true;
  options.pipeline_cache = false;
  return options;
}

Device open_device() { return Device::open(device_options()); }

Tensor layers_input(std::int64_t rows, std::int64_t seed) {
  Tensor tensor = Tensor::allocate(DType::float32, {rows, width});
  std::int64_t next = seed;
  for (float& element : tensor.mutable_elements<float>()) element = static_cast<float>((next++ * 7 + seed) % 11 - 5);
  return tensor;
}

LayersValues layers_values(const Tensor& x) {
  LayersValues values;
  values.hidden = product(floats(x), [](std::int64_t i, std::int64_t j) { return (i + 2 * j) % 5 - 2; });
  for (float& element : values.hidden) element = std::max(element, 0.0F);
  values.y = product(values.hidden, [](std::int64_t i, std::int64_t j) { return (3 * i + j) % 7 - 3; });
  return values;
}

std::vector<float> floats(const Tensor& tensor) {
  const auto elements = tensor.elements<float>();
  return {elements.begin(), elements.end()};
}

Tensor patterned(std::vector<std::int64_t> shape, std::uint32_t seed) {
  Tensor tensor = Tensor::allocate(DType::float32, std::move(shape));
  std::uint32_t state = seed;
  for (float& element : tensor.mutable_elements<float>()) {
    state = state * 1664525U + 1013904223U;
    element = static_cast<float>(static_cast<int>(state >> 24U) - 128) / 128;
  }
  return tensor;
}

std::uint64_t resident_kib(const std::string& kind) {
  std::ifstream status("/proc/self/status");
  std::string name;
  std::uint64_t value = 0;
  while (status >> name) {
    if (name == kind + ":" && status >> value) return value;
  }
  return 0;
}

}  // namespace lapilli::testing
