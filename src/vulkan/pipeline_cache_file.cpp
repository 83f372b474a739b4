#include "vulkan/pipeline_cache_file.h"

#include <xxhash.h>

#include <cstdlib>
#include <cstring>
#include <format>
#include <ostream>
#include <system_error>

#include "base/atomic_file.h"
#include "base/failure.h"
#include "base/mapped_file.h"

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

std::vector<std::byte> load_pipeline_cache(const fs::path& path, const PipelineCacheKey& key) try {
  const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  const std::span<const std::byte> bytes = file->bytes();
  PipelineCacheHeader header;
  if (bytes.size() < sizeof header) return {};
  std::memcpy(&header, bytes.data(), sizeof header);
  if (!same_format(header) || header.key != key || header.payload_size > largest_payload) return {};
  const std::span<const std::byte> data = bytes.subspan(sizeof header);
  if (data.size() != header.payload_size || XXH3_64bits(data.data(), data.size()) != header.payload_hash) return {};
  return {data.begin(), data.end()};
} catch (const Error&) {
  return {};
}

void store_pipeline_cache(const fs::path& path, const PipelineCacheKey& key, std::span<const std::byte> data) {
  if (data.size() > largest_payload) {
    fail(ErrorCode::limit_exceeded, "{}: {} bytes of compiled kernels are more than the {} that are kept",
         path.string(), data.size(), largest_payload);
  }
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error) {
    fail(ErrorCode::input_output, "{}: the folder cannot be made: {}", path.parent_path().string(), error.message());
  }
  // A pipe would be waited for.
  if (const fs::file_status status = fs::status(path, error); fs::exists(status) && !fs::is_regular_file(status)) {
    fail(ErrorCode::input_output, "{}: not a regular file", path.string());
  }
  PipelineCacheHeader header;
  header.key = key;
  header.payload_size = data.size();
  header.payload_hash = XXH3_64bits(data.data(), data.size());
  write_atomically(path, [&](std::ostream& file) {
    file.write(reinterpret_cast<const char*>(&header), sizeof header);
    file.write(reinterpret_cast<const char*>(data.data()), static_cast<std::streamsize>(data.size()));
  });
}

}  // namespace lapilli
