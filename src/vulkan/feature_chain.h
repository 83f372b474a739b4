#pragma once

#include <span>
#include <string_view>

#include "vulkan/device_snapshot.h"
#include "vulkan/hpp.h"

namespace lapilli {

/// The feature structures of Vulkan that Lapilli reads and enables, linked as one device understands them.
class FeatureChain {
 public:
  /// Links only what a device of this version with these extensions may be asked about.
  explicit FeatureChain(const DeviceSnapshot& device);
  FeatureChain(const FeatureChain&) = delete;
  FeatureChain& operator=(const FeatureChain&) = delete;

  [[nodiscard]] vk::PhysicalDeviceFeatures2& head() noexcept { return core_; }

  /// Names of the features that are true, sorted.
  [[nodiscard]] std::vector<std::string> enabled_names();

  /// Sets the named features; a name that is not known is a defect of the caller: Error (internal).
  void enable(std::span<const std::string> names);

 private:
  struct Field {
    std::string_view name;
    vk::Bool32& (*of)(FeatureChain&);
  };
  static std::span<const Field> fields();

  bool core_1_3_;
  vk::PhysicalDeviceFeatures2 core_;
  vk::PhysicalDeviceVulkan11Features vulkan11_;
  vk::PhysicalDeviceVulkan12Features vulkan12_;
  vk::PhysicalDeviceVulkan13Features vulkan13_;
  vk::PhysicalDeviceSynchronization2Features synchronization2_;
  vk::PhysicalDeviceSubgroupSizeControlFeatures subgroup_size_control_;
  vk::PhysicalDeviceMaintenance4Features maintenance4_;
  vk::PhysicalDeviceShaderIntegerDotProductFeatures integer_dot_product_;
  vk::PhysicalDeviceCooperativeMatrixFeaturesKHR cooperative_matrix_;
  vk::PhysicalDeviceCooperativeMatrix2FeaturesNV cooperative_matrix2_;
};

}  // namespace lapilli
