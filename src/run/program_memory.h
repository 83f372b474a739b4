#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "program/program.h"
#include "run/resident_constants.h"
#include "vulkan/buffer.h"
#include "vulkan/device.h"

namespace lapilli {

/// Where a port's bytes meet the host: in the segment itself where the host reaches it, else in a staging buffer.
struct PortMemory {
  std::uint64_t bytes = 0;
  BufferRange device;  ///< what the kernels use; empty when bytes is 0
  BufferRange host;    ///< what the host uses; the same range when it reaches that
  [[nodiscard]] bool copied() const noexcept { return bytes != 0 && host.buffer != device.buffer; }
  [[nodiscard]] std::span<std::byte> mapped() const {
    return bytes == 0 ? std::span<std::byte>() : host.buffer->mapped().subspan(host.offset, bytes);
  }
};

/// The device memory that one execution of a Program uses: arena, inputs, outputs, parameters and the staging for
/// them. Constants are only referred to.
class ProgramMemory {
 public:
  ProgramMemory(const VulkanDevice& device, ResidentConstants& constants, const Program& program);

  /// The whole of a segment; an empty range for one of no bytes.
  [[nodiscard]] const BufferRange& segment(std::uint32_t index) const { return segments_.at(index); }
  [[nodiscard]] const std::vector<PortMemory>& inputs() const noexcept { return inputs_; }
  [[nodiscard]] const std::vector<PortMemory>& outputs() const noexcept { return outputs_; }

  /// Device memory taken, without constants and staging.
  [[nodiscard]] std::uint64_t device_bytes() const noexcept { return device_bytes_; }

 private:
  void allocate_segments(const VulkanDevice& device, const Program& program);
  void upload_parameters(const VulkanDevice& device, const Program& program);
  [[nodiscard]] std::vector<PortMemory> make_ports(const VulkanDevice& device, const Program& program,
                                                   const std::vector<Port>& ports, MemoryKind staging);

  std::vector<std::unique_ptr<Buffer>> buffers_;  // ranges point to them
  std::vector<BufferRange> segments_;
  std::vector<PortMemory> inputs_, outputs_;
  std::uint64_t device_bytes_ = 0;
};

}  // namespace lapilli
