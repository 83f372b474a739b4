#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace lapilli {
namespace {

class Work {
 public:
  Work(std::size_t count, const std::function<void(std::size_t)>& action) : count_(count), action_(action) {}

  void take_until_done() noexcept {
    for (;;) {
      const std::size_t item = next_.fetch_add(1);
      if (item >= count_) return;
      try {
        action_(item);
      } catch (...) {
        const std::scoped_lock lock(mutex_);
        if (!error_) error_ = std::current_exception();
        next_.store(count_);
      }
    }
  }

  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::size_t count_;
  const std::function<void(std::size_t)>& action_;
  std::atomic<std::size_t> next_ = 0;
  std::mutex mutex_;
  std::exception_ptr error_;
};

/// Up to `workers` - 1 threads that take part in `work`.
std::vector<std::jthread> start_threads(std::size_t workers, Work& work) {
  std::vector<std::jthread> threads;
  try {
    for (std::size_t i = 1; i < workers; ++i) threads.emplace_back([&work] { work.take_until_done(); });
    return threads;
  } catch (const std::system_error&) {
    return threads;  // no more are to be had: those that run, the caller among them, do all of it
  }
}

}  // namespace

void parallel_for(std::size_t count, const std::function<void(std::size_t)>& action) {
  Work work(count, action);
  {
    const std::size_t processors = std::max(1U, std::thread::hardware_concurrency());
    const std::vector<std::jthread> threads = start_threads(std::min(count, processors), work);
    work.take_until_done();
  }
  work.rethrow();
}

}  // namespace lapilli
