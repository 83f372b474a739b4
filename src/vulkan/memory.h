#pragma once

#include <cstdint>
#include <memory>

#include "vulkan/hpp.h"
// After hpp.h, whose settings it needs.
#include <vk_mem_alloc.h>

namespace lapilli {

struct AllocatorDeleter {
  void operator()(VmaAllocator allocator) const noexcept { vmaDestroyAllocator(allocator); }
};

using Allocator = std::unique_ptr<VmaAllocator_T, AllocatorDeleter>;

/// The allocator of a device's memory. Failures leave as vk::SystemError.
Allocator make_allocator(PFN_vkGetInstanceProcAddr get_instance_proc_addr, const vk::raii::Instance& instance,
                         const vk::raii::PhysicalDevice& physical_device, const vk::raii::Device& device,
                         bool memory_budget);

/// What the allocator holds of the driver's memory, in use or not.
std::uint64_t reserved_bytes(const Allocator& allocator);

}  // namespace lapilli
