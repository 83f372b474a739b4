#include "vulkan/pipeline_cache_file.h"

#include <unistd.h>
#include <xxhash.h>

#include <cstdlib>
#include <format>
#include <fstream>
#include <system_error>
#include <thread>
#include <type_traits>

namespace lapilli {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t largest_payload = std::uint64_t{1} << 30U;

struct Header {
  std::array<char, 8> magic{'L', 'A', 'P', 'I', 'P', 'I', 'P', 'E'};
  std::uint32_t format = 1;
  std::uint32_t header_size = sizeof(Header);
  PipelineCacheKey key;
  std::uint64_t payload_size = 0;
  std::uint64_t payload_hash = 0;
};
static_assert(std::is_trivially_copyable_v<Header> && std::has_unique_object_representations_v<Header>);

bool same_format(const Header& header) {
  const Header expected;
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
  Header header;
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
  Header header;
  header.key = key;
  header.payload_size = data.size();
  header.payload_hash = XXH3_64bits(data.data(), data.size());
  const fs::path temporary =
      std::format("{}.{}.{}", path.string(), getpid(), std::hash<std::thread::id>()(std::this_thread::get_id()));
  {
    std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(&header), sizeof header);
    file.write(reinterpret_cast<const char*>(data.data()), static_cast<std::streamsize>(data.size()));
    if (!file.flush()) {
      fs::remove(temporary, error);
      return false;
    }
  }
  fs::rename(temporary, path, error);
  if (!error) return true;
  fs::remove(temporary, error);
  return false;
}

}  // namespace lapilli
