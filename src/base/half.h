#pragma once

#include <bit>
#include <cstdint>

namespace lapilli {

/// IEEE 754 binary16 storage. Conversions round to nearest, ties to even.
struct Half {
  std::uint16_t bits = 0;

  Half() = default;
  explicit Half(float value) noexcept : bits(from_float(value)) {}
  explicit operator float() const noexcept;
  friend bool operator==(Half, Half) = default;

 private:
  static std::uint16_t from_float(float value) noexcept;
};

/// The upper half of a binary32. Conversions round to nearest, ties to even.
struct BFloat16 {
  std::uint16_t bits = 0;

  BFloat16() = default;
  explicit BFloat16(float value) noexcept;
  explicit operator float() const noexcept { return std::bit_cast<float>(std::uint32_t{bits} << 16U); }
  friend bool operator==(BFloat16, BFloat16) = default;
};

}  // namespace lapilli
