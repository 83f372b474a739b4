#pragma once

#include <cstdint>

#include "lapilli/dtype.h"

namespace lapilli {

/// What a number past the largest one of a type becomes.
enum class Overflow : std::uint8_t {
  saturate,  ///< the largest number, and so do infinities
  special,   ///< infinity, or not-a-number where the type has no infinity; types with neither saturate all the same
};

/// Whether the type is one of those with 8 bits and fewer that hold floating-point numbers.
bool is_small_float(DType dtype) noexcept;

/// The code of the number nearest to `value`, ties to the even code (float8e8m0: the larger number). Not-a-number
/// keeps its sign where the type has one for it; it is -0 where the type has no such code. float8e8m0 takes the
/// magnitude of a negative number, and its smallest number, or not-a-number, for what is smaller.
std::uint8_t small_float_code(DType dtype, float value, Overflow overflow) noexcept;

/// The number that a code stands for; bits past the type's width do not matter.
float small_float_value(DType dtype, std::uint8_t code) noexcept;

/// The number as a small type keeps it.
float rounded_to_small_float(DType dtype, float value, Overflow overflow) noexcept;

/// The power of two that is nearest to the magnitude of `value` in the direction of infinity, or of zero. Zero and
/// what is no finite number stay as they are.
float power_of_two_above(float value) noexcept;
float power_of_two_below(float value) noexcept;

/// To float32 such that a second rounding, to a type of at most 22 bits of mantissa, rounds as if there were no first
/// one: what is not exact gets an odd last bit.
float rounded_to_odd(double value) noexcept;

}  // namespace lapilli
