#include "program/verify.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "base/failure.h"
#include "base/packed.h"
#include "base/text.h"
#include "program/pack.h"

namespace lapilli {
namespace {

// More than any device allocates, so that sums of two fit in 64 bits.
constexpr std::uint64_t largest_segment = std::uint64_t{1} << 62U;
// More workgroups along an axis than any tensor needs, so that a sum of two fits in 32 bits.
constexpr std::uint32_t most_groups = 0x7FFFFFFF;
// Pieces that DeviceTraits::longest_submit may cut all dispatches into.
constexpr std::uint64_t most_pieces = std::uint64_t{1} << 20U;

// Runs of `run` bytes, one each `pitch`, from `begin` on; the last one ends at `end`.
struct Touch {
  std::size_t step;
  std::uint64_t begin, end, run, pitch;
};

Touch touch_of(std::size_t step, const Binding& binding) {
  const std::uint64_t first = binding.offset, whole = binding.size;
  const Stripes& stripes = binding.touched;
  if (stripes.run == 0) return {step, first, first + whole, whole, whole};
  const std::uint64_t begin = first + stripes.begin, last = (whole / stripes.pitch - 1) * stripes.pitch;
  return {step, begin, begin + last + stripes.run, stripes.run, stripes.pitch};
}

using Bytes = std::pair<std::uint64_t, std::uint64_t>;  // begin and end

std::optional<Bytes> shared_bytes(Bytes left, Bytes right) {
  const Bytes shared(std::max(left.first, right.first), std::min(left.second, right.second));
  return shared.first < shared.second ? std::optional(shared) : std::nullopt;
}

// Of runs that repeat in the same pitch the first ones meet, or none.
std::optional<Bytes> shared_in_step(const Touch& left, const Touch& right) {
  const bool ordered = left.begin <= right.begin;
  const Touch &first = ordered ? left : right, &second = ordered ? right : left;
  const std::uint64_t before = second.begin - (second.begin - first.begin) % first.pitch;
  for (const std::uint64_t begin : {before, before + first.pitch}) {
    if (begin >= first.end) break;
    if (const auto shared = shared_bytes({begin, begin + first.run}, {second.begin, second.begin + second.run})) {
      return shared;
    }
  }
  return std::nullopt;
}

class HazardSearch {
 public:
  HazardSearch(const Program& program, std::size_t most)
      : program_(program), most_(most), touches_(program.segments.size()) {}

  std::vector<Hazard> find() {
    for (std::size_t step = 0; step < program_.steps.size() && hazards_.size() < most_; ++step) {
      if (const auto* dispatch = std::get_if<Dispatch>(&program_.steps[step])) {
        for (const Binding& binding : dispatch->bindings) compare(step, binding);
        for (const Binding& binding : dispatch->bindings) remember(step, binding);
      } else {
        for (const std::uint32_t segment : touched_) {
          touches_[segment].reads.clear();
          touches_[segment].writes.clear();
        }
        touched_.clear();
      }
    }
    return std::move(hazards_);
  }

 private:
  struct Touches {
    std::vector<Touch> reads, writes;
  };

  void compare(std::size_t step, const Binding& binding) {
    const Touch now = touch_of(step, binding);
    const auto with = [&](const std::vector<Touch>& earlier) {
      for (const Touch& before : earlier) {
        if (hazards_.size() == most_) return;
        spend();
        if (const auto shared = shared_runs(before, now)) {
          hazards_.push_back({before.step, step, binding.segment, shared->first, shared->second});
        }
      }
    };
    with(touches_[binding.segment].writes);
    if (binding.access != Access::read) with(touches_[binding.segment].reads);
  }

  void remember(std::size_t step, const Binding& binding) {
    Touches& touches = touches_[binding.segment];
    if (touches.reads.empty() && touches.writes.empty()) touched_.push_back(binding.segment);
    (binding.access == Access::read ? touches.reads : touches.writes).push_back(touch_of(step, binding));
  }

  // The first bytes that two touches share, run by run of the one with fewer of them.
  std::optional<Bytes> shared_runs(const Touch& left, const Touch& right) {
    if (left.begin >= right.end || right.begin >= left.end) return std::nullopt;
    if (left.pitch == right.pitch) return shared_in_step(left, right);
    const bool fewer = (left.end - left.begin) / left.pitch <= (right.end - right.begin) / right.pitch;
    const Touch &few = fewer ? left : right, &many = fewer ? right : left;
    for (std::uint64_t begin = few.begin; begin < few.end && begin < many.end; begin += few.pitch) {
      spend();
      // The first run of the other that ends after this one begins.
      const std::uint64_t skipped =
          begin < many.begin + many.run ? 0 : (begin - many.begin - many.run) / many.pitch + 1;
      const std::uint64_t other = many.begin + skipped * many.pitch;
      if (other >= many.end) return std::nullopt;
      if (const auto shared = shared_bytes({begin, begin + few.run}, {other, other + many.run})) return shared;
    }
    return std::nullopt;
  }

  // A Program from a file may be made to be compared without end.
  void spend() {
    if (comparisons_left_-- == 0) {
      fail(ErrorCode::limit_exceeded, "between its barriers the program has too many steps to look for hazards");
    }
  }

  const Program& program_;
  std::size_t most_;                    // hazards to find
  std::vector<Touches> touches_;        // of each segment since the last barrier
  std::vector<std::uint32_t> touched_;  // the segments that have some
  std::vector<Hazard> hazards_;
  std::uint64_t comparisons_left_ = std::uint64_t{1} << 26U;
};

void verify_segments(const Program& program, const DeviceTraits& traits) {
  std::size_t parameters = 0;
  for (std::size_t i = 0; i < program.segments.size(); ++i) {
    const Segment& segment = program.segments[i];
    const std::uint64_t limit = std::min(traits.max_allocation, largest_segment);
    if (segment.size > limit) {
      fail(ErrorCode::limit_exceeded, "segment {} takes {}, but the device allocates {} at once", i,
           byte_text(segment.size), byte_text(limit));
    }
    if (segment.kind != SegmentKind::parameters) continue;
    if (++parameters > 1 || program.parameters.size() > segment.size) {
      fail(ErrorCode::internal, "segment {} of {} bytes is not the one for {} bytes of parameters", i, segment.size,
           program.parameters.size());
    }
  }
}

void verify_constants(const Program& program) {
  std::vector<bool> filled(program.segments.size());
  for (const Constant& constant : program.constants) {
    if (constant.segment >= program.segments.size() || filled[constant.segment] ||
        program.segments[constant.segment].kind != SegmentKind::constant) {
      fail(ErrorCode::internal, "segment {} of {} is not one for another constant", constant.segment,
           program.segments.size());
    }
    filled[constant.segment] = true;
    const std::uint64_t bytes = packed_bytes(constant.packing);
    if (bytes > program.segments[constant.segment].size) {
      fail(ErrorCode::internal, "a constant of {} bytes is in segment {}, which has {}", bytes, constant.segment,
           program.segments[constant.segment].size);
    }
  }
  for (std::size_t i = 0; i < program.segments.size(); ++i) {
    if (program.segments[i].kind == SegmentKind::constant && !filled[i]) {
      fail(ErrorCode::internal, "segment {} is for a constant, but there is none", i);
    }
  }
}

void verify_port(const Program& program, const Port& port, bool input) {
  if (port.segment >= program.segments.size()) {
    fail(ErrorCode::internal, "{} is in segment {} of {}", port.name, port.segment, program.segments.size());
  }
  const Segment& segment = program.segments[port.segment];
  if (input ? segment.kind != SegmentKind::input : segment.kind == SegmentKind::parameters) {
    fail(ErrorCode::internal, "{} is in segment {}, which is of another kind", port.name, port.segment);
  }
  if (device_element_bytes(port.dtype) == 0) {
    fail(ErrorCode::internal, "{} has elements of type {}", port.name, to_string(port.dtype));
  }
  const std::uint64_t bytes = device_bytes(port.dtype, port.shape);
  if (bytes > segment.size) {
    fail(ErrorCode::internal, "{} takes {} bytes, but segment {} has {}", port.name, bytes, port.segment,
         segment.size);
  }
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
  constexpr std::uint64_t word = 4;  // what is bound is whole words, so that a part of one may follow the last pitch
  if (touched.run != 0 && (touched.run > touched.pitch || binding.size < touched.pitch ||
                           binding.size % touched.pitch >= word || touched.begin > touched.pitch - touched.run)) {
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
    const std::uint32_t limit = std::min(traits.max_groups[axis], most_groups);
    if (dispatch.groups[axis] == 0 || dispatch.groups[axis] > limit) {
      fail(ErrorCode::limit_exceeded, "{} workgroups along axis {}, but the device allows 1 to {}",
           dispatch.groups[axis], axis, limit);
    }
  }
  for (const Binding& binding : dispatch.bindings) verify_binding(program, traits, binding);
}

}  // namespace

std::vector<Hazard> find_hazards(const Program& program) {
  return HazardSearch(program, std::numeric_limits<std::size_t>::max()).find();
}

void verify(const Program& program, const DeviceTraits& traits) {
  verify_segments(program, traits);
  verify_constants(program);
  for (const Port& port : program.inputs) verify_port(program, port, true);
  for (const Port& port : program.outputs) verify_port(program, port, false);
  std::uint64_t pieces = 0;
  for (std::size_t step = 0; step < program.steps.size(); ++step) {
    if (const auto* dispatch = std::get_if<Dispatch>(&program.steps[step])) {
      with_context(std::format("step {}", step), [&] { verify_dispatch(program, traits, *dispatch); });
      pieces += traits.longest_submit == 0 ? 0 : std::min(dispatch->work / traits.longest_submit, most_pieces);
    }
  }
  if (pieces > most_pieces) {
    fail(ErrorCode::limit_exceeded,
         "a run would be cut into {} pieces, but {} are the most; allow longer submissions", pieces, most_pieces);
  }
  const std::vector<Hazard> hazards = HazardSearch(program, 1).find();
  if (!hazards.empty()) {
    const Hazard& first = hazards.front();
    fail(ErrorCode::internal, "steps {} and {} touch bytes {} to {} of segment {} without a barrier between them",
         first.earlier, first.later, first.begin, first.end, first.segment);
  }
}

}  // namespace lapilli
