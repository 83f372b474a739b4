#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace lapilli {

/// What compiled pipelines depend on: the kernels and the driver.
struct PipelineCacheKey {
  std::uint64_t kernels_hash = 0;  ///< of all kernel modules
  std::uint32_t vendor_id = 0, device_id = 0, driver_version = 0;
  std::uint32_t reserved = 0;                  ///< in place of padding, since the key is hashed and stored as it is
  std::array<char, 32> pipeline_cache_uuid{};  ///< hexadecimal digits
  friend bool operator==(const PipelineCacheKey&, const PipelineCacheKey&) = default;
};

/// What a file begins with; the driver's data follow.
struct PipelineCacheHeader {
  std::array<char, 8> magic{'L', 'A', 'P', 'I', 'P', 'I', 'P', 'E'};
  std::uint32_t format = 1;
  std::uint32_t header_size = sizeof(PipelineCacheHeader);
  PipelineCacheKey key;
  std::uint64_t payload_size = 0;
  std::uint64_t payload_hash = 0;  ///< XXH3 with 64 bits
};
static_assert(std::is_trivially_copyable_v<PipelineCacheHeader> &&
              std::has_unique_object_representations_v<PipelineCacheHeader>);

/// The folder for cache files of this user: $XDG_CACHE_HOME/lapilli or ~/.cache/lapilli; empty when neither is known.
std::filesystem::path user_cache_folder();

/// The file that belongs to `key` in `folder`.
std::filesystem::path pipeline_cache_path(const std::filesystem::path& folder, const PipelineCacheKey& key);

/// The driver's data from a file that store_pipeline_cache wrote for the same key. A file that is missing, damaged,
/// cut short, made for something else or no regular one is a miss: the result is empty. Never throws for what is in
/// the file.
std::vector<std::byte> load_pipeline_cache(const std::filesystem::path& path, const PipelineCacheKey& key);

/// As write_atomically, for regular files, with the folder. Throws Error that names the file and says why it cannot
/// be written, which costs the next process some time and nothing else.
void store_pipeline_cache(const std::filesystem::path& path, const PipelineCacheKey& key,
                          std::span<const std::byte> data);

}  // namespace lapilli
