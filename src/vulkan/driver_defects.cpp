#include "vulkan/driver_defects.h"

#include <algorithm>
#include <array>

namespace lapilli {
namespace {

constexpr std::uint32_t vendor_arm = 0x13B5;
constexpr std::uint32_t vendor_qualcomm = 0x5143;

constexpr std::array<std::string_view, 1> float16_arithmetic{"shaderFloat16"};

// Mali T760, T860, T880, G51, G52, G71, G72 and Adreno 630, 640, 650, by device id.
constexpr std::array<std::uint32_t, 7> mali_without_float16{0x07500001, 0x08602000, 0x08800020, 0x70901010,
                                                            0x74021000, 0x60A00002, 0x62210001};
constexpr std::array<std::uint32_t, 3> adreno_without_float16{0x06030001, 0x06040001, 0x06050002};

constexpr std::array defects{
    DriverDefect{
        "mali_implicit_float16", "half arithmetic is done in another precision than asked for (ncnn, gpu.cpp)",
        [](const DeviceSnapshot& device) {
          return device.vendor_id == vendor_arm && std::ranges::contains(mali_without_float16, device.device_id);
        },
        float16_arithmetic},
    DriverDefect{"adreno_implicit_float16",
                 "half arithmetic is done in another precision than asked for (ncnn, gpu.cpp)",
                 [](const DeviceSnapshot& device) {
                   return device.vendor_id == vendor_qualcomm &&
                          std::ranges::contains(adreno_without_float16, device.device_id);
                 },
                 float16_arithmetic},
};

}  // namespace

std::vector<const DriverDefect*> driver_defects(const DeviceSnapshot& snapshot) {
  std::vector<const DriverDefect*> found;
  for (const DriverDefect& defect : defects) {
    if (defect.concerns(snapshot)) found.push_back(&defect);
  }
  return found;
}

}  // namespace lapilli
