#pragma once

#include <cstdint>

#include "ir/operator.h"
#include "ops/reduction.h"

namespace lapilli {

/// How a decision compares the row's feature with its split.
enum class TreeMode : std::uint8_t { less_or_equal, less, greater_or_equal, greater, equal, unequal };

/// Added to the mode of a decision that what is not a number passes; it fails the others.
constexpr std::int32_t missing_is_true = 8;

/// Decision trees: each row goes from the root of each tree to a leaf, which has weights for some of the targets.
///
/// Inputs, with R float32 or float64:
///   rows R [N, C]
///   nodes int32 [nodes, 4]: feature, mode, next node when it holds, next when not; a next below 0 is leaf -1 - next
///   splits R [nodes]
///   roots int32 [trees], as a next
///   starts int32 [leaves + 1]: the first of each leaf's shares
///   targets int32 [shares], rising within a leaf
///   weights R [shares]
/// The output, R [N, targets], is the sum, the minimum or the maximum of what the leaves have on a target; 0 where
/// none has anything. Whoever makes the tables sees to it that indices are in range and that no tree goes in circles.
class TreeEnsemble final : public Operator {
 public:
  enum Input : std::uint8_t {
    rows_input,
    nodes_input,
    splits_input,
    roots_input,
    starts_input,
    targets_input,
    weights_input
  };

  TreeEnsemble(ReductionFunction function, std::int64_t targets) : function_(function), targets_(targets) {}

  [[nodiscard]] std::string_view name() const override { return "TreeEnsemble"; }
  [[nodiscard]] std::string attributes() const override;
  [[nodiscard]] std::vector<Fact> infer(std::span<const Fact> inputs, Assumptions& assumptions) const override;
  [[nodiscard]] std::vector<Tensor> evaluate(std::span<const Tensor> inputs) const override;
  [[nodiscard]] Dim operation_count(std::span<const Fact> inputs, std::span<const Fact> outputs) const override;

  [[nodiscard]] ReductionFunction function() const noexcept { return function_; }
  [[nodiscard]] std::int64_t targets() const noexcept { return targets_; }

 private:
  ReductionFunction function_;
  std::int64_t targets_;
};

}  // namespace lapilli
