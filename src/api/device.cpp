#include "lapilli/device.h"

#include <format>

#include "base/rethrow.h"
#include "vulkan/device.h"
#include "vulkan/device_plan.h"

namespace lapilli {
namespace {

DeviceDescription describe(const DeviceSnapshot& snapshot, std::size_t index, const DeviceOptions& options) {
  DeviceDescription result;
  result.index = index;
  result.name = snapshot.name;
  result.type = to_string(snapshot.type);
  result.driver = std::format("{} {}", snapshot.driver_name, snapshot.driver_info);
  result.vulkan_version = version_text(snapshot.api_version);
  result.uuid = snapshot.device_uuid;
  for (const MemoryHeap& heap : snapshot.memory_heaps) {
    if (heap.device_local) result.memory_bytes += heap.size;
  }
  try {
    const DevicePlan plan = make_device_plan(snapshot, options.restrictions);
    result.float16 = plan.traits.storage_16bit;
    result.cooperative_matrix = plan.traits.cooperative_matrix;
  } catch (const Error& error) {
    result.problem = error.what();
  }
  return result;
}

}  // namespace

Device Device::open(const DeviceOptions& options) try {
  return Device(std::make_shared<const VulkanDevice>(VulkanDevice::open(options)));
} catch (...) {
  rethrow_as_error();
}

std::vector<DeviceDescription> Device::list(const DeviceOptions& options) try {
  std::vector<DeviceDescription> result;
  for (const DeviceSnapshot& snapshot : VulkanDevice::list(options))
    result.push_back(describe(snapshot, result.size(), options));
  return result;
} catch (...) {
  rethrow_as_error();
}

const std::string& Device::name() const noexcept { return implementation_->snapshot().name; }
const std::string& Device::notice() const noexcept { return implementation_->notice(); }
MemoryUse Device::memory() const { return implementation_->memory(); }
std::vector<std::string> Device::validation_messages() const try {
  return implementation_->validation_messages();
} catch (...) {
  rethrow_as_error();
}

}  // namespace lapilli
