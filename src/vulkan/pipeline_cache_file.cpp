#include "vulkan/pipeline_cache_file.h"

#include <xxhash.h>

#include <cstdlib>
#include <format>
#include <fstream>
#include <system_error>

#include "base/atomic_file.h"
#include "lapilli/error.h"

namespace lapilli {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t largest_payload = std::uint64_t{1} << 30U;

bool same_format(const PipelineCacheHeader& header) {
  const PipelineCacheHeader expected;
  return header.magic == expected.magic && header.format == expected.format &&
         header.header_size == expected.header_size;
}

}  // namespace

fs::path user_cache_folder() {
  const char* const cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache == '/') return fs::path(cache) / "lapilli";
  const char* const home = std::getenv("HOME");
  if (home != nullptr && *home == '/') return fs::path(home) / ".cache" / "lapilli";
  return {};
}

fs::path pipeline_cache_path(const fs::path& folder, const PipelineCacheKey& key) {
  return folder / std::format("pipelines-{:04x}-{:04x}-{:016x}.bin", key.vendor_id, key.device_id,
                              XXH3_64bits(&key, sizeof key));
}

std::vector<std::byte> load_pipeline_cache(const fs::path& path, const PipelineCacheKey& key) {
  std::ifstream file(path, std::ios::binary);
  PipelineCacheHeader header;
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header)) return {};
  if (!same_format(header) || header.key != key || header.payload_size > largest_payload) return {};
  std::error_code error;
  const std::uintmax_t file_size = fs::file_size(path, error);
  if (error || file_size != sizeof header + header.payload_size) return {};
  std::vector<std::byte> data(header.payload_size);
  if (!file.read(reinterpret_cast<char*>(data.data()), static_cast<std::streamsize>(data.size()))) return {};
  if (XXH3_64bits(data.data(), data.size()) != header.payload_hash) return {};
  return data;
}

bool store_pipeline_cache(const fs::path& path, const PipelineCacheKey& key, std::span<const std::byte> data) {
  if (data.size() > largest_payload) return false;
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error) return false;
  PipelineCacheHeader header;
  header.key = key;
  header.payload_size = data.size();
  header.payload_hash = XXH3_64bits(data.data(), data.size());
  try {
    write_atomically(path, [&](std::ostream& file) {
      file.write(reinterpret_cast<const char*>(&header), sizeof header);
      file.write(reinterpret_cast<const char*>(data.data()), static_cast<std::streamsize>(data.size()));
    });
  } catch (const Error&) {
    return false;
  }
  return true;
}

}  // namespace lapilli
