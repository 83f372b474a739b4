#include "plan/barriers.h"

#include <algorithm>
#include <map>

namespace lapilli {
namespace {

// Disjoint byte ranges of one segment, merged where they touch.
class RangeSet {
 public:
  [[nodiscard]] bool overlaps(std::uint64_t begin, std::uint64_t end) const {
    auto next = ranges_.lower_bound(end);
    return next != ranges_.begin() && std::prev(next)->second > begin;
  }

  void add(std::uint64_t begin, std::uint64_t end) {
    auto next = ranges_.upper_bound(end);
    while (next != ranges_.begin()) {
      const auto previous = std::prev(next);
      if (previous->second < begin) break;
      begin = std::min(begin, previous->first);
      end = std::max(end, previous->second);
      next = ranges_.erase(previous);
    }
    ranges_[begin] = end;
  }

  void clear() { ranges_.clear(); }

 private:
  std::map<std::uint64_t, std::uint64_t> ranges_;  // begin -> end
};

// What dispatches touch of one segment: ranges, and bindings of which they touch stripes.
struct Touched {
  RangeSet ranges;
  std::vector<Binding> striped;

  // Stripes of one tensor are apart where their runs are; everything else goes by the whole range.
  [[nodiscard]] bool overlaps(const Binding& binding) const {
    const std::uint64_t end = binding.offset + binding.size;
    if (ranges.overlaps(binding.offset, end)) return true;
    return std::ranges::any_of(striped, [&](const Binding& other) {
      if (other.offset >= end || other.offset + other.size <= binding.offset) return false;
      const Stripes &left = binding.touched, &right = other.touched;
      const bool same_tensor =
          binding.offset == other.offset && binding.size == other.size && left.run != 0 && left.pitch == right.pitch;
      return !same_tensor || (left.begin < right.begin + right.run && right.begin < left.begin + left.run);
    });
  }

  void add(const Binding& binding) {
    if (binding.touched.run == 0) {
      ranges.add(binding.offset, binding.offset + binding.size);
    } else {
      striped.push_back(binding);
    }
  }
};

struct SegmentTouches {
  Touched read, written;
};

bool conflicts(const Dispatch& dispatch, const std::map<std::uint32_t, SegmentTouches>& touched) {
  for (const Binding& binding : dispatch.bindings) {
    const auto found = touched.find(binding.segment);
    if (found == touched.end()) continue;
    if (found->second.written.overlaps(binding)) return true;
    if (binding.access != Access::read && found->second.read.overlaps(binding)) return true;
  }
  return false;
}

}  // namespace

std::vector<Step> insert_barriers(std::vector<Dispatch> dispatches) {
  std::vector<Step> steps;
  std::map<std::uint32_t, SegmentTouches> touched;
  for (Dispatch& dispatch : dispatches) {
    if (conflicts(dispatch, touched)) {
      steps.emplace_back(Barrier{});
      touched.clear();
    }
    for (const Binding& binding : dispatch.bindings) {
      SegmentTouches& touches = touched[binding.segment];
      (binding.access == Access::read ? touches.read : touches.written).add(binding);
    }
    steps.emplace_back(std::move(dispatch));
  }
  return steps;
}

}  // namespace lapilli
