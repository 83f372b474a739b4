#include "program/verify.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/failure.h"

namespace lapilli {
namespace {

// Runs of `run` bytes, one each `pitch`, from `begin` on; the last one ends at `end`.
struct Touch {
  std::size_t step;
  std::uint64_t begin, end, run, pitch;
  bool write;
};

Touch touch_of(std::size_t step, const Binding& binding) {
  const bool write = binding.access != Access::read;
  const std::uint64_t first = binding.offset, whole = binding.size;
  const Stripes& stripes = binding.touched;
  if (stripes.run == 0) return {step, first, first + whole, whole, whole, write};
  const std::uint64_t begin = first + stripes.begin, last = (whole / stripes.pitch - 1) * stripes.pitch;
  return {step, begin, begin + last + stripes.run, stripes.run, stripes.pitch, write};
}

// The first bytes that two touches share, run by run of the one with fewer of them.
std::optional<std::pair<std::uint64_t, std::uint64_t>> shared_bytes(const Touch& left, const Touch& right) {
  const bool fewer = (left.end - left.begin) / left.pitch <= (right.end - right.begin) / right.pitch;
  const Touch &few = fewer ? left : right, &many = fewer ? right : left;
  if (left.begin >= right.end || right.begin >= left.end) return std::nullopt;
  for (std::uint64_t begin = few.begin; begin < few.end; begin += few.pitch) {
    const std::uint64_t end = begin + few.run;
    // The first run of the other that ends after this one begins.
    const std::uint64_t skipped =
        begin < many.begin + many.run ? 0 : (begin - many.begin - many.run) / many.pitch + 1;
    const std::uint64_t other = many.begin + skipped * many.pitch;
    if (other < many.end && other < end) return std::pair(std::max(begin, other), std::min(end, other + many.run));
  }
  return std::nullopt;
}

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
  const Stripes& touched = binding.touched;
  if (touched.run != 0 &&
      (touched.pitch > binding.size || touched.run > touched.pitch || touched.begin > touched.pitch - touched.run)) {
    fail(ErrorCode::internal, "bytes {} to {} of every {} of a binding of {}", touched.begin,
         touched.begin + touched.run, touched.pitch, binding.size);
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
      const Touch now = touch_of(step, binding);
      for (const Touch& before : touched[binding.segment]) {
        if (before.step == step || !(before.write || now.write)) continue;
        if (const auto shared = shared_bytes(before, now)) {
          hazards.push_back({before.step, step, binding.segment, shared->first, shared->second});
        }
      }
    }
    for (const Binding& binding : dispatch->bindings) touched[binding.segment].push_back(touch_of(step, binding));
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
