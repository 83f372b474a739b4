#pragma once

#include <span>
#include <vector>

#include "plan/emission.h"
#include "plan/loop_nest.h"

namespace lapilli {

/// Rows of elements: outer loops pick a row, inner loops go along it.
struct RowNest {
  LoopNest outer;  ///< input 0 is the source
  LoopNest inner;  ///< of the same operands, in the same order
  [[nodiscard]] Dim rows() const { return element_count(outer.sizes); }
  [[nodiscard]] Dim length() const { return element_count(inner.sizes); }
};

/// Cuts a nest over all elements in two: loops with `is_inner` go along rows.
RowNest cut_into_rows(const LoopNest& nest, const std::vector<bool>& is_inner);

/// How a workgroup is shared out among rows (src/kernels/include/rows.glsl).
struct RowSchedule {
  std::uint32_t invocations = 0;  ///< of a workgroup
  std::uint32_t lanes = 1;        ///< of a row
  bool lanes_adjacent = true;
  std::int64_t parts = 1;  ///< into which a row is cut, where `may_cut`
  [[nodiscard]] Dim groups(const Dim& rows) const {
    return Dim::ceil_divide(rows, static_cast<std::int64_t>(invocations / lanes));
  }
};
/// What is fast for the sizes at hand; right for all sizes.
RowSchedule choose_row_schedule(const RowNest& nest, bool may_cut, Emission& emission);

/// Simplifies both nests. The inner one goes along the source's strides; the outer one may have more loops than
/// kernels until it is cut (cut_to_bindings).
void simplify_rows(RowNest& nest, const SymbolValues& sizes);

/// A placement under its own shape.
NestOperand placed_operand(const Placement& placement);

/// Invocations of a workgroup, for kernels with one element an invocation.
std::uint32_t choose_invocations(const DeviceTraits& traits);

/// The level that all of these types need.
KernelLevel level_of_all(std::span<const NestOperand> operands, KernelLevel level);

/// The dtypes of operands, four to a word; at most four.
std::uint32_t packed_dtypes(std::span<const NestOperand> operands);

}  // namespace lapilli
