// Convolutions with one channel in each group: src/kernels/contraction_depthwise.comp.
#include <algorithm>

#include "base/checked.h"
#include "plan/contraction.h"

namespace lapilli {
namespace {

// The groups become columns.
void make_groups_columns(Contraction& contraction) {
  contraction.columns = contraction.batch_sizes.empty() ? Dim(1) : contraction.batch_sizes[0];
  contraction.batch_sizes.clear();
  const auto turn = [](ContractionOperand& operand) {
    operand.column = operand.batch.empty() ? Dim(0) : operand.batch[0];
    operand.batch.clear();
  };
  turn(contraction.a);
  turn(contraction.b);
  turn(contraction.output);
  for (ContractionOperand& operand : contraction.epilogue) turn(operand);
}

}  // namespace

bool depthwise_contraction_applies(const ContractionTraits& traits, const DeviceTraits&, const PlanOptions& options) {
  return traits.group > 1 && traits.group % 4 == 0 && traits.channels == 1 && traits.columns == 1 &&
         traits.constant_weights && options.channels_last && !traits.wide_types &&
         (traits.stored_dtype == DType::float32 || traits.stored_dtype == DType::float16);
}

OperandRequirement depthwise_contraction_requirement(const ContractionTraits& traits, std::size_t operand,
                                                     std::size_t rank, const PlanOptions&) {
  if (operand == 1) return {Layout::row_major(rank), std::nullopt};
  return {Layout::channels_last(rank), traits.stored_dtype, traits.stored_dtype == DType::float16 ? 8 : 4};
}

void emit_depthwise_contraction(Contraction& contraction, Emission& emission) {
  Assumptions& assumptions = emission.assumptions();
  make_groups_columns(contraction);
  pack_weights(contraction, DType::float32, 1, 8, emission);
  const bool eight = contraction.a.dtype == DType::float16 && is_multiple(contraction.columns, 8, assumptions) &&
                     rows_are_aligned(contraction.a, 8, assumptions) && !emission.traits().software;
  const std::int64_t vector = eight ? 8 : 4;
  if (contraction.a.column != Dim(1) || !rows_are_aligned(contraction.a, 4, assumptions)) {
    fail(ErrorCode::internal, "a depthwise convolution got an input that does not have its channels innermost");
  }
  const std::int64_t vectors = divide_up(assumptions.number(contraction.columns), vector);
  // Longer strips only once every multiprocessor has work.
  const std::int64_t wanted = std::int64_t{2048} * std::max(emission.traits().compute_units, 16U);
  const std::int64_t work = contraction.rows().evaluate(assumptions.sizes()) * vectors;
  const std::int64_t strip = work >= 4 * wanted ? 4 : work >= 2 * wanted ? 2 : 1;
  const std::uint32_t group = emission.traits().software ? 8 : std::min(64U, emission.traits().max_group_invocations);

  const EncodedChain chain = encode_epilogue(contraction);
  const std::array dtypes{contraction.output.dtype, contraction.a.dtype, contraction.b.dtype};
  SymbolicDispatch dispatch;
  dispatch.kernel = "contraction_depthwise";
  dispatch.capabilities = capability_level(contraction, chain);
  dispatch.specialization = {group,
                             static_cast<std::uint32_t>(vector),
                             static_cast<std::uint32_t>(strip),
                             static_cast<std::uint32_t>(contraction.row_sizes.size()),
                             static_cast<std::uint32_t>(contraction.window.rank()),
                             pack_dtypes(dtypes),
                             static_cast<std::uint32_t>(contraction.epilogue.size()),
                             epilogue_dtypes(contraction),
                             vector_operands(contraction, vector, assumptions)};
  append_window_constants(contraction.window, dispatch.specialization);
  dispatch.specialization.insert(dispatch.specialization.end(), chain.constants.begin(), chain.constants.end());
  dispatch.bindings = contraction_bindings(contraction);
  ParameterWriter parameters;
  parameters.value(contraction.rows()).value(contraction.columns).divisor(vectors);
  append_loops(contraction, parameters);
  dispatch.parameters = parameters.take();
  dispatch.parameters.insert(dispatch.parameters.end(), chain.immediates.begin(), chain.immediates.end());
  dispatch.groups = Dim::ceil_divide(Dim::ceil_divide(contraction.rows(), strip) * vectors, group);
  dispatch.work = contraction.work();
  dispatch.tuned = true;
  emission.add_dispatch(std::move(dispatch));
}

}  // namespace lapilli
