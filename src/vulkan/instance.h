#pragma once

#include <memory>
#include <vector>

#include "lapilli/device_options.h"
#include "vulkan/device_snapshot.h"
#include "vulkan/hpp.h"
#include "vulkan/loader.h"
#include "vulkan/validation_log.h"

namespace lapilli {

/// A Vulkan instance, made here or lent by the application, with the physical devices behind it.
class Instance {
 public:
  /// The version of Vulkan that is asked for; what is newer on a device is not used.
  static constexpr std::uint32_t api_version = VK_API_VERSION_1_3;

  /// Throws Error (no_device) when there is no loader or no driver, or when validation is asked for and not
  /// installed.
  explicit Instance(const DeviceOptions& options);

  /// Uses `lent`, which stays the application's.
  Instance(PFN_vkGetInstanceProcAddr entry, VkInstance lent);

  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;
  ~Instance();

  [[nodiscard]] const vk::raii::Instance& handle() const noexcept { return instance_; }
  [[nodiscard]] std::vector<vk::raii::PhysicalDevice> physical_devices() const;
  [[nodiscard]] const ValidationLog& log() const noexcept { return log_; }
  [[nodiscard]] PFN_vkGetInstanceProcAddr get_instance_proc_addr() const noexcept { return get_instance_proc_addr_; }

 private:
  PFN_vkGetInstanceProcAddr get_instance_proc_addr_;
  bool lent_ = false;
  ValidationLog log_;
  vk::raii::Context context_;
  vk::raii::Instance instance_ = nullptr;
  vk::raii::DebugUtilsMessengerEXT messenger_ = nullptr;
};

}  // namespace lapilli
