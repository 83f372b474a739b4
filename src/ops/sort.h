#pragma once

#include "ir/operator.h"

namespace lapilli {

enum class SortKey : std::uint8_t {
  element,  ///< each row along the axis is sorted by itself
  slice,    ///< the slices across the axis are sorted, by their elements in row-major order
};

/// The int32 places along an axis of its elements in rising or falling order: the first `count` of them. Among equals
/// the lower place comes first; not-a-number is larger than any number.
///
/// The output has the input's shape with `count` along the axis, or shape [count] for slices.
class Sort final : public Operator {
 public:
  Sort(SortKey key, int axis, bool largest_first, Dim count)
      : key_(key), axis_(axis), largest_first_(largest_first), count_(std::move(count)) {}

  [[nodiscard]] std::string_view name() const override { return "Sort"; }
  [[nodiscard]] std::string attributes() const override;
  [[nodiscard]] std::vector<Fact> infer(std::span<const Fact> inputs, Assumptions& assumptions) const override;
  [[nodiscard]] std::vector<Tensor> evaluate(std::span<const Tensor> inputs) const override;

  [[nodiscard]] SortKey key() const noexcept { return key_; }
  [[nodiscard]] int axis() const noexcept { return axis_; }
  [[nodiscard]] bool largest_first() const noexcept { return largest_first_; }
  [[nodiscard]] const Dim& count() const noexcept { return count_; }

 private:
  SortKey key_;
  int axis_;
  bool largest_first_;
  Dim count_;
};

/// For each value (input 1), how many elements of its row (input 0, along the last axis, in rising order) are less
/// than it; with `equals`, how many are not greater. The inputs differ in the last axis alone. int32 of the values'
/// shape.
class Search final : public Operator {
 public:
  explicit Search(bool equals) : equals_(equals) {}

  [[nodiscard]] std::string_view name() const override { return "Search"; }
  [[nodiscard]] std::string attributes() const override { return equals_ ? "equals too" : ""; }
  [[nodiscard]] std::vector<Fact> infer(std::span<const Fact> inputs, Assumptions& assumptions) const override;
  [[nodiscard]] std::vector<Tensor> evaluate(std::span<const Tensor> inputs) const override;

  [[nodiscard]] bool equals() const noexcept { return equals_; }

 private:
  bool equals_;
};

}  // namespace lapilli
