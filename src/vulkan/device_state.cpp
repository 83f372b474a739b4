#include "vulkan/device_state.h"

#include <algorithm>
#include <vector>

#include "base/failure.h"
#include "kernels/kernel_table.h"

namespace lapilli {
namespace {

PipelineCacheKey key_of(const DeviceSnapshot& snapshot) {
  PipelineCacheKey key;
  key.kernels_hash = kernels_hash();
  key.vendor_id = snapshot.vendor_id;
  key.device_id = snapshot.device_id;
  key.driver_version = snapshot.driver_version;
  std::copy_n(snapshot.pipeline_cache_uuid.begin(),
              std::min(snapshot.pipeline_cache_uuid.size(), key.pipeline_cache_uuid.size()),
              key.pipeline_cache_uuid.begin());
  return key;
}

}  // namespace

void DeviceState::open_pipeline_cache(const std::filesystem::path& folder) {
  cache_key = key_of(snapshot);
  std::vector<std::byte> data;
  if (!folder.empty()) {
    cache_path = pipeline_cache_path(folder, cache_key);
    data = load_pipeline_cache(cache_path, cache_key);
  }
  pipeline_cache = vk::raii::PipelineCache(device, vk::PipelineCacheCreateInfo({}, data.size(), data.data()));
}

void DeviceState::write_pipeline_cache() const {
  if (cache_path.empty()) {
    fail(ErrorCode::input_output, "there is no folder to keep compiled kernels in: set XDG_CACHE_HOME or HOME");
  }
  const std::vector<std::uint8_t> data = pipeline_cache.getData();
  store_pipeline_cache(cache_path, cache_key, std::as_bytes(std::span(data)));
}

void DeviceState::save_pipeline_cache() const noexcept {
  if (cache_path.empty() || !cache_is_newer.exchange(false)) return;
  try {
    write_pipeline_cache();
  } catch (const Error&) {
    cache_is_newer = false;  // there is no place for it: the next process compiles again
  } catch (const std::exception&) {
    cache_is_newer = true;  // the same, unless a later attempt succeeds
  }
}

DeviceState::~DeviceState() {
  if (*device) save_pipeline_cache();
  pipelines.clear();
  pipeline_cache.clear();
  allocator.reset();
  if (lent) (void)device.release();
}

}  // namespace lapilli
