#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

namespace lapilli {

/// A regular file mapped read-only. Pages are read when touched, so opening a large file costs nothing.
/// Shared by everything that points into it; reading from several threads is safe.
class MappedFile {
 public:
  /// Throws Error (input_output) that names the file when it cannot be read or is not a regular file.
  static std::shared_ptr<const MappedFile> open(const std::filesystem::path& path);

  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

  /// Gives the memory of whole pages among `bytes` back to the system, as far as they are of this file. What is read
  /// again comes from the file again.
  void forget(std::span<const std::byte> bytes) const noexcept;

 private:
  MappedFile(std::filesystem::path path, std::span<const std::byte> bytes);

  std::filesystem::path path_;
  std::span<const std::byte> bytes_;
};

}  // namespace lapilli
