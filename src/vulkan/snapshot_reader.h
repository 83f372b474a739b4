#pragma once

#include "vulkan/device_snapshot.h"
#include "vulkan/hpp.h"

namespace lapilli {

/// Reads the snapshot of a live physical device. Vulkan's failures leave as vk::SystemError.
DeviceSnapshot read_snapshot(const vk::raii::PhysicalDevice& physical_device);

}  // namespace lapilli
