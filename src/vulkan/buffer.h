#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

struct VkBuffer_T;
struct VmaAllocation_T;

namespace lapilli {

struct DeviceState;

enum class MemoryKind : std::uint8_t {
  device,   ///< for kernels only
  upload,   ///< for kernels; the host writes it directly where DevicePlan::write_to_device_memory says so
  output,   ///< for kernels; the host reads it directly where DevicePlan::read_from_device_memory says so
  staging,  ///< host memory that the device copies from
  readback  ///< host memory, cached, that the device copies to
};

/// A range of memory that kernels and copies address. Owned; keeps its device. Moving it is cheap, and a moved-from
/// or default one is empty. Use by the device must have ended before it is destroyed.
class Buffer {
 public:
  Buffer() = default;
  /// Made by VulkanDevice::allocate.
  Buffer(std::shared_ptr<DeviceState> device, std::uint64_t size, MemoryKind kind);
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  ~Buffer();

  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

  /// The bytes as the host sees them; empty when it cannot.
  [[nodiscard]] std::span<std::byte> mapped() const noexcept { return mapped_; }

  /// Makes what the host wrote visible to work submitted after. Bytes offset ... offset + size - 1.
  void flush(std::uint64_t offset, std::uint64_t size) const;

  /// Makes what the device wrote, and handed over with a barrier to the host, visible to the host.
  void invalidate(std::uint64_t offset, std::uint64_t size) const;

  [[nodiscard]] VkBuffer_T* handle() const noexcept { return buffer_; }

 private:
  void release() noexcept;

  std::shared_ptr<DeviceState> device_;
  VkBuffer_T* buffer_ = nullptr;
  VmaAllocation_T* allocation_ = nullptr;
  std::uint64_t size_ = 0;
  std::span<std::byte> mapped_;
};

/// A part of a buffer, which must outlive it.
struct BufferRange {
  const Buffer* buffer = nullptr;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

}  // namespace lapilli
