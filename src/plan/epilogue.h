#pragma once

#include <span>
#include <string>
#include <vector>

#include "ops/fused.h"
#include "plan/emission.h"
#include "plan/loop_nest.h"

namespace lapilli {

/// The most operands that kernels load for an epilogue, beside the result (src/kernels/include/source.glsl).
constexpr std::size_t most_epilogue_operands = 3;

/// The operands of a node's epilogue, as kernels load them at each element of the result.
std::vector<NestOperand> epilogue_operands(const FusedOperator& op, const Node& node, Emission& emission);

/// The chain after a result that is held as `result`.
EncodedChain encode_epilogue(const PointwiseChain& chain, DType result, std::span<const NestOperand> operands);

/// Output, source and the epilogue's operands, which are inputs 0 and 1 and up of the nest; those that are not there
/// repeat the last one.
std::vector<StorageAccess> epilogue_bindings(const LoopNest& nest, std::size_t operand_count);

/// The dispatch, or some, of a kernel with one element of the result an invocation, and an epilogue after it.
///
/// Inputs of the nest are the source, the epilogue's operands, and what else the kernel steps through. A family adds
/// the constants that are its own, the bindings after those of the epilogue, and the parameters before and after the
/// nest's operands.
class ElementDispatch {
 public:
  /// `held` is the type of the results before the chain. The loops are simplified.
  ElementDispatch(std::string kernel, LoopNest nest, const FusedOperator& op, const Node& node, DType held,
                  std::uint32_t invocations, Emission& emission);

  [[nodiscard]] const LoopNest& nest() const noexcept { return nest_; }
  [[nodiscard]] std::uint32_t invocations() const noexcept { return invocations_; }
  [[nodiscard]] std::uint32_t loops() const noexcept { return static_cast<std::uint32_t>(nest_.sizes.size()); }
  [[nodiscard]] const NestOperand& source() const { return nest_.inputs[0]; }
  [[nodiscard]] std::uint32_t operand_count() const noexcept { return static_cast<std::uint32_t>(operand_count_); }
  [[nodiscard]] std::uint32_t operand_dtypes() const;
  /// What stands in the nest after the epilogue's operands.
  [[nodiscard]] const NestOperand& other(std::size_t i) const { return nest_.inputs[1 + operand_count_ + i]; }

  void bind(StorageId storage, Access access = Access::read) { dispatch_.bindings.push_back({storage, access}); }
  /// Repeats the last binding, where a variant of the kernel does not touch it.
  void bind_nothing() { dispatch_.bindings.push_back(dispatch_.bindings.back()); }
  /// After the count of elements, and after the operands.
  ParameterWriter& parameters_before() noexcept { return before_; }
  ParameterWriter& parameters_after() noexcept { return after_; }
  /// Takes a kernel of double precision, whatever the operands are.
  void compute_in_double() noexcept { dispatch_.capabilities = KernelLevel::float64; }
  /// Steps that an element takes, for the bound of a submission's work.
  void set_work_of_element(std::int64_t steps) noexcept { work_of_element_ = steps; }
  /// Adds the dispatch, or some where there are more loops than kernels have, with these specialization constants in
  /// front of the chain's.
  void emit(std::span<const std::uint32_t> constants);

 private:
  std::vector<LoopNest> parts_;  // which differ in offsets alone
  LoopNest nest_;
  std::size_t operand_count_;
  std::uint32_t invocations_;
  Emission& emission_;
  Dim count_;
  EncodedChain chain_;
  SymbolicDispatch dispatch_;
  ParameterWriter before_, after_;
  std::int64_t work_of_element_ = 1;
};

}  // namespace lapilli
