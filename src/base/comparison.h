#pragma once

#include <string>

#include "lapilli/tensor.h"

namespace lapilli {

/// How a result differs from its reference.
struct Difference {
  /// Why no tolerance can help: another dtype or shape, NaN or infinity in other places, unequal elements of a type
  /// that must be exact (integers, bool, string, and floats of 8 bits and fewer, where all codes that are no numbers
  /// are alike). Empty otherwise.
  std::string mismatch;
  /// ‖result − reference‖ / ‖reference‖ over the finite elements; ‖result‖ where the reference is all zero. Infinite
  /// where the two cannot be compared at all.
  double relative_error = 0;
};

Difference compare(const Tensor& result, const Tensor& reference);

/// The element as a number: false and true are 0 and 1. Throws Error (unsupported) for strings.
double element_as_double(const Tensor& tensor, std::int64_t index);

/// Whether no tolerance applies to the elements.
bool is_exact(DType dtype) noexcept;

}  // namespace lapilli
