#pragma once

#include <atomic>
#include <cstdint>

namespace lapilli {

/// Counts the memory that buffers of a device take, and keeps it below a budget. Thread-safe.
class MemoryLedger {
 public:
  /// 0 for no budget.
  explicit MemoryLedger(std::uint64_t budget = 0) : budget_(budget) {}

  /// Throws Error (out_of_memory), having counted nothing, where the budget does not allow it.
  void take(std::uint64_t bytes);
  void give_back(std::uint64_t bytes) noexcept { in_use_ -= bytes; }

  [[nodiscard]] std::uint64_t in_use() const noexcept { return in_use_; }
  [[nodiscard]] std::uint64_t peak() const noexcept { return peak_; }
  [[nodiscard]] std::uint64_t budget() const noexcept { return budget_; }
  void set_budget(std::uint64_t bytes) noexcept { budget_ = bytes; }

 private:
  std::atomic<std::uint64_t> in_use_ = 0, peak_ = 0, budget_;
};

}  // namespace lapilli
