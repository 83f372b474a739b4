#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/assumptions.h"
#include "ir/fact.h"

namespace lapilli {

/// What a node computes: a typed, immutable set of attributes with the rules that every stage needs.
///
/// Operators are few, one class for each family of lowerings; the formats' many operators are built from them. An
/// input that is left out is a Fact of dtype undefined.
class Operator {
 public:
  Operator() = default;
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;
  virtual ~Operator() = default;

  /// The name of the family, such as "Convolution".
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// The attributes for a reader, such as "strides [2, 2], pads [1, 1, 1, 1]"; may be empty.
  [[nodiscard]] virtual std::string attributes() const { return {}; }

  /// The facts of the outputs, symbolic elements included. Throws Error (invalid_model) that says what is wrong.
  [[nodiscard]] virtual std::vector<Fact> infer(std::span<const Fact> inputs, Assumptions& assumptions) const = 0;

  /// The outputs computed on the host, or nothing for an operator that only the device runs. Called with all inputs
  /// known, to fold constants; and by tests, as the reference of the kernels.
  [[nodiscard]] virtual std::vector<Tensor> evaluate(std::span<const Tensor> /*inputs*/) const { return {}; }

  /// Elements of the largest result that is computed on the host when all inputs are known. Larger ones are left to
  /// the device, which has the time for them.
  [[nodiscard]] virtual std::int64_t largest_fold() const { return std::int64_t{1} << 22U; }

  /// Multiplications and additions of one run, counted separately.
  [[nodiscard]] virtual Dim operation_count(std::span<const Fact> /*inputs*/, std::span<const Fact> outputs) const {
    return outputs.empty() ? Dim(0) : element_count(outputs[0].shape);
  }
};

using OperatorPointer = std::shared_ptr<const Operator>;

}  // namespace lapilli
