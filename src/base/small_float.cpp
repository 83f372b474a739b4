#include "base/small_float.h"

#include <array>
#include <bit>
#include <cmath>

namespace lapilli {
namespace {

// sign, exponent, mantissa, from the highest bit on. Exponent 0 is that of the subnormals.
struct Format {
  int mantissa_bits, bias;
  std::uint32_t sign_bit;
  std::uint32_t largest;   // the code of the largest number, without sign
  std::uint32_t overflow;  // what Overflow::special gives, without sign
  std::uint32_t nan;       // without sign
  bool unsigned_zero;      // the code of -0 is not-a-number, the only one
};

constexpr Format e4m3fn{3, 7, 0x80, 0x7E, 0x7F, 0x7F, false};
constexpr Format e4m3fnuz{3, 8, 0x80, 0x7F, 0x80, 0x80, true};
constexpr Format e5m2{2, 15, 0x80, 0x7B, 0x7C, 0x7E, false};
constexpr Format e5m2fnuz{2, 16, 0x80, 0x7F, 0x80, 0x80, true};
constexpr Format e2m1{1, 1, 0x8, 0x7, 0x7, 0x8, false};
constexpr Format e2m3{3, 1, 0x20, 0x1F, 0x1F, 0x20, false};
constexpr Format e3m2{2, 3, 0x20, 0x1F, 0x1F, 0x20, false};

const Format* format_of(DType dtype) noexcept {
  switch (dtype) {
    case DType::float8e4m3fn: return &e4m3fn;
    case DType::float8e4m3fnuz: return &e4m3fnuz;
    case DType::float8e5m2: return &e5m2;
    case DType::float8e5m2fnuz: return &e5m2fnuz;
    case DType::float4e2m1: return &e2m1;
    case DType::float6e2m3: return &e2m3;
    case DType::float6e3m2: return &e3m2;
    default: return nullptr;
  }
}

constexpr std::uint32_t float_infinity = 0x7F800000U;

// float8e8m0 is the exponent of a float32 alone.
std::uint8_t exponent_code(float value, Overflow overflow) noexcept {
  const std::uint32_t magnitude = std::bit_cast<std::uint32_t>(value) & 0x7FFFFFFFU;
  if (magnitude > float_infinity) return 0xFF;
  constexpr std::uint32_t smallest = 0x00400000U;  // 2^-127
  if (magnitude < smallest) return overflow == Overflow::saturate || magnitude == 0 ? 0 : 0xFF;
  // A subnormal float32 has one bit less behind the point: 1.5 * 2^-127 is 0x00600000.
  const std::uint32_t code =
      magnitude < 0x00800000U ? (magnitude >= 0x00600000U ? 1U : 0U) : (magnitude + 0x00400000U) >> 23U;
  return static_cast<std::uint8_t>(code > 0xFE && overflow == Overflow::saturate ? 0xFE : code);
}

}  // namespace

bool is_small_float(DType dtype) noexcept { return dtype == DType::float8e8m0 || format_of(dtype) != nullptr; }

std::uint8_t small_float_code(DType dtype, float value, Overflow overflow) noexcept {
  if (dtype == DType::float8e8m0) return exponent_code(value, overflow);
  const Format* format = format_of(dtype);
  if (format == nullptr) return 0;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  std::uint32_t sign = (bits >> 31U) * format->sign_bit;
  if (magnitude > float_infinity)
    return static_cast<std::uint8_t>(format->nan | (format->nan < format->sign_bit ? sign : 0));
  const int shift = 23 - format->mantissa_bits, lowest_exponent = 1 - format->bias;
  std::uint32_t code = 0;
  if (static_cast<int>(magnitude >> 23U) - 127 >= lowest_exponent) {
    const std::uint32_t rounded = magnitude + (1U << (shift - 1)) - 1 + ((magnitude >> shift) & 1U);
    code = (rounded >> shift) - (static_cast<std::uint32_t>(127 - format->bias) << format->mantissa_bits);
  } else {
    const float scaled = std::ldexp(std::abs(value), format->mantissa_bits - lowest_exponent);
    code = static_cast<std::uint32_t>(std::nearbyint(scaled));
  }
  if (code > format->largest) code = overflow == Overflow::saturate ? format->largest : format->overflow;
  if (format->unsigned_zero && (code == 0 || code == format->nan)) sign = 0;
  return static_cast<std::uint8_t>(code | sign);
}

float small_float_value(DType dtype, std::uint8_t code) noexcept {
  constexpr auto not_a_number = std::bit_cast<float>(0x7FC00000U);
  if (dtype == DType::float8e8m0) return code == 0xFF ? not_a_number : std::ldexp(1.0F, code - 127);
  const Format* format = format_of(dtype);
  if (format == nullptr) return not_a_number;
  const std::uint32_t magnitude = code & (format->sign_bit - 1);
  const bool negative = (code & format->sign_bit) != 0;
  const bool is_nan = format->unsigned_zero ? negative && magnitude == 0 : magnitude > format->largest;
  float value = 0;
  if (is_nan) {
    value = dtype == DType::float8e5m2 && magnitude == format->overflow ? std::bit_cast<float>(float_infinity)
                                                                        : not_a_number;
  } else {
    const std::uint32_t exponent = magnitude >> format->mantissa_bits;
    const std::uint32_t fraction = magnitude & ((1U << format->mantissa_bits) - 1);
    const std::uint32_t hidden = exponent == 0 ? 0 : 1U << format->mantissa_bits;
    const int power = static_cast<int>(exponent == 0 ? 1 : exponent) - format->bias - format->mantissa_bits;
    value = std::ldexp(static_cast<float>(hidden + fraction), power);
  }
  return negative ? -value : value;
}

float rounded_to_small_float(DType dtype, float value, Overflow overflow) noexcept {
  return small_float_value(dtype, small_float_code(dtype, value, overflow));
}

float power_of_two_above(float value) noexcept {
  const float below = power_of_two_below(value);
  return std::abs(value) == below || !std::isfinite(value) ? below : 2 * below;
}

float power_of_two_below(float value) noexcept {
  if (value == 0 || !std::isfinite(value)) return std::abs(value);
  return std::ldexp(1.0F, std::ilogb(value));
}

float rounded_to_odd(double value) noexcept {
  const auto nearest = static_cast<float>(value);
  const auto bits = std::bit_cast<std::uint32_t>(nearest);
  if (static_cast<double>(nearest) == value || std::isnan(value) || std::isinf(nearest) || (bits & 1U) != 0)
    return nearest;
  // The odd neighbour on the other side of the value.
  const bool away = std::abs(value) > std::abs(static_cast<double>(nearest));
  return std::bit_cast<float>(away ? bits + 1 : bits - 1);
}

}  // namespace lapilli
