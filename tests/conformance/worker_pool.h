#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace lapilli::conformance {

/// Answers a task: what is wrong with it, empty when nothing is.
using Worker = std::function<std::string(std::size_t task)>;

struct TaskResult {
  std::size_t task = 0;
  std::string error;  ///< empty when the task passed
  double milliseconds = 0;
};

struct PoolOptions {
  std::size_t workers = 1;
  std::chrono::milliseconds time_limit{60'000};  ///< of one task
};

/// Does tasks 0 to count - 1 in processes of their own, so that one that crashes or hangs is an error of that task
/// and no more. `make_worker` is called in each process; an Error that leaves it ends everything and is thrown here.
/// An exception that leaves a worker is its task's error, and the process is replaced. `finished` is called here, in
/// the order in which tasks end. The calling process must have one thread.
void run_in_processes(std::size_t count, const PoolOptions& options, const std::function<Worker()>& make_worker,
                      const std::function<void(const TaskResult&)>& finished);

}  // namespace lapilli::conformance
