#pragma once

#include <vector>

#include "ops/pointwise.h"
#include "plan/emission.h"

namespace lapilli {

/// One operand of a loop nest: where it starts and how far each loop moves it, in elements.
struct NestOperand {
  StorageId storage{};
  DType dtype = DType::undefined;
  Dim offset;
  std::vector<Dim> strides;
  std::optional<StorageWindow> window = {};  ///< what is bound of the storage; the offset is from its begin
};

/// What the pointwise kernel runs: `chain` over nested loops, one output and some inputs.
struct LoopNest {
  std::vector<Dim> sizes;
  NestOperand output;
  std::vector<NestOperand> inputs;
  PointwiseChain chain;
};

/// The most loops that kernels have (src/kernels/include/loops.glsl).
constexpr std::size_t most_loops = 8;

/// Orders loops by the output's strides, outermost first, and merges those that all operands pass through as one.
/// Loops of size 1 are left out; one loop at least remains. `sizes` decide the order, which is right for all others
/// too.
void merge_loops(LoopNest& nest, const SymbolValues& sizes);
/// The same, and throws Error (unsupported) when more loops are left than kernels have.
void simplify_loops(LoopNest& nest, const SymbolValues& sizes);

/// Appends the operand as kernels read it: its offset, then its strides.
void write_operand(const NestOperand& operand, ParameterWriter& parameters);
/// Appends the sizes of all loops but the outermost as divisors.
void write_divisors(std::span<const Dim> sizes, ParameterWriter& parameters);

/// The chain as the kernel's specialization constants and parameters (src/kernels/include/chain.glsl).
struct EncodedChain {
  std::vector<std::uint32_t> constants;
  std::vector<ParameterWord> immediates;
  KernelLevel level = KernelLevel::narrow;
};
EncodedChain encode_chain(const PointwiseChain& chain, std::span<const DType> input_dtypes,
                          std::size_t step_capacity);

/// The type in which registers hold an element of this dtype; float16 and bfloat16 are float32 there.
DType register_dtype(DType dtype) noexcept;

/// The type as which kernels load and store elements that only move, so that all of their bits arrive.
DType moved_dtype(DType dtype) noexcept;

/// Packs dtypes into specialization constants, four to a word.
std::uint32_t pack_dtypes(std::span<const DType> dtypes);

/// An operand that addresses a value's placement under a shape that the value broadcasts to.
NestOperand broadcast_operand(const Placement& placement, std::span<const Dim> shape, std::span<const Dim> target,
                              Assumptions& assumptions);

/// Adds the dispatch, or some where operands are larger than can be bound; returns their numbers. Loops are ordered
/// by the output's strides and merged where all operands allow it.
std::vector<std::uint32_t> emit_loop_nest(LoopNest nest, Emission& emission,
                                          const std::vector<std::uint32_t>& after = {});

}  // namespace lapilli
