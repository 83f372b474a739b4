#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "flow/host_call.h"
#include "lapilli/tensor.h"

/// Single elements on the host, for operators on strings and tables.
namespace lapilli {

/// The element count of a result that the host makes. Throws Error (limit_exceeded) when it is past what the host
/// takes on, so that a small model cannot exhaust the process.
std::size_t host_element_count(std::span<const std::int64_t> shape);

/// Shapes broadcast to one by the rules of NumPy.
struct Broadcast {
  std::vector<std::int64_t> shape;
  /// For each tensor, its element that stands at each element of the shape.
  std::vector<std::vector<std::size_t>> positions;
};

/// Throws Error (invalid_model) when the shapes do not fit together.
Broadcast broadcast_tensors(std::span<const Tensor> tensors);

/// The elements at these positions, under a shape of as many elements. Strings too.
Tensor take_elements(const Tensor& tensor, std::span<const std::size_t> positions, std::vector<std::int64_t> shape);

/// The strings of an input. Throws Error (invalid_model) that names the input when it is of another type.
std::span<const std::string> strings_of(const HostCall& call, std::size_t index);

/// The elements of a tensor of numbers as another type. Throws Error (unsupported) for strings.
Tensor convert_elements(const Tensor& tensor, DType dtype);

/// A vector of an attribute's elements.
Tensor vector_of(std::span<const float> values);
Tensor vector_of(std::span<const std::int64_t> values);
Tensor vector_of(std::span<const std::string> values);

}  // namespace lapilli
