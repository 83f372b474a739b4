#include "run/resident_constants.h"

#include <algorithm>
#include <set>

#include "base/checked.h"
#include "program/pack.h"

namespace lapilli {
namespace {

// Large enough that drivers with few allocations are served, small enough that the last one wastes little.
constexpr std::uint64_t block_bytes = std::uint64_t{256} << 20U;

}  // namespace

ResidentConstants::Key ResidentConstants::key_of(const Program& program, const Constant& constant) {
  const Packing& packing = constant.packing;
  return {constant.source.bytes().data(),
          constant.source.dtype(),
          packing.dtype,
          packing.shape,
          packing.source_extent,
          packing.source_stride,
          packing.source_offset,
          program.segments.at(constant.segment).size};
}

ResidentConstants::Resident ResidentConstants::make_resident(const Program& program) {
  const std::scoped_lock lock(mutex_);
  std::vector<const Constant*> missing;
  std::set<Key> listed;
  for (const Constant& constant : program.constants) {
    if (constant.segment >= program.segments.size()) fail(ErrorCode::internal, "a constant has no segment");
    const std::uint64_t size = program.segments[constant.segment].size;
    if (packed_bytes(constant.packing) > size) {
      fail(ErrorCode::internal, "a constant of {} bytes has a segment of {}", packed_bytes(constant.packing), size);
    }
    Key key = key_of(program, constant);
    if (size != 0 && !entries_.contains(key) && listed.insert(std::move(key)).second) missing.push_back(&constant);
  }
  if (!missing.empty()) upload_new(program, missing);
  Resident resident;
  std::set<std::shared_ptr<const Buffer>> blocks;
  for (const Constant& constant : program.constants) {
    const auto found = entries_.find(key_of(program, constant));
    resident.ranges.push_back(found == entries_.end() ? BufferRange{} : found->second.range);
    if (found != entries_.end()) blocks.insert(found->second.block);
  }
  resident.blocks.assign(blocks.begin(), blocks.end());
  return resident;
}

void ResidentConstants::trim() {
  const std::scoped_lock lock(mutex_);
  std::map<const Buffer*, long> own_uses;
  for (const auto& [key, entry] : entries_) ++own_uses[entry.block.get()];
  std::set<const Buffer*> unused;
  for (const auto& [key, entry] : entries_) {
    if (entry.block.use_count() == own_uses[entry.block.get()]) unused.insert(entry.block.get());
  }
  std::erase_if(entries_, [&](const auto& item) { return unused.contains(item.second.block.get()); });
}

Upload ResidentConstants::weights_upload(const Constant& constant, const BufferRange& to) const {
  const auto packer = std::make_shared<const Packer>(constant.source, constant.packing);
  const auto fill = [packer, packed = packed_bytes(constant.packing)](std::span<std::byte> range, std::size_t part) {
    if (part < packer->parts()) packer->pack(part, range.first(packed));
    if (part == 0) std::ranges::fill(range.subspan(packed), std::byte());
  };
  const auto filled = [this, source = constant.source.bytes()] {
    for (const auto& file : files_) file->forget(source);
  };
  return {to, fill, std::max<std::size_t>(packer->parts(), 1), filled};
}

void ResidentConstants::upload_new(const Program& program, const std::vector<const Constant*>& constants) {
  const std::uint64_t alignment = std::max<std::uint64_t>(device_.traits().storage_alignment, 256);
  const std::uint64_t limit = std::min(block_bytes, device_.traits().max_allocation);
  std::vector<std::shared_ptr<const Buffer>> blocks;  // of each upload
  std::vector<Upload> uploads;
  std::uint64_t used = 0;
  const auto close_block = [&] {
    const auto block = with_context(
        "weights", [&] { return std::make_shared<const Buffer>(device_.allocate(used, MemoryKind::upload)); });
    for (std::size_t i = blocks.size(); i < uploads.size(); ++i) uploads[i].to.buffer = block.get();
    blocks.resize(uploads.size(), block);
    used = 0;
  };
  for (const Constant* constant : constants) {
    const std::uint64_t size = align_up(program.segments[constant->segment].size, std::uint64_t{4});
    std::uint64_t offset = align_up(used, alignment);
    if (used != 0 && (offset > limit || size > limit - offset)) {
      close_block();
      offset = 0;
    }
    uploads.push_back(weights_upload(*constant, {nullptr, offset, size}));
    used = checked_add(offset, size);
  }
  close_block();
  upload(device_, uploads);
  // Known only now that all is there: a failure above leaves no half-made entry.
  for (std::size_t i = 0; i < constants.size(); ++i) {
    entries_.emplace(key_of(program, *constants[i]), Entry{constants[i]->source, uploads[i].to, blocks[i]});
  }
}

std::uint64_t ResidentConstants::bytes() const {
  const std::scoped_lock lock(mutex_);
  std::set<const Buffer*> blocks;
  for (const auto& [key, entry] : entries_) blocks.insert(entry.block.get());
  std::uint64_t total = 0;
  for (const Buffer* block : blocks) total += block->size();
  return total;
}

}  // namespace lapilli
