#pragma once

#include <cstddef>
#include <utility>

namespace lapilli {

/// What a thread has called so far. The linker hands every call of malloc and its like, and of pthread_mutex_lock,
/// that our own objects make to this library (`counts_calls` in CMakeLists.txt), and `operator new` is its own. What
/// drivers do inside of their own libraries is not counted.
struct CallCounts {
  std::size_t allocations = 0, locks = 0;
  bool operator==(const CallCounts&) const = default;
};

CallCounts call_counts();

template <class Action>
CallCounts counted(Action&& action) {
  const CallCounts before = call_counts();
  std::forward<Action>(action)();
  const CallCounts after = call_counts();
  return {after.allocations - before.allocations, after.locks - before.locks};
}

}  // namespace lapilli
