#include "vulkan/memory_ledger.h"

#include "base/failure.h"
#include "base/text.h"

namespace lapilli {

void MemoryLedger::take(std::uint64_t bytes) {
  const std::uint64_t budget = budget_;
  std::uint64_t before = in_use_;
  do {
    if (budget != 0 && (before > budget || bytes > budget - before)) {
      fail(ErrorCode::out_of_memory, "{} more are needed, but {} of the budget of {} are in use", byte_text(bytes),
           byte_text(before), byte_text(budget));
    }
  } while (!in_use_.compare_exchange_weak(before, before + bytes));
  const std::uint64_t now = before + bytes;
  std::uint64_t peak = peak_;
  while (peak < now && !peak_.compare_exchange_weak(peak, now)) {
  }
}

}  // namespace lapilli
