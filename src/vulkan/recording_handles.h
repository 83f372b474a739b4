#pragma once

#include <memory>
#include <span>
#include <vector>

#include "vulkan/device_state.h"
#include "vulkan/hpp.h"
#include "vulkan/recording.h"

namespace lapilli {

struct Recording::Handles {
  [[nodiscard]] vk::DescriptorSet make_set(const Pipeline& pipeline, std::span<const BufferRange> bindings) const;
  void begin();
  void pipeline_barrier(const vk::DependencyInfo& dependency) const;

  std::shared_ptr<DeviceState> device;
  vk::raii::CommandPool command_pool = nullptr;
  std::vector<vk::raii::CommandBuffer> finished;  ///< submitted before `commands`, in this order
  vk::raii::CommandBuffer commands = nullptr;
  vk::raii::DescriptorPool descriptor_pool = nullptr;
  vk::raii::QueryPool query_pool = nullptr;
  std::uint32_t timestamps = 0;  ///< room in query_pool
  std::uint32_t written = 0;
};

}  // namespace lapilli
