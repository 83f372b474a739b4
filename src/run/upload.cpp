#include "run/upload.h"

#include <algorithm>
#include <atomic>
#include <vector>

#include "base/checked.h"
#include "base/failure.h"
#include "base/parallel.h"
#include "vulkan/recording.h"

namespace lapilli {
namespace {

constexpr std::uint64_t staging_bytes = std::uint64_t{64} << 20U;
constexpr std::uint64_t staging_alignment = 64;

/// An upload, and where its bytes go first.
struct Filling {
  const Upload* upload;
  std::span<std::byte> to;
};

// All parts of all uploads by one set of threads: most weights of a network are small.
void fill_together(std::span<const Filling> fillings) {
  constexpr std::uint64_t worth_threads = std::uint64_t{1} << 20U;
  std::vector<std::size_t> ends;
  std::vector<std::atomic<std::size_t>> left(fillings.size());
  std::size_t parts = 0;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < fillings.size(); ++i) {
    ends.push_back(parts += fillings[i].upload->parts);
    left[i] = fillings[i].upload->parts;
    bytes += fillings[i].to.size();
  }
  const auto fill = [&](std::size_t item) {
    const auto index = static_cast<std::size_t>(std::ranges::upper_bound(ends, item) - ends.begin());
    const Upload& upload = *fillings[index].upload;
    upload.fill(fillings[index].to, item - (ends[index] - upload.parts));
    if (--left[index] == 0 && upload.filled) upload.filled();
  };
  if (bytes >= worth_threads) {
    parallel_for(parts, fill);
  } else {
    for (std::size_t item = 0; item < parts; ++item) fill(item);
  }
}

/// Copies as many of `uploads` as fit through `staging`; returns how many these were, at least one.
std::size_t upload_some(const VulkanDevice& device, const Buffer& staging, std::span<const Upload> uploads) {
  Recording recording(device, {});
  std::uint64_t used = 0;
  std::vector<Filling> fillings;
  for (const Upload& upload : uploads) {
    if (upload.to.size > staging.size() - used) break;
    fillings.push_back({&upload, staging.mapped().subspan(used, upload.to.size)});
    recording.copy({&staging, used, upload.to.size}, upload.to);
    used = std::min(staging.size(), align_up(used + upload.to.size, staging_alignment));
  }
  fill_together(fillings);
  recording.barrier(Stage::transfer, Stage::compute | Stage::transfer);
  recording.finish();
  staging.flush(0, used);
  Timeline timeline(device);
  timeline.submit(recording);
  timeline.wait();
  return fillings.size();
}

}  // namespace

void upload(const VulkanDevice& device, std::span<const Upload> uploads) {
  std::vector<Upload> staged;
  std::vector<Filling> in_place;
  std::uint64_t largest = 0;
  std::uint64_t total = 0;
  for (const Upload& upload : uploads) {
    const std::span<std::byte> mapped = upload.to.buffer->mapped();
    if (!mapped.empty()) {
      in_place.push_back({&upload, mapped.subspan(upload.to.offset, upload.to.size)});
      continue;
    }
    staged.push_back(upload);
    largest = std::max(largest, upload.to.size);
    total += align_up(upload.to.size, staging_alignment);
  }
  fill_together(in_place);
  for (const Filling& filling : in_place) {
    filling.upload->to.buffer->flush(filling.upload->to.offset, filling.upload->to.size);
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
