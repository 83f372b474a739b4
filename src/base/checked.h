#pragma once

#include <concepts>
#include <cstdint>
#include <utility>

#include "base/failure.h"

namespace lapilli {

// Sizes come from untrusted files, so every sum, product and conversion of them goes through these.

template <std::integral T>
T checked_add(T a, T b) {
  T result;
  if (__builtin_add_overflow(a, b, &result))
    fail(ErrorCode::limit_exceeded, "{} + {} does not fit in {} bits", a, b, 8 * sizeof(T));
  return result;
}

template <std::integral T>
T checked_subtract(T a, T b) {
  T result;
  if (__builtin_sub_overflow(a, b, &result))
    fail(ErrorCode::limit_exceeded, "{} - {} does not fit in {} bits", a, b, 8 * sizeof(T));
  return result;
}

template <std::integral T>
T checked_multiply(T a, T b) {
  T result;
  if (__builtin_mul_overflow(a, b, &result))
    fail(ErrorCode::limit_exceeded, "{} * {} does not fit in {} bits", a, b, 8 * sizeof(T));
  return result;
}

template <std::integral To, std::integral From>
To checked_cast(From value) {
  if (!std::in_range<To>(value)) fail(ErrorCode::limit_exceeded, "{} does not fit in {} bits", value, 8 * sizeof(To));
  return static_cast<To>(value);
}

/// `value` rounded up to a multiple of `alignment`, which is positive.
template <std::integral T>
T align_up(T value, T alignment) {
  const T remainder = value % alignment;
  return remainder == 0 ? value : checked_add(value, alignment - remainder);
}

/// Quotient rounded up, for a non-negative value and a positive divisor.
template <std::integral T>
constexpr T divide_up(T value, T divisor) {
  return value / divisor + (value % divisor != 0 ? 1 : 0);
}

}  // namespace lapilli
