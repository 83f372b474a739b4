#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "lapilli/tensor.h"

namespace lapilli {

/// Types of fewer than 8 bits are packed on the host and in files, and lie one element a byte in device memory.
inline bool is_packed(DType dtype) noexcept { return bit_width(dtype) > 0 && bit_width(dtype) < 8; }

/// The bytes of one element in device memory; 0 for undefined and string.
inline std::size_t device_element_bytes(DType dtype) noexcept { return is_packed(dtype) ? 1 : bit_width(dtype) / 8; }

/// The bytes of a tensor in device memory. Throws Error like element_count, and (limit_exceeded) past 64 bits.
std::uint64_t device_bytes(DType dtype, std::span<const std::int64_t> shape);

/// Packed elements to one a byte: integers as int8 or uint8, floating-point codes in the low bits. `unpacked` has the
/// byte for each element that there is.
void unpack_elements(DType dtype, std::span<const std::byte> packed, std::span<std::byte> unpacked) noexcept;

/// The other way; bits past the width of the type are cut off, and the last byte is filled up with zeros.
void pack_elements(DType dtype, std::span<const std::byte> unpacked, std::span<std::byte> packed) noexcept;

/// Elements as the host has them to those of device memory, and back: copies, unpacked and packed where the type is.
void copy_to_device(DType dtype, std::span<const std::byte> host, std::span<std::byte> device) noexcept;
void copy_from_device(DType dtype, std::span<const std::byte> device, std::span<std::byte> host) noexcept;

/// A packed tensor as one of int8 (signed integers) or uint8, one element a byte; other tensors as they are.
Tensor unpacked_tensor(const Tensor& tensor);

/// The packed tensor of a type for elements of one byte each; the tensor as it is where the type is not packed.
Tensor packed_tensor(DType dtype, const Tensor& unpacked);

/// The same bits as a type of the same width. Shares the elements.
Tensor bit_cast_tensor(DType dtype, const Tensor& tensor);

}  // namespace lapilli
