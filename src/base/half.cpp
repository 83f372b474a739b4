#include "base/half.h"

namespace lapilli {

std::uint16_t Half::from_float(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16U) & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  if (magnitude > 0x7F800000U) return static_cast<std::uint16_t>(sign | 0x7E00U);   // NaN
  if (magnitude >= 0x477FF000U) return static_cast<std::uint16_t>(sign | 0x7C00U);  // rounds to infinity
  if (magnitude < 0x33000001U) return static_cast<std::uint16_t>(sign);             // rounds to zero
  const std::uint32_t exponent = magnitude >> 23U;
  if (exponent >= 113) {
    const std::uint32_t rounded = magnitude + 0xFFFU + ((magnitude >> 13U) & 1U);
    return static_cast<std::uint16_t>(sign | ((rounded - (112U << 23U)) >> 13U));
  }
  // Subnormal: shift the mantissa with its hidden bit into place, then round.
  const std::uint32_t mantissa = (magnitude & 0x7FFFFFU) | 0x800000U;
  const std::uint32_t shift = 126U - exponent;
  const std::uint32_t quotient = mantissa >> shift;
  const std::uint32_t rest = mantissa & ((1U << shift) - 1U);
  const std::uint32_t half = 1U << (shift - 1U);
  const std::uint32_t up = (rest > half || (rest == half && (quotient & 1U) != 0)) ? 1U : 0U;
  return static_cast<std::uint16_t>(sign | (quotient + up));
}

Half::operator float() const noexcept {
  const std::uint32_t sign = (std::uint32_t{bits} & 0x8000U) << 16U;
  const std::uint32_t exponent = (bits >> 10U) & 0x1FU;
  const std::uint32_t mantissa = bits & 0x3FFU;
  if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000U | (mantissa << 13U));
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112U) << 23U) | (mantissa << 13U));
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24F;
  return sign != 0 ? -magnitude : magnitude;
}

BFloat16::BFloat16(float value) noexcept {
  const auto raw = std::bit_cast<std::uint32_t>(value);
  if ((raw & 0x7FFFFFFFU) > 0x7F800000U) {
    bits = static_cast<std::uint16_t>((raw >> 16U) | 0x40U);
  } else {
    bits = static_cast<std::uint16_t>((raw + 0x7FFFU + ((raw >> 16U) & 1U)) >> 16U);
  }
}

}  // namespace lapilli
