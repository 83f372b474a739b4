#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/failure.h"

namespace lapilli {
namespace {

[[noreturn]] void fail_with_errno(const std::filesystem::path& path, int error) {
  fail(ErrorCode::input_output, "{}: {}", path.string(), std::generic_category().message(error));
}

class FileDescriptor {
 public:
  // Not blocking, so that a pipe is refused rather than waited for.
  explicit FileDescriptor(const std::filesystem::path& path)
      : value_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (value_ < 0) fail_with_errno(path, errno);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() { ::close(value_); }
  [[nodiscard]] int value() const noexcept { return value_; }

 private:
  int value_;
};

}  // namespace

std::shared_ptr<const MappedFile> MappedFile::open(const std::filesystem::path& path) {
  const FileDescriptor file(path);
  struct stat status{};
  if (::fstat(file.value(), &status) != 0) fail_with_errno(path, errno);
  if (!S_ISREG(status.st_mode)) fail(ErrorCode::input_output, "{}: not a regular file", path.string());
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return std::shared_ptr<const MappedFile>(new MappedFile(path, {}));
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.value(), 0);
  if (address == MAP_FAILED) fail_with_errno(path, errno);
  return std::shared_ptr<const MappedFile>(new MappedFile(path, {static_cast<const std::byte*>(address), size}));
}

MappedFile::MappedFile(std::filesystem::path path, std::span<const std::byte> bytes)
    : path_(std::move(path)), bytes_(bytes) {}

void MappedFile::forget(std::span<const std::byte> bytes) const noexcept {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  if (bytes.data() < bytes_.data() || bytes.data() + bytes.size() > bytes_.data() + bytes_.size()) return;
  // Offsets from the mapping, which begins at a page.
  const auto offset = static_cast<std::size_t>(bytes.data() - bytes_.data());
  const std::size_t first = (offset + page - 1) / page * page, last = (offset + bytes.size()) / page * page;
  if (first < last) ::madvise(const_cast<std::byte*>(bytes_.data()) + first, last - first, MADV_DONTNEED);
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace lapilli
