#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "lapilli/tensor.h"
#include "program/program.h"

namespace lapilli {

/// Bytes that the packed tensor takes.
std::uint64_t packed_bytes(const Packing& packing);

/// Writes `source` as `packing` says to `destination`, which has packed_bytes(packing) bytes and is written once,
/// from front to back within each row, never read: it may be write-combined device memory.
///
/// Elements keep their type, or are converted between floating-point types (to nearest even), or narrowed from 64-bit
/// to 32-bit integers of the same sign (values that do not fit become the nearest that does). Types narrower than a
/// byte can only be copied whole. Throws Error (unsupported) for other conversions and (internal) for a packing that
/// reads outside of the source.
void pack(const Tensor& source, const Packing& packing, std::span<std::byte> destination);

}  // namespace lapilli
