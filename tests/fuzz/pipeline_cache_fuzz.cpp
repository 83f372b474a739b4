// Any bytes as a file of compiled pipelines: a miss, or what its header tells of.

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <format>

#include "vulkan/pipeline_cache_file.h"

namespace lapilli {
namespace {

PipelineCacheKey own_key() {
  PipelineCacheKey key;
  key.vendor_id = 0x10DE;
  return key;
}

/// A file in memory that has a path.
int memory_file() {
  static const int file = memfd_create("pipelines", 0);
  if (file < 0) std::abort();
  return file;
}

// Makes the header one of these bytes behind it.
void mend(std::span<std::uint8_t> bytes) {
  PipelineCacheHeader header;
  if (bytes.size() < sizeof header) return;
  const auto payload = bytes.subspan(sizeof header);
  header.key = own_key();
  header.payload_size = payload.size();
  header.payload_hash = XXH3_64bits(payload.data(), payload.size());
  std::memcpy(bytes.data(), &header, sizeof header);
}

// The end of the file where all of the header is right; nothing where any is not.
std::span<const std::uint8_t> expected_payload(std::span<const std::uint8_t> bytes) {
  PipelineCacheHeader header;
  if (bytes.size() < sizeof header) return {};
  std::vector<std::uint8_t> right(bytes.begin(), bytes.end());
  mend(right);
  return std::ranges::equal(right, bytes) ? bytes.subspan(sizeof header) : std::span<const std::uint8_t>();
}

}  // namespace
}  // namespace lapilli

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

// Few would get past the header by chance.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned seed) {
  constexpr std::size_t header_size = sizeof(lapilli::PipelineCacheHeader);
  if (size < header_size && header_size <= most && seed % 8 != 0) {
    std::fill(data + size, data + header_size, std::uint8_t{0});
    size = header_size;
  }
  size = LLVMFuzzerMutate(data, size, most);
  if (seed % 4 != 0) lapilli::mend({data, size});
  // A right header but for one byte.
  if (seed % 4 == 1 && size >= header_size) data[(seed / 4) % header_size] ^= static_cast<std::uint8_t>(seed >> 16U);
  return size;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const int file = lapilli::memory_file();
  if (ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != static_cast<ssize_t>(size)) std::abort();
  const auto loaded = lapilli::load_pipeline_cache(std::format("/proc/self/fd/{}", file), lapilli::own_key());
  const auto expected = std::as_bytes(lapilli::expected_payload({data, size}));
  if (!std::ranges::equal(loaded, expected)) std::abort();
  return 0;
}
