#pragma once

#include <cstddef>
#include <functional>

namespace lapilli {

/// Calls action(0) ... action(count - 1), each once, in any order, on this thread and up to one more for each further
/// processor. Returns when all are done; the first exception that one of them threw is thrown again then, and calls
/// that had not begun are left out.
void parallel_for(std::size_t count, const std::function<void(std::size_t)>& action);

}  // namespace lapilli
