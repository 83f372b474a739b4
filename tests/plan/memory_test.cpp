#include "plan/memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "lapilli/error.h"

namespace lapilli {
namespace {

class Random {
 public:
  explicit Random(std::uint32_t seed) : generator_(seed) {}
  std::uint64_t below(std::uint64_t bound) { return generator_() % bound; }

 private:
  std::mt19937 generator_;
};

std::vector<MemoryUse> random_uses(Random& random) {
  std::vector<MemoryUse> uses(1 + random.below(40));
  const std::uint64_t levels = 1 + random.below(20), largest = 1 + random.below(5000);
  for (MemoryUse& use : uses) {
    use.size = random.below(8) == 0 ? 0 : random.below(largest);
    use.first = static_cast<std::uint32_t>(random.below(levels));
    use.last = use.first + static_cast<std::uint32_t>(random.below(levels - use.first));
  }
  return uses;
}

std::uint64_t rounded_up(std::uint64_t size, std::uint64_t alignment) {
  return (size + alignment - 1) / alignment * alignment;
}

// The bytes that are alive at a level, summed up level by level.
std::uint64_t most_alive(std::span<const MemoryUse> uses, std::uint64_t alignment) {
  std::uint64_t most = 0;
  for (std::uint32_t level = 0; level < 64; ++level) {
    std::uint64_t bytes = 0;
    for (const MemoryUse& use : uses) {
      if (use.first <= level && level <= use.last) bytes += rounded_up(use.size, alignment);
    }
    most = std::max(most, bytes);
  }
  return most;
}

// Whether two uses write the same byte at the same level, or one lies outside, found byte by byte.
bool overlaps_somewhere(std::span<const MemoryUse> uses, const MemoryPlan& plan) {
  for (std::uint32_t level = 0; level < 8; ++level) {
    std::vector<bool> taken(plan.size, false);
    for (std::size_t i = 0; i < uses.size(); ++i) {
      if (level < uses[i].first || level > uses[i].last) continue;
      for (std::uint64_t byte = plan.offsets[i]; byte < plan.offsets[i] + uses[i].size; ++byte) {
        if (byte >= plan.size || taken[byte]) return true;
        taken[byte] = true;
      }
    }
  }
  return false;
}

TEST(MemoryPlan, holds_for_random_uses) {
  Random random(7);
  for (int trial = 0; trial < 500; ++trial) {
    const std::uint64_t alignment = std::uint64_t{1} << random.below(9);
    const std::vector<MemoryUse> uses = random_uses(random);
    const MemoryPlan plan = plan_memory(uses, alignment);
    ASSERT_EQ(plan.offsets.size(), uses.size());
    EXPECT_FALSE(find_memory_conflict(uses, plan)) << "trial " << trial;
    for (const std::uint64_t offset : plan.offsets) EXPECT_EQ(offset % alignment, 0U) << "trial " << trial;
    EXPECT_EQ(memory_lower_bound(uses, alignment), most_alive(uses, alignment)) << "trial " << trial;
    EXPECT_GE(plan.size, most_alive(uses, alignment)) << "trial " << trial;
    std::uint64_t unshared = 0;
    for (const MemoryUse& use : uses) unshared += rounded_up(use.size, alignment);
    EXPECT_EQ(memory_unshared(uses, alignment), unshared) << "trial " << trial;
    EXPECT_LE(plan.size, unshared) << "trial " << trial;
    const MemoryPlan again = plan_memory(uses, alignment);
    EXPECT_EQ(again.offsets, plan.offsets) << "trial " << trial;
    EXPECT_EQ(again.strategy, plan.strategy) << "trial " << trial;
  }
}

TEST(MemoryPlan, reuses_what_is_free) {
  // A row of layers, each alive while the next is written: two places do.
  std::vector<MemoryUse> layers;
  for (std::uint32_t level = 0; level < 10; ++level) layers.push_back({100, level, level + 1});
  EXPECT_EQ(plan_memory(layers, 4).size, 200U);
  // A long-lived tensor below short-lived ones of falling and rising size.
  const std::vector<MemoryUse> shortcut{{64, 0, 4}, {256, 0, 1}, {128, 1, 2}, {256, 2, 3}, {128, 3, 4}};
  EXPECT_EQ(plan_memory(shortcut, 64).size, memory_lower_bound(shortcut, 64));
  EXPECT_EQ(memory_lower_bound(shortcut, 64), 448U);
}

TEST(MemoryPlan, takes_nothing_and_refuses_too_much) {
  EXPECT_EQ(plan_memory({}, 16).size, 0U);
  EXPECT_EQ(memory_lower_bound({}, 16), 0U);
  const std::vector<MemoryUse> empty{{0, 0, 3}};
  EXPECT_EQ(plan_memory(empty, 16).size, 0U);
  const std::vector<MemoryUse> huge{{std::uint64_t{1} << 63U, 0, 1}, {std::uint64_t{1} << 63U, 1, 2}};
  EXPECT_THROW((void)plan_memory(huge, 16), Error);
}

TEST(MemoryPlan, keeps_each_use_in_one_block) {
  Random random(5);
  for (int trial = 0; trial < 300; ++trial) {
    const std::vector<MemoryUse> uses = random_uses(random);
    std::uint64_t largest = 16;
    for (const MemoryUse& use : uses) largest = std::max(largest, rounded_up(use.size, 16));
    const std::uint64_t block = largest + 16 * random.below(100);
    const MemoryPlan plan = plan_memory(uses, 16, block);
    EXPECT_FALSE(find_memory_conflict(uses, plan)) << "trial " << trial;
    for (std::size_t i = 0; i < uses.size(); ++i) {
      if (uses[i].size == 0) continue;
      EXPECT_EQ(plan.offsets[i] / block, (plan.offsets[i] + uses[i].size - 1) / block);
    }
  }
  const std::vector<MemoryUse> large{{100, 0, 1}};
  EXPECT_THROW((void)plan_memory(large, 16, 96), Error);
}

TEST(MemoryConflict, is_found_wherever_a_byte_has_two_owners) {
  Random random(11);
  std::size_t found = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<MemoryUse> uses(2 + random.below(4));
    MemoryPlan plan{std::vector<std::uint64_t>(uses.size()), 40, {}};
    for (std::size_t i = 0; i < uses.size(); ++i) {
      uses[i].size = random.below(12);
      uses[i].first = static_cast<std::uint32_t>(random.below(8));
      uses[i].last = uses[i].first + static_cast<std::uint32_t>(random.below(8 - uses[i].first));
      plan.offsets[i] = random.below(32);
    }
    const bool conflict = find_memory_conflict(uses, plan).has_value();
    EXPECT_EQ(conflict, overlaps_somewhere(uses, plan)) << "trial " << trial;
    found += conflict ? 1 : 0;
  }
  // Both outcomes are common.
  EXPECT_GT(found, 400U);
  EXPECT_LT(found, 1600U);
}

}  // namespace
}  // namespace lapilli
