#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ops/contraction.h"
#include "plan/emission.h"
#include "plan/families.h"
#include "plan/loop_nest.h"

namespace lapilli {

/// Where an operand has the element of each index of a contraction. Strides in elements; 0 repeats.
struct ContractionOperand {
  StorageId storage{};
  DType dtype = DType::undefined;
  Dim offset;
  std::vector<Dim> batch, rows;              ///< one stride an axis; B has no rows
  Dim channel, column, tap;                  ///< channels of A and B; columns of all but A; taps of B
  std::optional<StorageWindow> window = {};  ///< what is bound of the storage; the offset is from its begin
};

/// The window of a convolution, over the row axes 1 and up; axis 0 is the image. Without axes: a matrix product.
/// A's row strides of window axes are those of input positions.
struct ContractionWindow {
  std::vector<std::int64_t> kernel, strides, dilations;
  std::vector<Dim> pads, input;
  bool transposed = false;

  [[nodiscard]] std::size_t rank() const noexcept { return kernel.size(); }
  [[nodiscard]] std::int64_t taps() const;
};

/// What all contractions come down to: for each batch, row and column,
/// output = chain(sum over taps and channels of A[batch, row at tap, channel] * B[batch, tap, channel, column]).
struct Contraction {
  std::vector<Dim> batch_sizes, row_sizes;
  Dim columns, channels;
  ContractionWindow window;
  ContractionOperand a, b, output;
  std::vector<ContractionOperand> epilogue;
  Tensor weights;  ///< B where it is a constant, which has no storage yet: b's strides are those of this tensor
  PointwiseChain chain;
  DType dtype = DType::undefined;  ///< of the sums

  [[nodiscard]] Dim rows() const { return element_count(row_sizes); }
  [[nodiscard]] Dim batches() const { return element_count(batch_sizes); }
  /// Multiplications and additions.
  [[nodiscard]] Dim work() const { return batches() * rows() * columns * channels * Dim(2 * window.taps()); }
};

/// The most axes that kernels have (src/kernels/include/contraction_loops.glsl).
constexpr std::size_t most_batch_axes = 6, most_row_axes = 5, most_window_axes = 4;

/// The contraction that a MatMul or Convolution is, with axes merged where all operands allow it.
/// There may be more batch axes than kernels have. Throws Error (unsupported) where more row axes are left.
Contraction make_contraction(const Node& node, Emission& emission);

/// What is known of a contraction before values have places: enough to choose a variant.
struct ContractionTraits {
  bool convolution = false, constant_weights = false, transposed = false;
  DType dtype = DType::undefined;         ///< as the graph has it
  DType stored_dtype = DType::undefined;  ///< of intermediate values of this type
  bool wide_types = false;                ///< any operand or step of 64 bits
  std::int64_t group = 1;
  std::optional<std::int64_t> channels, columns;  ///< of one group, where they are numbers
};
ContractionTraits contraction_traits(const Graph& graph, const Node& node, const PlanOptions& options);

/// One way to run contractions.
struct ContractionVariant {
  std::string_view name;  ///< of the kernel too
  bool (*applies)(const ContractionTraits&, const DeviceTraits&, const PlanOptions&);
  /// How A (operand 0) and B (1), which has this rank, must lie.
  OperandRequirement (*requirement)(const ContractionTraits&, std::size_t operand, std::size_t rank,
                                    const PlanOptions&);
  void (*emit)(Contraction&, Emission&);
};

// The variants, one file each.
void emit_plain_contraction(Contraction& contraction, Emission& emission);
bool matrix_contraction_applies(const ContractionTraits& traits, const DeviceTraits& device,
                                const PlanOptions& options);
OperandRequirement matrix_contraction_requirement(const ContractionTraits& traits, std::size_t operand,
                                                  std::size_t rank, const PlanOptions& options);
void emit_matrix_contraction(Contraction& contraction, Emission& emission);
bool scalar_contraction_applies(const ContractionTraits& traits, const DeviceTraits& device,
                                const PlanOptions& options);
void emit_scalar_contraction(Contraction& contraction, Emission& emission);
bool depthwise_contraction_applies(const ContractionTraits& traits, const DeviceTraits& device,
                                   const PlanOptions& options);
OperandRequirement depthwise_contraction_requirement(const ContractionTraits& traits, std::size_t operand,
                                                     std::size_t rank, const PlanOptions& options);
void emit_depthwise_contraction(Contraction& contraction, Emission& emission);

/// The contraction in parts with no more batch axes than kernels have: the shortest ones are taken one step at a
/// time.
std::vector<Contraction> cut_to_batch_axes(const Contraction& contraction, Emission& emission);
/// The contraction in parts whose operands can be bound; weights that are constants are left to columns_at_once.
std::vector<Contraction> cut_to_bindings(const Contraction& contraction, Emission& emission);

// What variants share.

/// Lets B be packed as [batch axes..., taps, channels, columns] with the last two padded to multiples with zeros;
/// b then says where it lies. Only where weights are constant.
void pack_weights(Contraction& contraction, DType dtype, std::int64_t channel_multiple, std::int64_t column_multiple,
                  Emission& emission);

/// Whether an expression is a multiple of a number, for all sizes that the structure serves.
bool is_multiple(const Dim& value, std::int64_t factor, Assumptions& assumptions);
/// Whether offset and strides along batch and row axes are multiples of a number.
bool rows_are_aligned(const ContractionOperand& operand, std::int64_t factor, Assumptions& assumptions);

/// Which operands kernels may load or store in vectors of columns: bit 0 is the output, bit i operand i of the
/// epilogue.
std::uint32_t vector_operands(const Contraction& contraction, std::int64_t vector, Assumptions& assumptions);

/// The specialization constants from TRANSPOSED on, and the parameters from LOOPS_AT on, of contraction_loops.glsl.
void append_window_constants(const ContractionWindow& window, std::vector<std::uint32_t>& constants);
void append_loops(const Contraction& contraction, ParameterWriter& parameters);
/// Types of the epilogue's operands, packed.
std::uint32_t epilogue_dtypes(const Contraction& contraction);
/// The chain with the types of the sums and of the epilogue's operands.
EncodedChain encode_epilogue(const Contraction& contraction);
/// The highest capability level that any operand or the chain needs.
KernelLevel capability_level(const Contraction& contraction, const EncodedChain& chain);
/// Output, A, B and three epilogue operands; those that are not there repeat another.
std::vector<StorageAccess> contraction_bindings(const Contraction& contraction);

}  // namespace lapilli
