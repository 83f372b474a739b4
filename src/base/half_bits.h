#pragma once

#include <bit>
#include <cstdint>

namespace lapilli {

/// The bits of the binary16 that is nearest to `value`, ties to even. Without branches, so that compilers make
/// vectors of loops over it.
inline std::uint16_t half_bits(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16U) & 0x8000U, magnitude = bits & 0x7FFFFFFFU;
  const std::uint32_t normal = (magnitude + 0xFFFU + ((magnitude >> 13U) & 1U) - (112U << 23U)) >> 13U;
  // Added to 0.5, whose last bit is the smallest subnormal, the magnitude is rounded where a subnormal ends.
  const float sum = std::bit_cast<float>(magnitude) + 0.5F;
  const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(sum) - std::bit_cast<std::uint32_t>(0.5F);
  const std::uint32_t special = magnitude > 0x7F800000U ? 0x7E00U : 0x7C00U;
  const std::uint32_t finite = magnitude < (113U << 23U) ? subnormal : normal;
  return static_cast<std::uint16_t>(sign | (magnitude >= 0x477FF000U ? special : finite));
}

}  // namespace lapilli
