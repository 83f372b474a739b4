#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace lapilli {

/// A member of a ZIP archive.
struct ZipEntry {
  std::string name;
  std::uint16_t method = 0;  ///< 0: stored, 8: deflate
  std::uint32_t checksum = 0;
  std::uint64_t compressed_size = 0, size = 0;
  std::uint64_t header_offset = 0;
};

/// The members that the directory at the end of an archive lists. Throws Error (invalid_argument) when it is damaged,
/// unsupported for archives in several volumes.
std::vector<ZipEntry> read_zip_directory(std::span<const std::byte> archive);

/// The content of a member, its checksum checked. Throws Error: invalid_argument when it is damaged, unsupported when
/// it is encrypted or packed in another way.
std::vector<std::byte> read_zip_entry(std::span<const std::byte> archive, const ZipEntry& entry);

/// Builds an archive of stored members in memory.
class ZipWriter {
 public:
  /// Throws Error (limit_exceeded) past 4 GiB, which the plain format cannot tell.
  void add(const std::string& name, std::span<const std::byte> content);

  /// The archive. The writer is empty afterwards.
  std::vector<std::byte> finish();

 private:
  std::vector<std::byte> archive_;
  std::vector<ZipEntry> entries_;
};

}  // namespace lapilli
