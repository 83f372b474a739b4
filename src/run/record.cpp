#include "run/record.h"

#include <algorithm>
#include <variant>

#include "base/failure.h"

namespace lapilli {
namespace {

std::string_view origin_of(const Program& program, const Dispatch& dispatch) {
  return dispatch.origin < program.origins.size() ? std::string_view(program.origins[dispatch.origin]) : "?";
}

RecordingSize size_of(const Program& program, std::span<const std::shared_ptr<const Pipeline>> pipelines,
                      Timing timing) {
  RecordingSize size;
  for (const Step& step : program.steps) {
    const auto* dispatch = std::get_if<Dispatch>(&step);
    if (dispatch == nullptr) continue;
    if (dispatch->pipeline >= pipelines.size()) {
      fail(ErrorCode::internal, "{}: there is no pipeline {}", origin_of(program, *dispatch), dispatch->pipeline);
    }
    ++size.dispatches;
    for (const KernelBindingKind kind : pipelines[dispatch->pipeline]->kernel().bindings) {
      ++(kind == KernelBindingKind::uniform_buffer ? size.uniform_buffers : size.storage_buffers);
    }
  }
  size.timestamps = timing == Timing::whole_run ? 2 : size.dispatches + 1;
  return size;
}

std::vector<BufferRange> bound_ranges(const RunMemory& memory, const Dispatch& dispatch) {
  std::vector<BufferRange> ranges;
  for (const Binding& binding : dispatch.bindings) {
    const BufferRange& segment = memory.segment(binding.segment);
    if (segment.buffer == nullptr || binding.size > segment.size || binding.offset > segment.size - binding.size) {
      fail(ErrorCode::internal, "bytes {} to {} of a segment of {} are bound", binding.offset,
           binding.offset + binding.size, segment.size);
    }
    ranges.push_back({segment.buffer, segment.offset + binding.offset, binding.size});
  }
  return ranges;
}

void record_inputs(Recording& recording, const RunMemory& memory) {
  bool any = false;
  for (const PortMemory& port : memory.inputs()) {
    if (!port.copied()) continue;
    recording.copy(port.host, port.device);
    any = true;
  }
  if (any) recording.barrier(Stage::transfer, Stage::compute | Stage::transfer);
}

void record_outputs(Recording& recording, const RunMemory& memory) {
  const bool any = std::ranges::any_of(memory.outputs(), &PortMemory::copied);
  recording.barrier(Stage::compute, any ? Stage::host | Stage::transfer : Stage::host);
  if (!any) return;
  for (const PortMemory& port : memory.outputs()) {
    if (port.copied()) recording.copy(port.device, port.host);
  }
  recording.barrier(Stage::transfer, Stage::host);
}

}  // namespace

std::vector<std::shared_ptr<const Pipeline>> make_pipelines(const VulkanDevice& device, const Program& program) {
  try {
    return device.pipelines(program.pipelines);
  } catch (const Error&) {
    // Once more one by one, to find out for whom: those that were made are there already.
    for (const Step& step : program.steps) {
      const auto* dispatch = std::get_if<Dispatch>(&step);
      if (dispatch == nullptr || dispatch->pipeline >= program.pipelines.size()) continue;
      with_context(origin_of(program, *dispatch),
                   [&] { (void)device.pipeline(program.pipelines[dispatch->pipeline]); });
    }
    throw;
  }
}

Recording record(const VulkanDevice& device, const Program& program, const RunMemory& memory,
                 std::span<const std::shared_ptr<const Pipeline>> pipelines, Timing timing, Ports ports) {
  Recording recording(device, size_of(program, pipelines, timing));
  // The run before may still be under way, and its arena is this one's.
  recording.barrier(Stage::compute | Stage::transfer, Stage::compute | Stage::transfer);
  if (timing == Timing::whole_run) recording.timestamp();
  if (ports == Ports::host) record_inputs(recording, memory);
  if (timing == Timing::each_dispatch) recording.timestamp();
  for (const Step& step : program.steps) {
    const auto* dispatch = std::get_if<Dispatch>(&step);
    if (dispatch == nullptr) {
      if (timing == Timing::whole_run) recording.barrier(Stage::compute, Stage::compute);
      continue;
    }
    with_context(origin_of(program, *dispatch), [&] {
      recording.dispatch(*pipelines[dispatch->pipeline], bound_ranges(memory, *dispatch), dispatch->push_constants,
                         dispatch->groups);
    });
    if (timing == Timing::each_dispatch) {
      recording.barrier(Stage::compute, Stage::compute);
      recording.timestamp();
    }
  }
  if (ports == Ports::host) record_outputs(recording, memory);
  if (timing == Timing::whole_run) recording.timestamp();
  recording.finish();
  return recording;
}

}  // namespace lapilli
