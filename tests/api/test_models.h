#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lapilli/device.h"
#include "lapilli/tensor.h"

namespace lapilli::testing {

// make_data.py says what they compute.
inline const char* const rows_model = API_TEST_DATA "/rows.onnx";
inline const char* const found_model = API_TEST_DATA "/found.onnx";
inline const char* const layers_model = API_TEST_DATA "/layers.onnx";
inline const char* const shaped_model = API_TEST_DATA "/shaped.onnx";
inline const char* const huge_model = API_TEST_DATA "/huge.onnx";
inline const char* const network_model = API_TEST_DATA "/network.onnx";

/// LAPILLI_TEST_DEVICE, or llvmpipe; validation on, no pipeline cache.
DeviceOptions device_options();
Device open_device();

/// [rows, 16] of small whole numbers, others for each seed.
Tensor layers_input(std::int64_t rows, std::int64_t seed = 0);
struct LayersValues {
  std::vector<float> hidden, y;
};
/// What layers.onnx computes; whole numbers, so that floats have them exactly.
LayersValues layers_values(const Tensor& x);

std::vector<float> floats(const Tensor& tensor);

/// float32 from -1 to 1, some of them 0, others for each seed.
Tensor patterned(std::vector<std::int64_t> shape, std::uint32_t seed);

/// KiB of this process, by a name in /proc/self/status such as "VmRSS".
std::uint64_t resident_kib(const std::string& kind);

}  // namespace lapilli::testing
