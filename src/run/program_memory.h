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

/// What all runs of a Program on a device use, one after the other: arena, parameters and constants.
class ProgramMemory {
 public:
  ProgramMemory(const VulkanDevice& device, ResidentConstants& constants, const Program& program);

  /// A range for each segment, empty for inputs, outputs and what has no bytes.
  [[nodiscard]] const std::vector<BufferRange>& segments() const noexcept { return segments_; }
  /// Device memory taken, without constants.
  [[nodiscard]] std::uint64_t device_bytes() const noexcept { return device_bytes_; }

 private:
  std::vector<std::unique_ptr<Buffer>> buffers_;          // ranges point to them,
  std::vector<std::shared_ptr<const Buffer>> constants_;  // and to these
  std::vector<BufferRange> segments_;
  std::uint64_t device_bytes_ = 0;
};

/// What one run has for itself, so that its results can be read while the next one runs: inputs, outputs, and the
/// staging for them. The ProgramMemory must outlive it.
class RunMemory {
 public:
  RunMemory(const VulkanDevice& device, const Program& program, const ProgramMemory& shared);

  /// The whole of a segment; an empty range for one of no bytes.
  [[nodiscard]] const BufferRange& segment(std::uint32_t index) const { return segments_.at(index); }
  [[nodiscard]] const std::vector<PortMemory>& inputs() const noexcept { return inputs_; }
  [[nodiscard]] const std::vector<PortMemory>& outputs() const noexcept { return outputs_; }
  /// Device memory taken, staging included.
  [[nodiscard]] std::uint64_t device_bytes() const noexcept { return device_bytes_; }

 private:
  [[nodiscard]] std::vector<PortMemory> make_ports(const VulkanDevice& device, const Program& program,
                                                   const std::vector<Port>& ports, MemoryKind staging);

  std::vector<std::unique_ptr<Buffer>> buffers_;  // ranges point to them
  std::vector<BufferRange> segments_;
  std::vector<PortMemory> inputs_, outputs_;
  std::uint64_t device_bytes_ = 0;
};

}  // namespace lapilli
