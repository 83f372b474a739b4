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
  int4,     ///< two elements a byte, the first in the low half
  uint4,
  float8e4m3fn,
  float8e4m3fnuz,
  float8e5m2,
  float8e5m2fnuz,
  float4e2m1,  ///< two elements a byte, the first in the low half
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
