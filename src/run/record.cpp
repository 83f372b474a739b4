#include "run/record.h"

#include <algorithm>
#include <variant>

#include "base/checked.h"
#include "base/failure.h"

namespace lapilli {
namespace {

std::string_view origin_of(const Program& program, const Dispatch& dispatch) {
  return dispatch.origin < program.origins.size() ? std::string_view(program.origins[dispatch.origin]) : "?";
}

// Some of a dispatch's workgroups; the first ones of a submission where `cuts`.
struct Piece {
  const Dispatch* dispatch = nullptr;  // none: a barrier
  GroupRange groups;
  bool cuts = false;
};

// The last axis along which there are groups: its ranges keep their numbers.
std::size_t last_axis(const Dispatch& dispatch) {
  std::size_t axis = 2;
  while (axis > 0 && dispatch.groups[axis] == 1) --axis;
  return axis;
}

// Steps in the order of the program, cut so that no submission has more work than `most`; 0 for no bound.
std::vector<Piece> cut_into_pieces(const Program& program, std::uint64_t most) {
  std::vector<Piece> pieces;
  std::uint64_t submitted = 0;
  for (const Step& step : program.steps) {
    const auto* dispatch = std::get_if<Dispatch>(&step);
    if (dispatch == nullptr) {
      pieces.push_back({nullptr, {}, false});
      continue;
    }
    const std::size_t axis = last_axis(*dispatch);
    const std::uint32_t count = dispatch->groups[axis];
    const std::uint64_t wanted = most == 0 ? 1 : divide_up(dispatch->work, most);
    const std::uint32_t parts = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(wanted, 1, count));
    const std::uint32_t at_once = divide_up(count, parts);
    for (std::uint32_t first = 0; first < count; first += at_once) {
      GroupRange groups{{0, 0, 0}, dispatch->groups};
      groups.first[axis] = first;
      groups.count[axis] = std::min(at_once, count - first);
      const std::uint64_t work = dispatch->work / count * groups.count[axis];
      const bool cuts = most != 0 && submitted != 0 && submitted + work > most;
      submitted = cuts ? work : submitted + work;
      pieces.push_back({dispatch, groups, cuts});
    }
  }
  return pieces;
}

RecordingSize size_of(const Program& program, std::span<const Piece> pieces,
                      std::span<const std::shared_ptr<const Pipeline>> pipelines, Timing timing) {
  RecordingSize size;
  std::uint32_t cuts = 0;
  for (const Piece& piece : pieces) {
    const Dispatch* dispatch = piece.dispatch;
    if (dispatch == nullptr) continue;
    cuts += piece.cuts ? 1 : 0;
    if (dispatch->pipeline >= pipelines.size()) {
      fail(ErrorCode::internal, "{}: there is no pipeline {}", origin_of(program, *dispatch), dispatch->pipeline);
    }
    ++size.dispatches;
    for (const KernelBindingKind kind : pipelines[dispatch->pipeline]->kernel().bindings) {
      ++(kind == KernelBindingKind::uniform_buffer ? size.uniform_buffers : size.storage_buffers);
    }
  }
  size.timestamps = timing == Timing::whole_run ? 2 + cuts : size.dispatches + 1;
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
  const std::vector<Piece> pieces = cut_into_pieces(program, device.traits().longest_submit);
  Recording recording(device, size_of(program, pieces, pipelines, timing));
  // The run before may still be under way, and its arena is this one's.
  recording.barrier(Stage::compute | Stage::transfer, Stage::compute | Stage::transfer);
  if (timing == Timing::whole_run) recording.timestamp();
  if (ports == Ports::host) record_inputs(recording, memory);
  if (timing == Timing::each_dispatch) recording.timestamp();
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const Dispatch* dispatch = pieces[i].dispatch;
    if (dispatch == nullptr) {
      if (timing == Timing::whole_run) recording.barrier(Stage::compute, Stage::compute);
      continue;
    }
    if (pieces[i].cuts) {
      if (timing == Timing::whole_run) recording.timestamp();
      recording.cut();
    }
    with_context(origin_of(program, *dispatch), [&] {
      recording.dispatch(*pipelines[dispatch->pipeline], bound_ranges(memory, *dispatch), dispatch->push_constants,
                         pieces[i].groups);
    });
    const bool last = i + 1 == pieces.size() || pieces[i + 1].dispatch != dispatch;
    if (timing == Timing::each_dispatch && last) {
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
