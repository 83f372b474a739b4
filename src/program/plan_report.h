#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lapilli {

/// A tensor's place in the arena, while levels `first` to `last` run.
struct ArenaBlock {
  std::string name;
  std::uint64_t offset = 0, size = 0;
  std::uint32_t first = 0, last = 0;
};

/// What a plan costs.
struct PlanReport {
  std::size_t dispatches = 0, barriers = 0, levels = 0, pipelines = 0;
  std::uint64_t arena_bytes = 0;
  std::uint64_t lower_bound_bytes = 0;  ///< the largest set of tensors that are alive together
  std::uint64_t unshared_bytes = 0;     ///< a buffer for each tensor
  std::uint64_t weight_bytes = 0;
  std::vector<ArenaBlock> blocks;  ///< what the arena holds
};

}  // namespace lapilli
