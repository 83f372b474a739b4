#include "run/program_memory.h"

#include <algorithm>
#include <cstring>
#include <format>
#include <utility>

#include "base/checked.h"
#include "base/packed.h"
#include "base/text.h"
#include "run/upload.h"

namespace lapilli {
namespace {

constexpr std::uint64_t port_alignment = 64;

MemoryKind memory_kind(SegmentKind kind) {
  switch (kind) {
    case SegmentKind::input:
    case SegmentKind::parameters: return MemoryKind::upload;
    case SegmentKind::output: return MemoryKind::output;
    default: return MemoryKind::device;
  }
}

// What lies in a segment, for errors.
std::string purpose(const Program& program, std::size_t segment) {
  const auto port_text = [&](std::string_view role, const std::vector<Port>& ports) {
    const auto port = std::ranges::find(ports, segment, &Port::segment);
    return port == ports.end() ? std::string(role)
                               : std::format("{} '{}' {}", role, port->name, shape_text(port->shape));
  };
  switch (program.segments[segment].kind) {
    case SegmentKind::arena: return "intermediate results";
    case SegmentKind::constant: return "weights";
    case SegmentKind::input: return port_text("input", program.inputs);
    case SegmentKind::output: return port_text("output", program.outputs);
    case SegmentKind::parameters: return "parameters";
  }
  return {};
}

PortMemory port_range(const Program& program, const std::vector<BufferRange>& segments, const Port& port) {
  const std::uint64_t bytes = device_bytes(port.dtype, port.shape);
  if (port.segment >= segments.size() || bytes > program.segments[port.segment].size) {
    fail(ErrorCode::internal, "{} {} takes {} bytes, more than its segment has", port.name, shape_text(port.shape),
         bytes);
  }
  if (bytes == 0) return {};
  return {bytes, {segments[port.segment].buffer, segments[port.segment].offset, bytes}, {}};
}

bool is_port(SegmentKind kind) { return kind == SegmentKind::input || kind == SegmentKind::output; }

// Allocates the segments that `wanted` says; returns the bytes taken.
template <class Wanted>
std::uint64_t allocate_segments(const VulkanDevice& device, const Program& program, const Wanted& wanted,
                                std::vector<std::unique_ptr<Buffer>>& buffers, std::vector<BufferRange>& ranges) {
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const Segment& segment = program.segments[i];
    if (segment.size == 0 || !wanted(segment.kind)) continue;
    const std::uint64_t size = align_up(segment.size, std::uint64_t{16});
    with_context(purpose(program, i), [&] {
      buffers.push_back(std::make_unique<Buffer>(device.allocate(size, memory_kind(segment.kind))));
    });
    ranges[i] = {buffers.back().get(), 0, segment.size};
    total = checked_add(total, size);
  }
  return total;
}

void upload_parameters(const VulkanDevice& device, const Program& program, const std::vector<BufferRange>& segments) {
  if (program.parameters.empty()) return;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    if (program.segments[i].kind != SegmentKind::parameters) continue;
    if (program.parameters.size() > segments[i].size) {
      fail(ErrorCode::internal, "{} bytes of parameters have a segment of {}", program.parameters.size(),
           segments[i].size);
    }
    const auto fill = [&](std::span<std::byte> to, std::size_t /*part*/) {
      std::memcpy(to.data(), program.parameters.data(), program.parameters.size());
      std::memset(to.data() + program.parameters.size(), 0, to.size() - program.parameters.size());
    };
    const Upload parameters{segments[i], fill, 1, {}};
    upload(device, {&parameters, 1});
  }
}

}  // namespace

ProgramMemory::ProgramMemory(const VulkanDevice& device, ResidentConstants& constants, const Program& program)
    : segments_(program.segments.size()) {
  ResidentConstants::Resident resident = constants.make_resident(program);
  for (std::size_t i = 0; i < resident.ranges.size(); ++i) {
    segments_[program.constants[i].segment] = resident.ranges[i];
  }
  constants_ = std::move(resident.blocks);
  const auto shared = [](SegmentKind kind) { return !is_port(kind) && kind != SegmentKind::constant; };
  device_bytes_ = allocate_segments(device, program, shared, buffers_, segments_);
  upload_parameters(device, program, segments_);
}

RunMemory::RunMemory(const VulkanDevice& device, const Program& program, const ProgramMemory& shared)
    : segments_(shared.segments()) {
  device_bytes_ = allocate_segments(device, program, is_port, buffers_, segments_);
  inputs_ = make_ports(device, program, program.inputs, MemoryKind::staging);
  outputs_ = make_ports(device, program, program.outputs, MemoryKind::readback);
}

std::vector<PortMemory> RunMemory::make_ports(const VulkanDevice& device, const Program& program,
                                              const std::vector<Port>& ports, MemoryKind staging) {
  const bool input = staging == MemoryKind::staging;
  const std::uint64_t limit = device.traits().max_allocation;
  std::vector<PortMemory> memory;
  std::vector<std::uint64_t> staged;                        // bytes of each staging buffer
  std::vector<std::pair<std::size_t, std::size_t>> copied;  // port, staging buffer
  for (const Port& port : ports) {
    PortMemory& place = memory.emplace_back(port_range(program, segments_, port));
    if (place.bytes == 0) continue;
    const SegmentKind kind = program.segments[port.segment].kind;
    if (input && kind != SegmentKind::input)
      fail(ErrorCode::internal, "input {} lies in no input segment", port.name);
    const bool reached = !place.device.buffer->mapped().empty() && (input || kind == SegmentKind::output);
    if (reached) {
      place.host = place.device;
      continue;
    }
    std::uint64_t offset = staged.empty() ? 0 : align_up(staged.back(), port_alignment);
    if (staged.empty() || offset > limit || place.bytes > limit - offset) {
      staged.push_back(0);
      offset = 0;
    }
    copied.emplace_back(memory.size() - 1, staged.size() - 1);
    place.host = {nullptr, offset, place.bytes};
    staged.back() = checked_add(offset, place.bytes);
  }
  const std::size_t first = buffers_.size();
  for (const std::uint64_t bytes : staged) {
    with_context(input ? "staging of inputs" : "staging of outputs",
                 [&] { buffers_.push_back(std::make_unique<Buffer>(device.allocate(bytes, staging))); });
    device_bytes_ = checked_add(device_bytes_, bytes);
  }
  for (const auto& [port, buffer] : copied) memory[port].host.buffer = buffers_[first + buffer].get();
  return memory;
}

}  // namespace lapilli
