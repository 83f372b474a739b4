#define VMA_STATIC_VULKAN_FUNCTIONS 0
#define VMA_DYNAMIC_VULKAN_FUNCTIONS 1
#define VMA_IMPLEMENTATION
#include "vulkan/memory.h"

#include <array>
#include <utility>

#include "base/text.h"
#include "vulkan/buffer.h"
#include "vulkan/device_state.h"
#include "vulkan/guard.h"

namespace lapilli {
namespace {

constexpr std::uint64_t dedicated_bytes = std::uint64_t{1} << 20U;
// Only small buffers share blocks, and pinning the memory of large ones takes milliseconds.
constexpr std::uint64_t block_bytes = std::uint64_t{16} << 20U;

VmaAllocationCreateInfo allocation_info(const DevicePlan& plan, MemoryKind kind) {
  VmaAllocationCreateInfo info{};
  const auto mapped = [&](VkMemoryPropertyFlags flags) {
    info.requiredFlags = flags | VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT;
    info.flags = VMA_ALLOCATION_CREATE_MAPPED_BIT;
  };
  info.requiredFlags = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
  switch (kind) {
    case MemoryKind::device: break;
    case MemoryKind::upload:
      if (plan.write_to_device_memory) mapped(VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
      break;
    case MemoryKind::output:
      if (plan.read_from_device_memory) {
        mapped(VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_HOST_CACHED_BIT);
      }
      break;
    case MemoryKind::staging:
      mapped(VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
      info.usage = VMA_MEMORY_USAGE_UNKNOWN;
      break;
    case MemoryKind::readback:
      mapped(0);
      info.preferredFlags = VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
      break;
  }
  return info;
}

}  // namespace

Allocator make_allocator(PFN_vkGetInstanceProcAddr get_instance_proc_addr, const vk::raii::Instance& instance,
                         const vk::raii::PhysicalDevice& physical_device, const vk::raii::Device& device,
                         bool memory_budget) {
  VmaVulkanFunctions functions{};
  functions.vkGetInstanceProcAddr = get_instance_proc_addr;
  functions.vkGetDeviceProcAddr = instance.getDispatcher()->vkGetDeviceProcAddr;
  VmaAllocatorCreateInfo info{};
  if (memory_budget) info.flags = VMA_ALLOCATOR_CREATE_EXT_MEMORY_BUDGET_BIT;
  info.instance = *instance;
  info.physicalDevice = *physical_device;
  info.device = *device;
  info.pVulkanFunctions = &functions;
  info.vulkanApiVersion = VK_API_VERSION_1_2;
  info.preferredLargeHeapBlockSize = block_bytes;
  VmaAllocator allocator = nullptr;
  vk::detail::resultCheck(static_cast<vk::Result>(vmaCreateAllocator(&info, &allocator)), "vmaCreateAllocator");
  return Allocator(allocator);
}

std::uint64_t reserved_bytes(const Allocator& allocator) {
  std::array<VmaBudget, VK_MAX_MEMORY_HEAPS> heaps{};
  vmaGetHeapBudgets(allocator.get(), heaps.data());
  std::uint64_t total = 0;
  for (const VmaBudget& heap : heaps) total += heap.statistics.blockBytes;
  return total;
}

Buffer::Buffer(std::shared_ptr<DeviceState> device, std::uint64_t size, MemoryKind kind)
    : device_(std::move(device)), size_(size) {
  const DevicePlan& plan = device_->plan;
  if (size == 0) fail(ErrorCode::internal, "a buffer of no bytes was asked for");
  if (size > plan.traits.max_allocation) {
    fail(ErrorCode::limit_exceeded, "{} of memory are needed at once, but {} allows {}", byte_text(size),
         plan.traits.name, byte_text(plan.traits.max_allocation));
  }
  VkBufferCreateInfo buffer_info{};
  buffer_info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
  buffer_info.size = size;
  buffer_info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT |
                      VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  VmaAllocationCreateInfo info = allocation_info(plan, kind);
  // Large buffers have memory of their own, so that it goes back to the system with them.
  if (size >= dedicated_bytes) info.flags |= VMA_ALLOCATION_CREATE_DEDICATED_MEMORY_BIT;
  device_->ledger.take(size);
  VmaAllocationInfo allocated{};
  const auto result = static_cast<vk::Result>(
      vmaCreateBuffer(device_->allocator.get(), &buffer_info, &info, &buffer_, &allocation_, &allocated));
  if (result != vk::Result::eSuccess) {
    device_->ledger.give_back(size);
    const bool memory =
        error_code_of(result) == ErrorCode::out_of_memory || result == vk::Result::eErrorFeatureNotPresent;
    fail(memory ? ErrorCode::out_of_memory : error_code_of(result), "{} of memory cannot be had on {} ({})",
         byte_text(size), plan.traits.name, vk::to_string(result));
  }
  if (allocated.pMappedData != nullptr) mapped_ = {static_cast<std::byte*>(allocated.pMappedData), size};
}

Buffer::Buffer(Buffer&& other) noexcept
    : device_(std::move(other.device_)),
      buffer_(std::exchange(other.buffer_, nullptr)),
      allocation_(std::exchange(other.allocation_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      mapped_(std::exchange(other.mapped_, {})) {}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  if (this != &other) {
    release();
    device_ = std::move(other.device_);
    buffer_ = std::exchange(other.buffer_, nullptr);
    allocation_ = std::exchange(other.allocation_, nullptr);
    size_ = std::exchange(other.size_, 0);
    mapped_ = std::exchange(other.mapped_, {});
  }
  return *this;
}

Buffer::~Buffer() { release(); }

void Buffer::release() noexcept {
  if (buffer_ == nullptr) return;
  vmaDestroyBuffer(device_->allocator.get(), buffer_, allocation_);
  device_->ledger.give_back(size_);
}

void Buffer::flush(std::uint64_t offset, std::uint64_t size) const {
  if (size == 0) return;
  guard("flushing host writes", [&] {
    vk::detail::resultCheck(
        static_cast<vk::Result>(vmaFlushAllocation(device_->allocator.get(), allocation_, offset, size)),
        "vmaFlushAllocation");
  });
}

void Buffer::invalidate(std::uint64_t offset, std::uint64_t size) const {
  if (size == 0) return;
  guard("reading device writes", [&] {
    vk::detail::resultCheck(
        static_cast<vk::Result>(vmaInvalidateAllocation(device_->allocator.get(), allocation_, offset, size)),
        "vmaInvalidateAllocation");
  });
}

}  // namespace lapilli
