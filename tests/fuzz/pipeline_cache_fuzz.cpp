// Any bytes as a file of compiled pipelines: a miss, or what was stored.

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <format>

#include "vulkan/pipeline_cache_file.h"

namespace {

/// A file in memory that has a path.
int memory_file() {
  static const int file = memfd_create("pipelines", 0);
  if (file < 0) std::abort();
  return file;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const int file = memory_file();
  if (ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != static_cast<ssize_t>(size)) std::abort();
  lapilli::PipelineCacheKey key;
  key.vendor_id = 0x10DE;
  const auto loaded = lapilli::load_pipeline_cache(std::format("/proc/self/fd/{}", file), key);
  // What is loaded is the end of the file, after a header that says so.
  if (loaded.size() >= size && size != 0) std::abort();
  return 0;
}
