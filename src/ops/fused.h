#pragma once

#include "ops/pointwise.h"

namespace lapilli {

/// Operators whose kernels can run a chain on each result before it is stored.
///
/// Inputs are the operator's own, `own_input_count()` of them, then the chain's inputs from 1 on, which broadcast to
/// the result's shape; the chain's input 0 is the result itself. The empty chain stores the result.
class FusedOperator : public Operator {
 public:
  [[nodiscard]] std::vector<Fact> infer(std::span<const Fact> inputs, Assumptions& assumptions) const final;
  /// The result's reference with the chain applied; nothing where the operator has no host evaluation.
  [[nodiscard]] std::vector<Tensor> evaluate(std::span<const Tensor> inputs) const final;
  [[nodiscard]] std::string attributes() const final;

  [[nodiscard]] virtual std::size_t own_input_count() const = 0;
  /// The same operator with another chain and another type of its output.
  [[nodiscard]] virtual std::shared_ptr<const FusedOperator> with_epilogue(PointwiseChain chain,
                                                                           DType output_dtype) const = 0;

  [[nodiscard]] const PointwiseChain& epilogue() const noexcept { return epilogue_; }
  /// Whether output 0 alone goes through the chain and is the only output.
  [[nodiscard]] virtual bool takes_epilogue() const { return true; }

 protected:
  FusedOperator() = default;
  FusedOperator(PointwiseChain epilogue, DType output_dtype)
      : epilogue_(std::move(epilogue)), output_dtype_(output_dtype) {}

  /// The facts without the chain, from the operator's own inputs.
  [[nodiscard]] virtual std::vector<Fact> infer_own(std::span<const Fact> inputs, Assumptions& assumptions) const = 0;
  [[nodiscard]] virtual std::vector<Tensor> evaluate_own(std::span<const Tensor> /*inputs*/) const { return {}; }
  [[nodiscard]] virtual std::string own_attributes() const { return {}; }

 private:
  PointwiseChain epilogue_;
  DType output_dtype_ = DType::undefined;  // undefined: that of the result
};

}  // namespace lapilli
