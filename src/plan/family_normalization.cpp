#include <array>

#include "ops/normalization.h"
#include "plan/epilogue.h"
#include "plan/families.h"
#include "plan/rows.h"
#include "plan/windows.h"

namespace lapilli {
namespace {

// Cuts the loop along axis 1 in two: groups, and the channels of each.
void cut_channels(LoopNest& nest, std::int64_t groups) {
  const Dim channels = Dim::floor_divide(nest.sizes[1], groups);
  nest.sizes[1] = channels;
  nest.sizes.insert(nest.sizes.begin() + 1, Dim(groups));
  const auto cut = [&](NestOperand& operand) {
    operand.strides.insert(operand.strides.begin() + 1, operand.strides[1] * channels);
  };
  cut(nest.output);
  for (NestOperand& input : nest.inputs) cut(input);
}

RowNest row_nest(const Normalization& op, const Node& node, Emission& emission) {
  const NormalizationAttributes& attributes = op.normalization();
  const Shape& shape = emission.graph().fact(node.outputs[0]).shape;
  LoopNest nest;
  nest.sizes = shape;
  nest.output = placed_operand(emission.placement(node.outputs[0]));
  nest.inputs = {placed_operand(emission.placement(node.inputs[0]))};
  for (NestOperand& operand : epilogue_operands(op, node, emission)) nest.inputs.push_back(std::move(operand));
  if (attributes.statistics) {
    nest.inputs.push_back(placed_operand(emission.placement(node.outputs[1])));
    nest.inputs.push_back(placed_operand(emission.placement(node.outputs[2])));
  }
  std::vector<bool> is_inner(shape.size(), false);
  for (const int axis : attributes.axes) is_inner[static_cast<std::size_t>(axis)] = true;
  if (attributes.channel_groups > 1) {
    cut_channels(nest, attributes.channel_groups);
    is_inner.insert(is_inner.begin() + 1, false);
  }
  RowNest rows = cut_into_rows(nest, is_inner);
  // The statistics have one element a row.
  if (attributes.statistics) rows.inner.inputs.resize(rows.inner.inputs.size() - 2);
  simplify_rows(rows, emission.assumptions().sizes());
  return rows;
}

std::vector<ParameterWord> row_parameters(const RowNest& rows, double epsilon, const EncodedChain& chain) {
  ParameterWriter parameters;
  parameters.value(rows.rows()).value(rows.length()).real(static_cast<float>(epsilon));
  write_operand(rows.outer.output, parameters);
  for (const NestOperand& input : rows.outer.inputs) write_operand(input, parameters);
  write_divisors(rows.outer.sizes, parameters);
  for (const Dim& stride : rows.inner.output.strides) parameters.value(stride);
  for (const NestOperand& input : rows.inner.inputs) {
    for (const Dim& stride : input.strides) parameters.value(stride);
  }
  write_divisors(rows.inner.sizes, parameters);
  std::vector<ParameterWord> words = parameters.take();
  words.insert(words.end(), chain.immediates.begin(), chain.immediates.end());
  return words;
}

void emit_rows(const Node& node, const RowNest& rows, Emission& emission) {
  const auto& op = static_cast<const Normalization&>(*node.op);
  const NormalizationAttributes& attributes = op.normalization();
  const std::size_t operand_count = node.inputs.size() - op.own_input_count();
  const auto bound = std::span(rows.outer.inputs).first(1 + operand_count), operands = bound.subspan(1);
  const EncodedChain chain = encode_epilogue(op.epilogue(), emission.graph().fact(node.inputs[0]).dtype, operands);
  const DType output = rows.outer.output.dtype;
  const DType statistics = attributes.statistics ? rows.outer.inputs.back().dtype : DType::float32;

  SymbolicDispatch dispatch;
  dispatch.kernel = "normalization";
  dispatch.capabilities = level_of_all(bound, std::max({chain.level, level_of(output), level_of(statistics)}));
  const RowSchedule schedule = choose_row_schedule(rows, false, emission);
  dispatch.specialization = {schedule.invocations,
                             schedule.lanes,
                             schedule.lanes_adjacent ? 1U : 0U,
                             static_cast<std::uint32_t>(attributes.kind),
                             attributes.statistics ? 1U : 0U,
                             static_cast<std::uint32_t>(rows.outer.sizes.size()),
                             static_cast<std::uint32_t>(rows.inner.sizes.size()),
                             static_cast<std::uint32_t>(rows.outer.inputs[0].dtype),
                             static_cast<std::uint32_t>(output),
                             static_cast<std::uint32_t>(statistics),
                             static_cast<std::uint32_t>(operand_count),
                             packed_dtypes(operands)};
  dispatch.specialization.insert(dispatch.specialization.end(), chain.constants.begin(), chain.constants.end());
  dispatch.bindings = epilogue_bindings(rows.outer, operand_count);
  if (attributes.statistics) {
    for (const NestOperand& statistic : std::span(rows.outer.inputs).last(2)) {
      dispatch.bindings.push_back(access_of(statistic, Access::write));
    }
  } else {
    dispatch.bindings.resize(dispatch.bindings.size() + 2, dispatch.bindings.back());
  }
  dispatch.parameters = row_parameters(rows, attributes.epsilon, chain);
  dispatch.groups = schedule.groups(rows.rows());
  emission.add_dispatch(std::move(dispatch));
}

}  // namespace

void emit_normalization(const Node& node, Emission& emission) {
  const RowNest whole = row_nest(static_cast<const Normalization&>(*node.op), node, emission);
  for (const RowNest& rows : cut_to_bindings(whole, true, emission)) emit_rows(node, rows, emission);
}

}  // namespace lapilli
