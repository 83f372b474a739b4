#include "base/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <format>
#include <functional>
#include <span>
#include <streambuf>
#include <string>
#include <system_error>
#include <utility>

#include "base/failure.h"

namespace lapilli {
namespace {

namespace fs = std::filesystem;

/// What the system says of the call before this.
std::system_error last_error() { return {errno, std::generic_category()}; }

class OpenFile {
 public:
  explicit OpenFile(int descriptor) noexcept : descriptor_(descriptor) {}
  OpenFile(OpenFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  OpenFile& operator=(OpenFile&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~OpenFile() {
    if (is_open()) ::close(descriptor_);
  }

  [[nodiscard]] bool is_open() const noexcept { return descriptor_ >= 0; }
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  /// Some file systems say only here that there is no space.
  void close() {
    if (::close(std::exchange(descriptor_, -1)) != 0) throw last_error();
  }

 private:
  int descriptor_;
};

/// Writes to a descriptor; std::ofstream takes none, and loses what the system says.
class Buffer : public std::streambuf {
 public:
  explicit Buffer(int descriptor) : descriptor_(descriptor) { setp(bytes_.data(), bytes_.data() + bytes_.size()); }

 protected:
  int sync() override {
    const std::span<const char> kept(pbase(), pptr());
    setp(bytes_.data(), bytes_.data() + bytes_.size());
    write(kept);
    return 0;
  }
  int_type overflow(int_type character) override {
    sync();
    return traits_type::eq_int_type(character, traits_type::eof()) ? traits_type::not_eof(character)
                                                                   : sputc(traits_type::to_char_type(character));
  }
  std::streamsize xsputn(const char* text, std::streamsize count) override {
    if (count < epptr() - pptr()) return std::streambuf::xsputn(text, count);
    sync();
    write({text, static_cast<std::size_t>(count)});
    return count;
  }

 private:
  void write(std::span<const char> bytes) const {
    while (!bytes.empty()) {
      const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
      if (count < 0 && errno != EINTR) throw last_error();
      if (count > 0) bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
  }

  int descriptor_;
  std::array<char, 1U << 16U> bytes_{};
};

void write_into(OpenFile& file, const std::function<void(std::ostream&)>& write) {
  Buffer buffer(file.descriptor());
  std::ostream stream(&buffer);
  stream.exceptions(std::ios::badbit);  // which passes on what the buffer throws
  write(stream);
  stream.flush();
}

// The file that a link leads to, whether it is there or not.
fs::path followed(fs::path path) {
  constexpr int most_links = 40;  // as many as Linux follows
  for (int i = 0; i < most_links && fs::is_symlink(path); ++i) path = path.parent_path() / fs::read_symlink(path);
  return path;
}

constexpr mode_t new_file_mode = 0666;  // less the process's mask

/// A file that has its name once it is complete. Until then it has none at all where the file system allows that, so
/// that nothing is left of a process that is killed; else it has one that goes with this object.
class TemporaryFile {
 public:
  explicit TemporaryFile(fs::path path) : path_(std::move(path)), file_(open_unnamed()) {
    if (file_.is_open()) return;
    take_free_name([&] {
      file_ = OpenFile(::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, new_file_mode));
      return file_.is_open();
    });
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (!name_.empty()) ::unlink(name_.c_str());
  }

  [[nodiscard]] OpenFile& file() noexcept { return file_; }

  void take_name() {
    if (name_.empty()) {
      const std::string unnamed = std::format("/proc/self/fd/{}", file_.descriptor());
      take_free_name(
          [&] { return ::linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, name_.c_str(), AT_SYMLINK_FOLLOW) == 0; });
    }
    file_.close();
    if (::rename(name_.c_str(), path_.c_str()) != 0) throw last_error();
    name_.clear();
  }

 private:
  [[nodiscard]] OpenFile open_unnamed() const {
    if (::access("/proc/self/fd", X_OK) != 0) return OpenFile(-1);  // without it, it cannot get a name
    const fs::path folder = path_.has_parent_path() ? path_.parent_path() : fs::path(".");
    return OpenFile(::open(folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, new_file_mode));
  }

  // Tries names beside the file until `make` has found one that is free. They are short, since the file's own name
  // may be as long as names can be.
  template <class Make>
  void take_free_name(Make make) {
    for (int number = 0;; ++number) {
      name_ = path_.parent_path() / std::format(".lapilli-{}-{}", ::getpid(), number);
      if (make()) return;
      const std::error_code error = last_error().code();
      name_.clear();
      if (error != std::errc::file_exists) throw std::system_error(error);
    }
  }

  fs::path path_, name_;  // no name: there is none to take away
  OpenFile file_;
};

void write_regular_file(const fs::path& path, const struct stat* former,
                        const std::function<void(std::ostream&)>& write) {
  const fs::path target = followed(path);
  if (former != nullptr && ::faccessat(AT_FDCWD, target.c_str(), W_OK, AT_EACCESS) != 0) throw last_error();
  TemporaryFile temporary(target);
  write_into(temporary.file(), write);
  if (former != nullptr) {
    const int descriptor = temporary.file().descriptor();
    // The owner first, since a change of it takes bits of the mode away. Only root may keep another's.
    (void)!::fchown(descriptor, former->st_uid, former->st_gid);
    if (::fchmod(descriptor, former->st_mode & 0777U) != 0) throw last_error();
  }
  temporary.take_name();
}

// A device or a pipe stays what it is.
void write_special_file(const fs::path& path, const std::function<void(std::ostream&)>& write) {
  OpenFile file(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
  if (!file.is_open()) throw last_error();
  write_into(file, write);
  file.close();
}

}  // namespace

void write_atomically(const fs::path& path, const std::function<void(std::ostream&)>& write) {
  try {
    struct stat former{};
    const bool exists = ::stat(path.c_str(), &former) == 0;
    if (!exists && errno != ENOENT) throw last_error();
    if (exists && !S_ISREG(former.st_mode)) {
      write_special_file(path, write);
    } else {
      write_regular_file(path, exists ? &former : nullptr, write);
    }
  } catch (const std::system_error& error) {
    fail(ErrorCode::input_output, "{}: it cannot be written: {}", path.string(), error.code().message());
  }
}

void write_atomically(const fs::path& path, std::span<const std::byte> content) {
  write_atomically(path, [&](std::ostream& file) {
    file.write(reinterpret_cast<const char*>(content.data()), static_cast<std::streamsize>(content.size()));
  });
}

}  // namespace lapilli
