#pragma once

#include "ir/operator.h"

namespace lapilli {

/// Probabilities of k classes from those of pairs: Wu, Lin and Weng, "Probability estimates for multi-class
/// classification by pairwise coupling" (2004), their second method, with the steps and the stop of LIBSVM.
///
/// The input, float32 [N, k * (k - 1) / 2], says how probable the first class is of each pair (0, 1), (0, 2), ...,
/// (1, 2), ...; every number is between 0 and 1 and neither of them. The output is float32 [N, k].
class PairCoupling final : public Operator {
 public:
  explicit PairCoupling(std::int64_t classes) : classes_(classes) {}

  [[nodiscard]] std::string_view name() const override { return "PairCoupling"; }
  [[nodiscard]] std::string attributes() const override { return std::to_string(classes_) + " classes"; }
  [[nodiscard]] std::vector<Fact> infer(std::span<const Fact> inputs, Assumptions& assumptions) const override;
  [[nodiscard]] std::vector<Tensor> evaluate(std::span<const Tensor> inputs) const override;
  [[nodiscard]] std::int64_t largest_fold() const override { return 1 << 16U; }

  [[nodiscard]] std::int64_t classes() const noexcept { return classes_; }

 private:
  std::int64_t classes_;
};

}  // namespace lapilli
