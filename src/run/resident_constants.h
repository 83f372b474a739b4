#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

#include "base/mapped_file.h"
#include "program/program.h"
#include "run/upload.h"
#include "vulkan/buffer.h"
#include "vulkan/device.h"

namespace lapilli {

/// The packed constants of a model in device memory: each is uploaded once, at its first use, and shared by all
/// Programs and threads. Thread-safe.
///
/// Constants are the same when source memory, element type and packing are. Their sources are kept alive.
class ResidentConstants {
 public:
  /// `files` are those that sources may lie in: their pages are given back once they are uploaded.
  explicit ResidentConstants(VulkanDevice device, std::vector<std::shared_ptr<const MappedFile>> files = {})
      : device_(std::move(device)), files_(std::move(files)) {}
  ResidentConstants(const ResidentConstants&) = delete;
  ResidentConstants& operator=(const ResidentConstants&) = delete;

  struct Resident {
    std::vector<BufferRange> ranges;                    ///< one a constant; empty for one of no bytes
    std::vector<std::shared_ptr<const Buffer>> blocks;  ///< keep the ranges where they are
  };
  /// Where the constants of `program` are, in the order of Program::constants.
  Resident make_resident(const Program& program);

  /// Gives up the blocks that nobody keeps. Their constants are uploaded again when they are wanted again.
  void trim();

  /// Device memory taken so far.
  [[nodiscard]] std::uint64_t bytes() const;

 private:
  using Shape = std::vector<std::int64_t>;
  // Source address and type; type, shape, extent, stride and offset of the packing; bytes of the segment.
  using Key = std::tuple<const std::byte*, DType, DType, Shape, Shape, Shape, std::int64_t, std::uint64_t>;
  struct Entry {
    Tensor source;
    BufferRange range;
    std::shared_ptr<const Buffer> block;
  };

  static Key key_of(const Program& program, const Constant& constant);
  [[nodiscard]] Upload weights_upload(const Constant& constant, const BufferRange& to) const;
  void upload_new(const Program& program, const std::vector<const Constant*>& constants);

  VulkanDevice device_;
  std::vector<std::shared_ptr<const MappedFile>> files_;
  mutable std::mutex mutex_;
  std::map<Key, Entry> entries_;
};

}  // namespace lapilli
