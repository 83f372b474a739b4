#include "base/atomic_file.h"

#include <unistd.h>

#include <cerrno>
#include <format>
#include <fstream>
#include <functional>
#include <string>
#include <system_error>
#include <thread>

#include "base/failure.h"

namespace lapilli {
namespace {

namespace fs = std::filesystem;

/// A file that goes unless it gets its name.
class TemporaryFile {
 public:
  explicit TemporaryFile(fs::path final_path)
      : final_path_(std::move(final_path)),
        path_(std::format("{}.{}.{}", final_path_.string(), getpid(),
                          std::hash<std::thread::id>()(std::this_thread::get_id()))) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    std::error_code ignored;
    if (!renamed_) fs::remove(path_, ignored);
  }

  [[nodiscard]] const fs::path& path() const noexcept { return path_; }
  [[nodiscard]] std::error_code rename() {
    std::error_code error;
    fs::rename(path_, final_path_, error);
    renamed_ = !error;
    return error;
  }

 private:
  fs::path final_path_, path_;
  bool renamed_ = false;
};

}  // namespace

void write_atomically(const fs::path& path, const std::function<void(std::ostream&)>& write) {
  TemporaryFile temporary(path);
  const auto fail_to_write = [&](int error) {
    fail(ErrorCode::input_output, "{}: cannot be written{}{}", path.string(), error == 0 ? "" : ": ",
         error == 0 ? "" : std::generic_category().message(error));
  };
  errno = 0;
  std::ofstream file(temporary.path(), std::ios::binary | std::ios::trunc);
  if (!file) fail_to_write(errno);
  write(file);
  file.close();
  if (!file) fail_to_write(errno);
  if (const std::error_code error = temporary.rename()) fail_to_write(error.value());
}

}  // namespace lapilli
