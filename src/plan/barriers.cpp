#include "plan/barriers.h"

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

struct SegmentRanges {
  RangeSet read, written;
};

bool conflicts(const Dispatch& dispatch, const std::map<std::uint32_t, SegmentRanges>& touched) {
  for (const Binding& binding : dispatch.bindings) {
    const auto found = touched.find(binding.segment);
    if (found == touched.end()) continue;
    const std::uint64_t end = binding.offset + binding.size;
    if (found->second.written.overlaps(binding.offset, end)) return true;
    if (binding.access != Access::read && found->second.read.overlaps(binding.offset, end)) return true;
  }
  return false;
}

}  // namespace

std::vector<Step> insert_barriers(std::vector<Dispatch> dispatches) {
  std::vector<Step> steps;
  std::map<std::uint32_t, SegmentRanges> touched;
  for (Dispatch& dispatch : dispatches) {
    if (conflicts(dispatch, touched)) {
      steps.emplace_back(Barrier{});
      touched.clear();
    }
    for (const Binding& binding : dispatch.bindings) {
      SegmentRanges& ranges = touched[binding.segment];
      (binding.access == Access::read ? ranges.read : ranges.written)
          .add(binding.offset, binding.offset + binding.size);
    }
    steps.emplace_back(std::move(dispatch));
  }
  return steps;
}

}  // namespace lapilli
