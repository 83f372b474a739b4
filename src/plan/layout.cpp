#include "plan/layout.h"

#include <numeric>

namespace lapilli {

Layout Layout::row_major(std::size_t rank) {
  std::vector<int> order(rank);
  std::iota(order.begin(), order.end(), 0);
  return Layout(std::move(order));
}

Layout Layout::channels_last(std::size_t rank) {
  if (rank < 3) return row_major(rank);
  std::vector<int> order{0};
  for (std::size_t axis = 2; axis < rank; ++axis) order.push_back(static_cast<int>(axis));
  order.push_back(1);
  return Layout(std::move(order));
}

std::vector<Dim> Layout::strides(std::span<const Dim> shape) const {
  std::vector<Dim> strides(shape.size(), Dim(1));
  Dim stride = 1;
  for (std::size_t i = order_.size(); i-- > 0;) {
    const auto axis = static_cast<std::size_t>(order_[i]);
    strides[axis] = stride;
    stride = stride * shape[axis];
  }
  return strides;
}

bool is_row_major(std::span<const Dim> shape, std::span<const Dim> strides) {
  return same_strides(shape, strides, Layout::row_major(shape.size()).strides(shape));
}

bool same_strides(std::span<const Dim> shape, std::span<const Dim> left, std::span<const Dim> right) {
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] != Dim(1) && left[axis] != right[axis]) return false;
  }
  return true;
}

bool same_order(std::span<const Dim> shape, const Layout& left, const Layout& right) {
  const auto axes = [&](const Layout& layout) {
    std::vector<int> order;
    for (const int axis : layout.order()) {
      if (shape[static_cast<std::size_t>(axis)] != Dim(1)) order.push_back(axis);
    }
    return order;
  };
  return axes(left) == axes(right);
}

bool has_aligned_rows(std::span<const Dim> shape, std::span<const Dim> strides, const Layout& layout,
                      std::int64_t multiple, Assumptions& assumptions) {
  bool innermost = true;
  for (std::size_t i = layout.rank(); i-- > 0;) {
    const auto axis = static_cast<std::size_t>(layout.order()[i]);
    if (shape[axis] == Dim(1)) continue;
    const Dim& stride = strides[axis];
    const bool fits =
        innermost ? stride == Dim(1) : assumptions.equal(Dim::floor_divide(stride, multiple) * multiple, stride);
    if (!fits) return false;
    innermost = false;
  }
  return true;
}

}  // namespace lapilli
