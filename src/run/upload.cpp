#include "run/upload.h"

#include <algorithm>
#include <vector>

#include "base/checked.h"
#include "base/failure.h"
#include "vulkan/recording.h"

namespace lapilli {
namespace {

constexpr std::uint64_t staging_bytes = std::uint64_t{64} << 20U;
constexpr std::uint64_t staging_alignment = 64;

/// Copies as many of `uploads` as fit through `staging`; returns how many these were, at least one.
std::size_t upload_some(const VulkanDevice& device, const Buffer& staging, std::span<const Upload> uploads) {
  Recording recording(device, {});
  std::uint64_t used = 0;
  std::size_t count = 0;
  for (const Upload& upload : uploads) {
    if (upload.to.size > staging.size() - used) break;
    upload.fill(staging.mapped().subspan(used, upload.to.size));
    recording.copy({&staging, used, upload.to.size}, upload.to);
    used = std::min(staging.size(), align_up(used + upload.to.size, staging_alignment));
    ++count;
  }
  recording.barrier(Stage::transfer, Stage::compute | Stage::transfer);
  recording.finish();
  staging.flush(0, used);
  Timeline timeline(device);
  timeline.submit(recording);
  timeline.wait();
  return count;
}

}  // namespace

void upload(const VulkanDevice& device, std::span<const Upload> uploads) {
  std::vector<Upload> staged;
  std::uint64_t largest = 0;
  std::uint64_t total = 0;
  for (const Upload& upload : uploads) {
    const std::span<std::byte> mapped = upload.to.buffer->mapped();
    if (!mapped.empty()) {
      upload.fill(mapped.subspan(upload.to.offset, upload.to.size));
      upload.to.buffer->flush(upload.to.offset, upload.to.size);
      continue;
    }
    staged.push_back(upload);
    largest = std::max(largest, upload.to.size);
    total += align_up(upload.to.size, staging_alignment);
  }
  if (staged.empty()) return;
  const std::uint64_t limit = std::min(staging_bytes, device.traits().max_allocation);
  const Buffer staging = with_context("staging of an upload", [&] {
    return device.allocate(std::max(largest, std::min(total, limit)), MemoryKind::staging);
  });
  std::span<const Upload> rest = staged;
  while (!rest.empty()) rest = rest.subspan(upload_some(device, staging, rest));
}

}  // namespace lapilli
