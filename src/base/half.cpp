#include "base/half.h"

#include "base/half_bits.h"

namespace lapilli {

std::uint16_t Half::from_float(float value) noexcept { return half_bits(value); }

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
