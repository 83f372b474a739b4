#pragma once

#include "ir/operator.h"

namespace lapilli {

/// Numbers at equal distances: start (input 0) + i * step (input 1), for i from 0 to `count` - 1. Inputs are scalars
/// of one type of numbers; integers wrap.
class Range final : public Operator {
 public:
  explicit Range(Dim count) : count_(std::move(count)) {}

  [[nodiscard]] std::string_view name() const override { return "Range"; }
  [[nodiscard]] std::string attributes() const override { return count_.to_string(); }
  [[nodiscard]] std::vector<Fact> infer(std::span<const Fact> inputs, Assumptions& assumptions) const override;
  [[nodiscard]] std::vector<Tensor> evaluate(std::span<const Tensor> inputs) const override;

 private:
  Dim count_;
};

}  // namespace lapilli
