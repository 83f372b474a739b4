#include "program/verify.h"

#include <algorithm>

#include "base/failure.h"

namespace lapilli {
namespace {

struct Touch {
  std::size_t step;
  std::uint64_t begin, end;
  bool write;
};

void verify_binding(const Program& program, const DeviceTraits& traits, const Binding& binding) {
  if (binding.segment >= program.segments.size()) {
    fail(ErrorCode::internal, "segment {} of {} is bound", binding.segment, program.segments.size());
  }
  const Segment& segment = program.segments[binding.segment];
  const bool uniform = segment.kind == SegmentKind::parameters;
  if (binding.size == 0 || binding.size > segment.size || binding.offset > segment.size - binding.size) {
    fail(ErrorCode::internal, "bytes {} to {} of segment {}, which has {}, are bound", binding.offset,
         binding.offset + binding.size, binding.segment, segment.size);
  }
  const std::uint64_t alignment = uniform ? traits.uniform_alignment : traits.storage_alignment;
  if (binding.offset % alignment != 0) {
    fail(ErrorCode::internal, "offset {} is no multiple of {}", binding.offset, alignment);
  }
  const std::uint64_t range = uniform ? traits.max_uniform_range : traits.max_storage_range;
  if (binding.size > range) {
    fail(ErrorCode::limit_exceeded, "{} bytes are bound at once, but the device allows {}", binding.size, range);
  }
  const bool writable = segment.kind == SegmentKind::arena || segment.kind == SegmentKind::output;
  if (binding.access != Access::read && !writable) {
    fail(ErrorCode::internal, "segment {}, which is read-only, is written", binding.segment);
  }
}

void verify_dispatch(const Program& program, const DeviceTraits& traits, const Dispatch& dispatch) {
  if (dispatch.pipeline >= program.pipelines.size()) {
    fail(ErrorCode::internal, "pipeline {} of {}", dispatch.pipeline, program.pipelines.size());
  }
  if (dispatch.origin >= program.origins.size()) {
    fail(ErrorCode::internal, "origin {} of {}", dispatch.origin, program.origins.size());
  }
  if (dispatch.push_constants.size() * 4 > traits.max_push_constants) {
    fail(ErrorCode::limit_exceeded, "{} bytes of push constants, but the device allows {}",
         dispatch.push_constants.size() * 4, traits.max_push_constants);
  }
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (dispatch.groups[axis] == 0 || dispatch.groups[axis] > traits.max_groups[axis]) {
      fail(ErrorCode::limit_exceeded, "{} workgroups along axis {}, but the device allows 1 to {}",
           dispatch.groups[axis], axis, traits.max_groups[axis]);
    }
  }
  for (const Binding& binding : dispatch.bindings) verify_binding(program, traits, binding);
}

}  // namespace

std::vector<Hazard> find_hazards(const Program& program) {
  std::vector<Hazard> hazards;
  std::vector<std::vector<Touch>> touched(program.segments.size());  // since the last barrier, by segment
  for (std::size_t step = 0; step < program.steps.size(); ++step) {
    const auto* dispatch = std::get_if<Dispatch>(&program.steps[step]);
    if (dispatch == nullptr) {
      for (auto& touches : touched) touches.clear();
      continue;
    }
    for (const Binding& binding : dispatch->bindings) {
      const Touch now{step, binding.offset, binding.offset + binding.size, binding.access != Access::read};
      for (const Touch& before : touched[binding.segment]) {
        const bool overlap = before.begin < now.end && now.begin < before.end;
        if (before.step != step && overlap && (before.write || now.write)) {
          hazards.push_back(
              {before.step, step, binding.segment, std::max(before.begin, now.begin), std::min(before.end, now.end)});
        }
      }
    }
    for (const Binding& binding : dispatch->bindings) {
      touched[binding.segment].push_back(
          {step, binding.offset, binding.offset + binding.size, binding.access != Access::read});
    }
  }
  return hazards;
}

void verify(const Program& program, const DeviceTraits& traits) {
  for (std::size_t step = 0; step < program.steps.size(); ++step) {
    if (const auto* dispatch = std::get_if<Dispatch>(&program.steps[step])) {
      with_context(std::format("step {}", step), [&] { verify_dispatch(program, traits, *dispatch); });
    }
  }
  const std::vector<Hazard> hazards = find_hazards(program);
  if (!hazards.empty()) {
    const Hazard& first = hazards.front();
    fail(ErrorCode::internal, "steps {} and {} touch bytes {} to {} of segment {} without a barrier between them",
         first.earlier, first.later, first.begin, first.end, first.segment);
  }
}

}  // namespace lapilli
