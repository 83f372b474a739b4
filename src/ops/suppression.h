#pragma once

#include "ir/operator.h"

namespace lapilli {

/// Greedy suppression of boxes that overlap a better one of their batch and class. Inputs: boxes [batch, n, 4],
/// scores [batch, class, n], the places of the scores from the best on (int32, of their shape), and scalars: the most
/// boxes a class (int32), the overlap (intersection over union) past which a box goes, and the score that a box has
/// to be past, which may be left out.
///
/// The output is int32 of the scores' shape: 1 where the box at that place of the order stays, else 0. Boxes are two
/// opposite corners (y, x, y, x), or, centred, (x, y, width, height).
class Suppression final : public Operator {
 public:
  explicit Suppression(bool centred) : centred_(centred) {}

  [[nodiscard]] std::string_view name() const override { return "Suppression"; }
  [[nodiscard]] std::string attributes() const override { return centred_ ? "centred boxes" : "corners"; }
  [[nodiscard]] std::vector<Fact> infer(std::span<const Fact> inputs, Assumptions& assumptions) const override;
  [[nodiscard]] std::vector<Tensor> evaluate(std::span<const Tensor> inputs) const override;
  [[nodiscard]] std::int64_t largest_fold() const override { return 1 << 16U; }

  [[nodiscard]] bool centred() const noexcept { return centred_; }

 private:
  bool centred_;
};

}  // namespace lapilli
