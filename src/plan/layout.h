#pragma once

#include <span>
#include <vector>

#include "ir/assumptions.h"
#include "ir/dim.h"

namespace lapilli {

/// The order in which a tensor's axes lie in memory, outermost first, without gaps.
class Layout {
 public:
  Layout() = default;
  explicit Layout(std::vector<int> order) : order_(std::move(order)) {}
  static Layout row_major(std::size_t rank);
  /// [N, C, spatial...] with C innermost; row-major below rank 3.
  static Layout channels_last(std::size_t rank);

  [[nodiscard]] std::span<const int> order() const noexcept { return order_; }
  [[nodiscard]] std::size_t rank() const noexcept { return order_.size(); }
  /// Elements between neighbours along each axis of the shape.
  [[nodiscard]] std::vector<Dim> strides(std::span<const Dim> shape) const;
  friend bool operator==(const Layout&, const Layout&) = default;

 private:
  std::vector<int> order_;
};

/// Whether strides are those of a row-major tensor without gaps; strides of axes of size 1 do not matter.
bool is_row_major(std::span<const Dim> shape, std::span<const Dim> strides);

/// Whether two sets of strides address a shape's elements alike; strides of axes of size 1 do not matter.
bool same_strides(std::span<const Dim> shape, std::span<const Dim> left, std::span<const Dim> right);

/// Whether two layouts have the axes of a shape in one order; those of size 1 do not matter.
bool same_order(std::span<const Dim> shape, const Layout& left, const Layout& right);

/// Whether neighbours along the innermost axis of more than one element lie side by side, and the strides of all
/// other such axes are multiples of a number.
bool has_aligned_rows(std::span<const Dim> shape, std::span<const Dim> strides, const Layout& layout,
                      std::int64_t multiple, Assumptions& assumptions);

}  // namespace lapilli
