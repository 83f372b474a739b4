#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "lapilli/device_options.h"
#include "vulkan/device_snapshot.h"

namespace lapilli {

struct DeviceChoice {
  std::size_t index = 0;
  std::string notice;  ///< what the user ought to be told, such as that a CPU driver is used; often empty
};

/// Picks the device that options.selector (device_options.h) asks for. An empty selector takes the best that
/// make_device_plan accepts: a discrete GPU before an integrated one, before a virtual one, before a CPU driver; the
/// one with more memory first among equals. Pure. Throws Error (no_device) that lists what there is.
DeviceChoice choose_device(std::span<const DeviceSnapshot> devices, const DeviceOptions& options);

}  // namespace lapilli
