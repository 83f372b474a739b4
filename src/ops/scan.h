#pragma once

#include "ops/reduction.h"

namespace lapilli {

/// Along one axis, each element becomes what it and those before it sum or multiply to. Integers wrap.
class Scan final : public Operator {
 public:
  /// `function` is sum or product. `exclusive`: of those before it alone, so that the first is 0 or 1. `reverse`:
  /// from the end of the axis to its start.
  Scan(ReductionFunction function, int axis, bool exclusive = false, bool reverse = false)
      : function_(function), axis_(axis), exclusive_(exclusive), reverse_(reverse) {}

  [[nodiscard]] std::string_view name() const override { return "Scan"; }
  [[nodiscard]] std::string attributes() const override;
  [[nodiscard]] std::vector<Fact> infer(std::span<const Fact> inputs, Assumptions& assumptions) const override;
  [[nodiscard]] std::vector<Tensor> evaluate(std::span<const Tensor> inputs) const override;

  [[nodiscard]] ReductionFunction function() const noexcept { return function_; }
  [[nodiscard]] int axis() const noexcept { return axis_; }
  [[nodiscard]] bool exclusive() const noexcept { return exclusive_; }
  [[nodiscard]] bool reverse() const noexcept { return reverse_; }

 private:
  ReductionFunction function_;
  int axis_;
  bool exclusive_, reverse_;
};

}  // namespace lapilli
