#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lapilli/tensor.h"
#include "program/program.h"

namespace lapilli {

/// Bytes that the packed tensor takes.
std::uint64_t packed_bytes(const Packing& packing);

/// Elements of `dtype` and `shape` that lie in the source as they will on the device.
Packing dense_packing(DType dtype, std::vector<std::int64_t> shape);

struct PackedBlock;

/// Writes one source as one packing says, in parts that threads share.
///
/// Elements keep their type, or are converted between floating-point types (to nearest even), or narrowed from 64-bit
/// to 32-bit integers of the same sign (values that do not fit become the nearest that does). Types narrower than a
/// byte can only be copied whole.
class Packer {
 public:
  /// Throws Error (unsupported) for other conversions and (internal) for a packing that reads outside of the source.
  Packer(Tensor source, const Packing& packing);

  [[nodiscard]] std::size_t parts() const noexcept { return parts_; }

  /// `destination` has packed_bytes(packing) bytes, of which each part writes its own, once, in runs of at least a
  /// cache line, and reads none: it may be write-combined device memory. For any number of threads.
  void pack(std::size_t part, std::span<std::byte> destination) const;

 private:
  /// The dimensions without those of one element, and with those merged that are one in memory.
  struct Region {
    std::vector<std::int64_t> shape, extent, stride;
    std::int64_t offset = 0;
  };
  /// Elements begin ... end - 1 of some rows of the region.
  struct Range {
    std::int64_t row = 0, rows = 0, begin = 0, end = 0;
  };

  static Region simplify(const Packing& packing);
  void pack_range(const Tensor& source, const Range& range, std::span<std::byte> destination) const;

  Tensor source_;
  Region region_;
  void (*function_)(const PackedBlock&) = nullptr;
  std::int64_t element_bytes_ = 0;
  std::int64_t rows_ = 0, rows_of_part_ = 1;
  std::int64_t elements_of_row_part_ = 0, parts_of_row_ = 1;
  std::size_t parts_ = 0;
};

/// All parts, by as many threads as there are processors.
void pack(const Tensor& source, const Packing& packing, std::span<std::byte> destination);

}  // namespace lapilli
