#pragma once

#include <atomic>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "vulkan/device_plan.h"
#include "vulkan/device_snapshot.h"
#include "vulkan/hpp.h"
#include "vulkan/instance.h"
#include "vulkan/memory.h"
#include "vulkan/memory_ledger.h"
#include "vulkan/pipeline.h"
#include "vulkan/pipeline_cache_file.h"

namespace lapilli {

/// What all that is made from a device keeps alive. Members are destroyed from the last to the first.
struct DeviceState {
  DeviceState() = default;
  DeviceState(const DeviceState&) = delete;
  DeviceState& operator=(const DeviceState&) = delete;
  ~DeviceState();

  /// Opens `folder`'s pipeline cache for this device; an empty folder leaves only the one in memory.
  void open_pipeline_cache(const std::filesystem::path& folder);
  /// Throws Error when it cannot be written, or is not to be kept.
  void write_pipeline_cache() const;
  /// The same where there is something new, and without a word, since it costs the next process some time only.
  void save_pipeline_cache() const noexcept;

  std::unique_ptr<Instance> instance;
  DeviceSnapshot snapshot;
  DevicePlan plan;
  std::string notice;
  bool lent = false;
  bool validation = false;
  vk::raii::PhysicalDevice physical_device = nullptr;
  vk::raii::Device device = nullptr;
  Allocator allocator;
  MemoryLedger ledger;

  vk::Queue queue;
  std::shared_ptr<std::mutex> queue_mutex =
      std::make_shared<std::mutex>();  ///< Vulkan's queues take one thread at a time

  PipelineCacheKey cache_key;
  std::filesystem::path cache_path;  ///< empty: not kept
  vk::raii::PipelineCache pipeline_cache = nullptr;
  mutable std::atomic<bool> cache_is_newer = false;  ///< than its file

  std::mutex pipelines_mutex;
  std::map<PipelineSpec, std::shared_ptr<const Pipeline>> pipelines;
};

}  // namespace lapilli
