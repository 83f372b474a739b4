#pragma once

#include "ops/gather.h"

namespace lapilli {

/// The data (input 0) with the updates (input 2) written to the places that indices (input 1) say: where `places`
/// would read, with the shape that it would give. Elements that are written more than once are so in the order of the
/// updates.
///
/// `function` joins what is there with the update: identity (the update alone), add, multiply, minimum, maximum.
class Scatter final : public Operator {
 public:
  Scatter(std::shared_ptr<const GatherOperator> places, PointwiseFunction function)
      : places_(std::move(places)), function_(function) {}

  [[nodiscard]] std::string_view name() const override { return "Scatter"; }
  [[nodiscard]] std::string attributes() const override;
  [[nodiscard]] std::vector<Fact> infer(std::span<const Fact> inputs, Assumptions& assumptions) const override;
  [[nodiscard]] std::vector<Tensor> evaluate(std::span<const Tensor> inputs) const override;
  [[nodiscard]] Dim operation_count(std::span<const Fact> inputs, std::span<const Fact> outputs) const override;

  [[nodiscard]] const GatherOperator& places() const noexcept { return *places_; }
  [[nodiscard]] PointwiseFunction function() const noexcept { return function_; }

 private:
  std::shared_ptr<const GatherOperator> places_;
  PointwiseFunction function_;
};

}  // namespace lapilli
