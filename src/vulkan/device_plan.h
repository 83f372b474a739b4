#pragma once

#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lapilli/device_options.h"
#include "program/device_traits.h"
#include "vulkan/device_snapshot.h"

namespace lapilli {

/// How Lapilli uses a device: everything needed to make the logical device, and what the planner may count on.
struct DevicePlan {
  std::uint32_t queue_family = 0;
  bool timestamps = false;               ///< the queue family can measure time on the device
  std::vector<std::string> extensions;   ///< to enable
  std::vector<std::string> features;     ///< to enable, by Vulkan's names
  bool write_to_device_memory = false;   ///< the host writes inputs and weights straight to where kernels read them
  bool read_from_device_memory = false;  ///< device memory is cached by the host: outputs are read where they lie
  std::vector<std::string> defects;      ///< names of the known driver defects that the plan works around
  DeviceTraits traits;
};

/// What the application that lends its device has enabled; nullptr stands for a device of our own.
struct LentDevice {
  std::uint32_t queue_family = 0;
  std::uint32_t api_version = 0;  ///< that the instance was created for, as Vulkan packs it
  std::vector<std::string> extensions;
  std::vector<std::string> features;  ///< by Vulkan's names, such as "timelineSemaphore"
};

/// Decides how to use the device. Pure: the same snapshot gives the same plan.
/// Throws Error (no_device) that names the device and what it lacks.
DevicePlan make_device_plan(const DeviceSnapshot& snapshot, const DeviceRestrictions& restrictions,
                            const LentDevice* lent = nullptr);

/// The work (Dispatch::work) that the device surely does in this time, by what is known of it. 0 for no time.
std::uint64_t work_of(std::chrono::milliseconds time, const DeviceTraits& traits);

}  // namespace lapilli
