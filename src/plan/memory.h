#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace lapilli {

/// A tensor's use of the arena: it is alive from level `first` to level `last`, both included.
struct MemoryUse {
  std::uint64_t size = 0;  ///< bytes; 0 takes no place
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

constexpr std::uint64_t unlimited_block = ~std::uint64_t{0};

/// Where each use begins, and how large the arena has to be. Offsets are multiples of the alignment.
struct MemoryPlan {
  std::vector<std::uint64_t> offsets;
  std::uint64_t size = 0;
  std::string_view strategy;
};

/// The smallest of the plans that several greedy strategies find (Pisarchyk and Lee 2020, arXiv 2001.03288).
/// Deterministic. No use crosses a multiple of `block`, which is a multiple of the alignment, so that memory may come
/// in blocks of that size. Throws Error (limit_exceeded) where sizes overflow or a use is larger than a block.
MemoryPlan plan_memory(std::span<const MemoryUse> uses, std::uint64_t alignment,
                       std::uint64_t block = unlimited_block);

/// The largest sum of sizes that are alive at one level: no plan is smaller.
std::uint64_t memory_lower_bound(std::span<const MemoryUse> uses, std::uint64_t alignment);

/// The sum of all sizes: a buffer for each tensor.
std::uint64_t memory_unshared(std::span<const MemoryUse> uses, std::uint64_t alignment);

struct MemoryConflict {
  std::size_t first = 0, second = 0;
};
/// Two uses that are alive together and share bytes, or nothing. Written apart from the strategies, as their judge.
std::optional<MemoryConflict> find_memory_conflict(std::span<const MemoryUse> uses, const MemoryPlan& plan);

}  // namespace lapilli
