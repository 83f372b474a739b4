#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace lapilli {

/// Element types of tensors, those of ONNX and TFLite together.
enum class DType : std::uint8_t {
  undefined,
  float32,
  float16,
  bfloat16,
  float64,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  boolean,  ///< one byte an element, 0 or 1
  string,   ///< host only
  int4,     ///< two elements a byte, the first in the low half; the last byte is filled up with zeros
  uint4,    ///< as int4
  float8e4m3fn,
  float8e4m3fnuz,
  float8e5m2,
  float8e5m2fnuz,
  float4e2m1,  ///< as int4
  float8e8m0,  ///< a power of two: no sign and no zero
  int2,        ///< four elements a byte, the first in the lowest bits; the last byte is filled up with zeros
  uint2,       ///< as int2
  float6e2m3,  ///< six bits an element, one after the other from the lowest bit of the first byte on
  float6e3m2,  ///< as float6e2m3
};

/// The name as Lapilli prints it: "float32", "int64", "bool", ...
std::string_view to_string(DType dtype) noexcept;

/// The type with this printed name; nothing when there is none.
std::optional<DType> dtype_from_string(std::string_view name) noexcept;

/// Bits of one element; 0 for undefined and string.
std::size_t bit_width(DType dtype) noexcept;

bool is_floating_point(DType dtype) noexcept;
bool is_signed_integer(DType dtype) noexcept;
bool is_unsigned_integer(DType dtype) noexcept;

/// Signed or unsigned integer; bool is none.
inline bool is_integer(DType dtype) noexcept { return is_signed_integer(dtype) || is_unsigned_integer(dtype); }

}  // namespace lapilli
