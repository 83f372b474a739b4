#pragma once

#include "ir/operator.h"

namespace lapilli {

/// The determinant of each matrix: [..., M, M] floating-point to [...]. That of an empty matrix is 1.
class Determinant final : public Operator {
 public:
  [[nodiscard]] std::string_view name() const override { return "Determinant"; }
  [[nodiscard]] std::vector<Fact> infer(std::span<const Fact> inputs, Assumptions& assumptions) const override;
  [[nodiscard]] std::vector<Tensor> evaluate(std::span<const Tensor> inputs) const override;
  [[nodiscard]] Dim operation_count(std::span<const Fact> inputs, std::span<const Fact> outputs) const override;
};

}  // namespace lapilli
