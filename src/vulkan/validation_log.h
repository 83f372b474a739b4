#pragma once

#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace lapilli {

/// Collects what the validation layer says, from any thread.
class ValidationLog {
 public:
  void add(std::string message) {
    const std::scoped_lock lock(mutex_);
    messages_.push_back(std::move(message));
  }

  [[nodiscard]] std::vector<std::string> messages() const {
    const std::scoped_lock lock(mutex_);
    return messages_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> messages_;
};

}  // namespace lapilli
