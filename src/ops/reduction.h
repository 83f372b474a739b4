#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ops/fused.h"

namespace lapilli {

enum class ReductionFunction : std::uint8_t {
#define FUNCTION(name, code) name = (code),
#include "ops/reduction_functions.def"
#undef FUNCTION
};

/// What happens to each element before it is reduced.
enum class Preparation : std::uint8_t {
#define PREPARATION(name, code) name = (code),
#include "ops/preparation.def"
#undef PREPARATION
};

std::string_view to_string(ReductionFunction function) noexcept;
std::string_view to_string(Preparation preparation) noexcept;

/// A prepared element; `exponent` is that of absolute_power.
double prepare(Preparation preparation, double exponent, double value) noexcept;
std::int64_t prepare(Preparation preparation, std::int64_t value) noexcept;

/// Elements along a set of axes become one: each of these axes keeps size 1. No axes: each element alone.
///
/// For the functions up to log_sum_exp. L1 is a sum of absolute elements, L2 one of squares with a square root as
/// epilogue, log-sum one with a logarithm. Sums of integers wrap; the mean of integers is truncated. What reduces no
/// elements gives sum 0, product 1, the lowest or highest value of the type, and a mean that is not a number (0 for
/// integers). Not-a-number wins every comparison. log_sum_exp is for floating-point types.
class Reduction final : public FusedOperator {
 public:
  Reduction(ReductionFunction function, Preparation preparation, std::vector<int> axes, PointwiseChain epilogue = {},
            DType output_dtype = DType::undefined);

  [[nodiscard]] std::string_view name() const override { return "Reduction"; }
  [[nodiscard]] std::size_t own_input_count() const override { return 1; }
  [[nodiscard]] std::shared_ptr<const FusedOperator> with_epilogue(PointwiseChain chain,
                                                                   DType output_dtype) const override;
  [[nodiscard]] Dim operation_count(std::span<const Fact> inputs, std::span<const Fact> outputs) const override;

  [[nodiscard]] ReductionFunction function() const noexcept { return function_; }
  [[nodiscard]] Preparation preparation() const noexcept { return preparation_; }
  /// In rising order.
  [[nodiscard]] const std::vector<int>& axes() const noexcept { return axes_; }

 protected:
  [[nodiscard]] std::vector<Fact> infer_own(std::span<const Fact> inputs, Assumptions& assumptions) const override;
  [[nodiscard]] std::vector<Tensor> evaluate_own(std::span<const Tensor> inputs) const override;
  [[nodiscard]] std::string own_attributes() const override;

 private:
  ReductionFunction function_;
  Preparation preparation_;
  std::vector<int> axes_;
};

/// The int64 index of an extreme element along one axis, which keeps size 1. For the functions from first_largest on,
/// which say what wins among equals. Not-a-number is the extreme of either kind.
class ExtremeIndex final : public Operator {
 public:
  ExtremeIndex(ReductionFunction function, int axis) : function_(function), axis_(axis) {}

  [[nodiscard]] std::string_view name() const override { return "ExtremeIndex"; }
  [[nodiscard]] std::string attributes() const override;
  [[nodiscard]] std::vector<Fact> infer(std::span<const Fact> inputs, Assumptions& assumptions) const override;
  [[nodiscard]] std::vector<Tensor> evaluate(std::span<const Tensor> inputs) const override;
  [[nodiscard]] Dim operation_count(std::span<const Fact> inputs, std::span<const Fact> outputs) const override;

  [[nodiscard]] ReductionFunction function() const noexcept { return function_; }
  [[nodiscard]] int axis() const noexcept { return axis_; }

 private:
  ReductionFunction function_;
  int axis_;
};

/// The shape with each of `axes` at size 1. Throws Error (invalid_model) unless they name axes of `input`, each once,
/// in rising order.
Shape reduced_shape(const Fact& input, std::span<const int> axes);

}  // namespace lapilli
