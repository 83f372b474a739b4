#include "plan/memory.h"

#include <algorithm>
#include <numeric>

#include "base/checked.h"

namespace lapilli {
namespace {

bool together(const MemoryUse& a, const MemoryUse& b) { return a.first <= b.last && b.first <= a.last; }

// Places uses in the given order, each in the lowest gap that fits between those placed before and alive with it.
MemoryPlan place_in_order(std::span<const MemoryUse> uses, std::span<const std::size_t> order,
                          std::uint64_t alignment, std::uint64_t block) {
  MemoryPlan plan{std::vector<std::uint64_t>(uses.size(), 0), 0, {}};
  std::vector<std::size_t> placed;  // sorted by offset
  for (const std::size_t use : order) {
    const std::uint64_t size = align_up(uses[use].size, alignment);
    if (size == 0) continue;
    std::uint64_t offset = 0;
    const auto move_into_block = [&] {
      if (offset % block > block - size) offset = align_up(offset, block);
    };
    for (const std::size_t other : placed) {
      if (!together(uses[use], uses[other])) continue;
      if (plan.offsets[other] >= checked_add(offset, size)) break;
      offset = std::max(offset, plan.offsets[other] + align_up(uses[other].size, alignment));
      move_into_block();
    }
    plan.offsets[use] = offset;
    plan.size = std::max(plan.size, checked_add(offset, size));
    placed.insert(std::ranges::upper_bound(placed, offset, {}, [&](std::size_t i) { return plan.offsets[i]; }), use);
  }
  return plan;
}

std::vector<std::uint64_t> bytes_by_level(std::span<const MemoryUse> uses, std::uint64_t alignment) {
  std::uint32_t levels = 0;
  for (const MemoryUse& use : uses) levels = std::max(levels, use.last + 1);
  std::vector<std::uint64_t> bytes(levels, 0);
  for (const MemoryUse& use : uses) {
    for (std::uint32_t level = use.first; level <= use.last; ++level) {
      bytes[level] = checked_add(bytes[level], align_up(use.size, alignment));
    }
  }
  return bytes;
}

}  // namespace

MemoryPlan plan_memory(std::span<const MemoryUse> uses, std::uint64_t alignment, std::uint64_t block) {
  for (const MemoryUse& use : uses) {
    if (align_up(use.size, alignment) > block) {
      fail(ErrorCode::limit_exceeded, "a tensor of {} bytes is needed, but the device allocates {} at once", use.size,
           block);
    }
  }
  std::vector<std::size_t> order(uses.size());
  std::iota(order.begin(), order.end(), 0);
  const std::vector<std::uint64_t> load = bytes_by_level(uses, alignment);
  const auto peak = [&](std::size_t i) {
    return *std::max_element(load.begin() + uses[i].first, load.begin() + uses[i].last + 1);
  };
  std::vector<std::uint64_t> peaks(uses.size(), 0);
  for (std::size_t i = 0; i < uses.size(); ++i) peaks[i] = peak(i);

  std::optional<MemoryPlan> best;
  const auto consider = [&](std::string_view strategy, auto&& before) {
    std::vector<std::size_t> sorted = order;
    std::ranges::stable_sort(sorted, before);
    MemoryPlan plan = place_in_order(uses, sorted, alignment, block);
    plan.strategy = strategy;
    if (!best || plan.size < best->size) best = std::move(plan);
  };
  consider("by size", [&](std::size_t a, std::size_t b) { return uses[a].size > uses[b].size; });
  consider("by breadth", [&](std::size_t a, std::size_t b) {
    return peaks[a] != peaks[b] ? peaks[a] > peaks[b] : uses[a].size > uses[b].size;
  });
  consider("in order", [&](std::size_t a, std::size_t b) { return uses[a].first < uses[b].first; });
  consider("by duration", [&](std::size_t a, std::size_t b) {
    return (uses[a].last - uses[a].first) > (uses[b].last - uses[b].first);
  });
  return *best;
}

std::uint64_t memory_lower_bound(std::span<const MemoryUse> uses, std::uint64_t alignment) {
  const std::vector<std::uint64_t> load = bytes_by_level(uses, alignment);
  return load.empty() ? 0 : *std::ranges::max_element(load);
}

std::uint64_t memory_unshared(std::span<const MemoryUse> uses, std::uint64_t alignment) {
  std::uint64_t total = 0;
  for (const MemoryUse& use : uses) total = checked_add(total, align_up(use.size, alignment));
  return total;
}

std::optional<MemoryConflict> find_memory_conflict(std::span<const MemoryUse> uses, const MemoryPlan& plan) {
  for (std::size_t i = 0; i < uses.size(); ++i) {
    if (uses[i].size != 0 && plan.offsets[i] + uses[i].size > plan.size) return MemoryConflict{i, i};
    for (std::size_t j = i + 1; j < uses.size(); ++j) {
      const bool apart = uses[i].last < uses[j].first || uses[j].last < uses[i].first ||
                         plan.offsets[i] + uses[i].size <= plan.offsets[j] ||
                         plan.offsets[j] + uses[j].size <= plan.offsets[i];
      if (!apart && uses[i].size != 0 && uses[j].size != 0) return MemoryConflict{i, j};
    }
  }
  return std::nullopt;
}

}  // namespace lapilli
