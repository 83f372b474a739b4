#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "vulkan/device_snapshot.h"

namespace lapilli {

/// A known fault of a driver: which devices have it, and the features that are not used because of it.
struct DriverDefect {
  std::string_view name;
  std::string_view reason;
  bool (*concerns)(const DeviceSnapshot&);
  std::span<const std::string_view> unusable_features;
};

/// The defects of this device's driver.
std::vector<const DriverDefect*> driver_defects(const DeviceSnapshot& snapshot);

}  // namespace lapilli
