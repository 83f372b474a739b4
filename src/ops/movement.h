#pragma once

#include <cstdint>
#include <vector>

#include "ir/operator.h"

namespace lapilli {

/// One loop of a region copy. Its counter i moves the source index along `source_axis` by i * source_step, and the
/// target index along `target_axis` by i * target_step. An axis of -1 is not moved.
struct RegionLoop {
  Dim size;
  int source_axis = -1;
  Dim source_step = 1;
  int target_axis = -1;
  Dim target_step = 1;
};

/// Elements that keep their values and get another place: a nest of loops over logical indices.
struct Region {
  std::size_t input = 0;
  std::vector<RegionLoop> loops;
  std::vector<Dim> source_start;  ///< one a source axis
  std::vector<Dim> target_start;  ///< one a target axis
};

/// Operators that only move elements. Regions do not overlap in the target; what none of them writes is `fill`, or
/// the scalar that follows the input.
class Movement : public Operator {
 public:
  [[nodiscard]] std::vector<Fact> infer(std::span<const Fact> inputs, Assumptions& assumptions) const final;
  [[nodiscard]] std::vector<Tensor> evaluate(std::span<const Tensor> inputs) const final;
  [[nodiscard]] Dim operation_count(std::span<const Fact>, std::span<const Fact>) const final { return 0; }
  [[nodiscard]] std::int64_t largest_fold() const override { return std::int64_t{1} << 27U; }

  /// The shape of the output. Throws Error (invalid_model).
  [[nodiscard]] virtual Shape output_shape(std::span<const Fact> inputs, Assumptions& assumptions) const = 0;
  [[nodiscard]] virtual std::vector<Region> regions(std::span<const Fact> inputs, Assumptions& assumptions) const = 0;
  /// Whether regions leave elements unwritten, which then get `fill()`.
  [[nodiscard]] virtual bool has_gaps() const { return false; }
  /// One element of the input's dtype; undefined stands for zero.
  [[nodiscard]] virtual const Tensor& fill() const;
};

/// Output axis i is input axis permutation[i].
class Transpose final : public Movement {
 public:
  explicit Transpose(std::vector<int> permutation) : permutation_(std::move(permutation)) {}
  [[nodiscard]] std::string_view name() const override { return "Transpose"; }
  [[nodiscard]] std::string attributes() const override;
  [[nodiscard]] Shape output_shape(std::span<const Fact> inputs, Assumptions& assumptions) const override;
  [[nodiscard]] std::vector<Region> regions(std::span<const Fact> inputs, Assumptions& assumptions) const override;
  /// Weights of a product need no copy: rules decide (src/passes/simplification.cpp).
  [[nodiscard]] std::int64_t largest_fold() const override { return 1 << 16U; }
  [[nodiscard]] const std::vector<int>& permutation() const noexcept { return permutation_; }

 private:
  std::vector<int> permutation_;
};

/// size[i] elements of axis i, from start[i] on, step[i] apart; steps may be negative.
class Slice final : public Movement {
 public:
  Slice(std::vector<Dim> start, std::vector<Dim> size, std::vector<Dim> step)
      : start_(std::move(start)), size_(std::move(size)), step_(std::move(step)) {}
  [[nodiscard]] std::string_view name() const override { return "Slice"; }
  [[nodiscard]] std::string attributes() const override;
  [[nodiscard]] Shape output_shape(std::span<const Fact> inputs, Assumptions& assumptions) const override;
  [[nodiscard]] std::vector<Region> regions(std::span<const Fact> inputs, Assumptions& assumptions) const override;
  /// Whether it takes every element of an input of this shape, in order.
  [[nodiscard]] bool takes_all(std::span<const Dim> shape) const;
  [[nodiscard]] const std::vector<Dim>& start() const noexcept { return start_; }
  [[nodiscard]] const std::vector<Dim>& size() const noexcept { return size_; }
  [[nodiscard]] const std::vector<Dim>& step() const noexcept { return step_; }

 private:
  std::vector<Dim> start_, size_, step_;
};

class Concat final : public Movement {
 public:
  explicit Concat(int axis) : axis_(axis) {}
  [[nodiscard]] std::string_view name() const override { return "Concat"; }
  [[nodiscard]] std::string attributes() const override;
  [[nodiscard]] Shape output_shape(std::span<const Fact> inputs, Assumptions& assumptions) const override;
  [[nodiscard]] std::vector<Region> regions(std::span<const Fact> inputs, Assumptions& assumptions) const override;
  [[nodiscard]] int axis() const noexcept { return axis_; }

 private:
  int axis_;
};

/// The input repeated along axes of size 1 and along new leading axes.
class Expand final : public Movement {
 public:
  explicit Expand(Shape shape) : shape_(std::move(shape)) {}
  [[nodiscard]] std::string_view name() const override { return "Expand"; }
  [[nodiscard]] std::string attributes() const override { return shape_text(shape_); }
  [[nodiscard]] Shape output_shape(std::span<const Fact> inputs, Assumptions& assumptions) const override;
  [[nodiscard]] std::vector<Region> regions(std::span<const Fact> inputs, Assumptions& assumptions) const override;

 private:
  Shape shape_;
};

enum class PadMode : std::uint8_t { constant, edge, reflect, wrap };

/// before[i] elements in front of axis i and after[i] behind it. Negative counts are not for it: slice first.
/// A constant is `fill`, or the scalar that is input 1.
class Pad final : public Movement {
 public:
  Pad(PadMode mode, std::vector<Dim> before, std::vector<Dim> after, Tensor fill)
      : mode_(mode), before_(std::move(before)), after_(std::move(after)), fill_(std::move(fill)) {}
  [[nodiscard]] std::string_view name() const override { return "Pad"; }
  [[nodiscard]] std::string attributes() const override;
  [[nodiscard]] Shape output_shape(std::span<const Fact> inputs, Assumptions& assumptions) const override;
  [[nodiscard]] std::vector<Region> regions(std::span<const Fact> inputs, Assumptions& assumptions) const override;
  [[nodiscard]] bool has_gaps() const override { return mode_ == PadMode::constant; }
  [[nodiscard]] const Tensor& fill() const override { return fill_; }
  [[nodiscard]] PadMode mode() const noexcept { return mode_; }
  [[nodiscard]] const std::vector<Dim>& before() const noexcept { return before_; }
  [[nodiscard]] const std::vector<Dim>& after() const noexcept { return after_; }

 private:
  PadMode mode_;
  std::vector<Dim> before_, after_;
  Tensor fill_;
};

/// The same elements in row-major order under another shape of the same element count.
class Reshape final : public Operator {
 public:
  explicit Reshape(Shape shape) : shape_(std::move(shape)) {}
  [[nodiscard]] std::string_view name() const override { return "Reshape"; }
  [[nodiscard]] std::string attributes() const override { return shape_text(shape_); }
  [[nodiscard]] std::vector<Fact> infer(std::span<const Fact> inputs, Assumptions& assumptions) const override;
  [[nodiscard]] std::vector<Tensor> evaluate(std::span<const Tensor> inputs) const override;
  [[nodiscard]] Dim operation_count(std::span<const Fact>, std::span<const Fact>) const override { return 0; }

 private:
  Shape shape_;
};

/// The same bits as another type of the same width.
class BitCast final : public Operator {
 public:
  explicit BitCast(DType dtype) : dtype_(dtype) {}
  [[nodiscard]] std::string_view name() const override { return "BitCast"; }
  [[nodiscard]] std::string attributes() const override { return std::string(to_string(dtype_)); }
  [[nodiscard]] std::vector<Fact> infer(std::span<const Fact> inputs, Assumptions& assumptions) const override;
  [[nodiscard]] std::vector<Tensor> evaluate(std::span<const Tensor> inputs) const override;
  [[nodiscard]] Dim operation_count(std::span<const Fact>, std::span<const Fact>) const override { return 0; }

 private:
  DType dtype_;
};

}  // namespace lapilli
