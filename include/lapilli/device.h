#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lapilli/device_options.h"
#include "lapilli/error.h"
#include "lapilli/memory_use.h"

namespace lapilli {

class VulkanDevice;

/// A device that Vulkan offers, as a list shows it.
struct DeviceDescription {
  std::size_t index = 0;  ///< selects it in DeviceOptions::selector, as its name and its UUID do
  std::string name;
  std::string type;    ///< "discrete", "integrated", "virtual", "cpu" or "other"
  std::string driver;  ///< name and version
  std::string vulkan_version;
  std::string uuid;
  std::uint64_t memory_bytes = 0;  ///< device-local
  bool float16 = false;            ///< 16-bit storage: half precision works
  bool cooperative_matrix = false;
  std::string problem;  ///< why Lapilli cannot use it; empty when it can
};

/// A GPU, or the CPU driver that stands in for one. A handle: copies are the same device. Thread-safe.
class Device {
 public:
  /// Opens the device that options.selector asks for, the best one when it is empty.
  /// Throws Error (no_device) that says what there is and what is missing.
  static Device open(const DeviceOptions& options = {});

  /// All devices that the Vulkan loader finds. Throws Error (no_device) when there is no Vulkan.
  static std::vector<DeviceDescription> list(const DeviceOptions& options = {});

  [[nodiscard]] const std::string& name() const noexcept;
  /// What a user ought to be told, such as that a CPU driver was taken because there is no GPU; often empty.
  [[nodiscard]] const std::string& notice() const noexcept;
  /// What Lapilli holds of its memory.
  [[nodiscard]] MemoryUse memory() const;
  /// What the validation layer has said; empty unless DeviceOptions::validation.
  [[nodiscard]] std::vector<std::string> validation_messages() const;

  /// The device as the rest of the library has it.
  [[nodiscard]] const VulkanDevice& implementation() const noexcept { return *implementation_; }

 private:
  explicit Device(std::shared_ptr<const VulkanDevice> implementation) : implementation_(std::move(implementation)) {}
  std::shared_ptr<const VulkanDevice> implementation_;
};

}  // namespace lapilli
