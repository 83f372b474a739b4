#pragma once

#include <span>
#include <vector>

#include "lapilli/tensor.h"

/// Tensors cut and joined on the host, for sequences and loops; strings too.
namespace lapilli {

/// One tensor of all along a new axis or, without one, along an axis that is there. Throws Error (invalid_model)
/// where types or shapes do not fit.
Tensor join_tensors(std::span<const Tensor> tensors, std::int64_t axis, bool new_axis);

/// The elements first ... first + size - 1 along an axis.
Tensor cut_tensor(const Tensor& tensor, std::size_t axis, std::int64_t first, std::int64_t size);

/// A non-negative axis. Throws Error (invalid_model) when it is not within the rank.
std::size_t axis_of(std::int64_t axis, std::size_t rank);

}  // namespace lapilli
