#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "lapilli/device_options.h"
#include "lapilli/memory_use.h"
#include "program/device_traits.h"
#include "program/program.h"
#include "vulkan/buffer.h"
#include "vulkan/device_plan.h"
#include "vulkan/device_snapshot.h"
#include "vulkan/pipeline.h"

struct VkInstance_T;
struct VkPhysicalDevice_T;
struct VkDevice_T;
struct VkQueue_T;

namespace lapilli {

/// A device that an application already uses and lends to Lapilli; it must outlive all that is made from it.
struct ExternalDevice {
  VkInstance_T* instance = nullptr;
  VkPhysicalDevice_T* physical_device = nullptr;
  VkDevice_T* device = nullptr;
  VkQueue_T* queue = nullptr;  ///< of the family below
  LentDevice enabled;          ///< what the instance and device were created with
  /// Locked around each submission, when the application's threads use the queue too.
  std::shared_ptr<std::mutex> queue_mutex;
};

/// A logical device with its queue, memory and pipelines. A handle: copies are the same device, which lives until the
/// last copy and the last Buffer made from it are gone. All member functions are safe to call from several threads.
class VulkanDevice {
 public:
  /// Opens the device that options.selector asks for. Throws Error (no_device) when there is no Vulkan, no device,
  /// none that matches or none with what Lapilli needs; the text says which and what there is.
  static VulkanDevice open(const DeviceOptions& options);

  /// Uses a device that the application made. Of `options`, the pipeline cache, the restrictions and the loader
  /// count.
  static VulkanDevice wrap(const ExternalDevice& external, const DeviceOptions& options);

  /// All physical devices, in the order of their indices. Throws like open, but an empty list is no error.
  static std::vector<DeviceSnapshot> list(const DeviceOptions& options);

  [[nodiscard]] const DeviceTraits& traits() const noexcept;
  [[nodiscard]] const DevicePlan& plan() const noexcept;
  [[nodiscard]] const DeviceSnapshot& snapshot() const noexcept;

  /// What the user ought to be told about the choice, such as that a CPU driver was taken; often empty.
  [[nodiscard]] const std::string& notice() const noexcept;

  /// Throws Error (limit_exceeded) past DeviceTraits::max_allocation and (out_of_memory) when there is no more, or
  /// past DeviceOptions::memory_budget.
  [[nodiscard]] Buffer allocate(std::uint64_t bytes, MemoryKind kind) const;

  /// The compiled pipeline: made at the first call, shared afterwards.
  [[nodiscard]] std::shared_ptr<const Pipeline> pipeline(const PipelineSpec& spec) const;

  /// The same for many, compiled on all processors, in the order of `specs`. Saves the pipeline cache when any is
  /// new.
  [[nodiscard]] std::vector<std::shared_ptr<const Pipeline>> pipelines(std::span<const PipelineSpec> specs) const;

  /// Writes the pipeline cache. Throws Error (input_output) that names the file and the reason when it cannot be
  /// written, or is not kept.
  void write_pipeline_cache() const;

  /// Whether it has been made already.
  [[nodiscard]] bool has_pipeline(const PipelineSpec& spec) const;

  /// Of all buffers of this device.
  [[nodiscard]] MemoryUse memory() const;

  /// DeviceOptions::validation.
  [[nodiscard]] bool validation() const noexcept;

  /// What the validation layer has said so far: warnings and errors. Empty when DeviceOptions::validation was off.
  [[nodiscard]] std::vector<std::string> validation_messages() const;

  /// What another user of this very device passes to wrap. This device must outlive that use.
  [[nodiscard]] ExternalDevice lend() const;

  /// For the other parts of this folder.
  [[nodiscard]] const std::shared_ptr<DeviceState>& state() const noexcept { return state_; }

 private:
  explicit VulkanDevice(std::shared_ptr<DeviceState> state) : state_(std::move(state)) {}

  std::shared_ptr<DeviceState> state_;
};

}  // namespace lapilli
