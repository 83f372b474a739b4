#include <algorithm>
#include <array>

#include "ops/gather.h"
#include "ops/scatter.h"
#include "plan/families.h"
#include "plan/rows.h"

namespace lapilli {
namespace {

constexpr std::size_t most_operands = 3;  // of the epilogue, beside the result (src/kernels/include/source.glsl)

NestOperand operand_along(const Placement& placement, std::span<const int> axes) {
  NestOperand operand{placement.storage, placement.dtype, placement.offset, {}};
  for (const int axis : axes)
    operand.strides.push_back(axis < 0 ? Dim(0) : placement.strides[static_cast<std::size_t>(axis)]);
  return operand;
}

// Output, source, epilogue, indices.
LoopNest gather_nest(const GatherOperator& op, const GatherMap& map, const Node& node, Emission& emission) {
  LoopNest nest;
  nest.sizes = emission.graph().fact(node.outputs[0]).shape;
  nest.output = placed_operand(emission.placement(node.outputs[0]));
  nest.inputs = {operand_along(emission.placement(node.inputs[0]), map.data_axis)};
  for (NestOperand& operand : epilogue_operands(op, node, emission)) nest.inputs.push_back(std::move(operand));
  nest.inputs.push_back(operand_along(emission.placement(node.inputs[1]), map.index_axis));
  return nest;
}

// What src/kernels/include/places.glsl reads.
void write_places(const GatherMap& map, std::span<const Dim> shape, const Placement& data, const Placement& indices,
                  ParameterWriter& parameters) {
  parameters.value(map.tuple_axis < 0 ? Dim(0) : indices.strides[static_cast<std::size_t>(map.tuple_axis)]);
  for (const int axis : map.chosen) {
    const auto at = static_cast<std::size_t>(axis);
    parameters.value(shape[at]).value(data.strides[at]);
  }
}

// Loops over the updates. Where `meets`, those along axes of the data never meet in one place; the others may, and
// keep their order.
RowNest scatter_nest(const GatherMap& map, const Node& node, const Placement& output, bool meets,
                     Emission& emission) {
  LoopNest nest;
  nest.sizes = emission.graph().fact(node.inputs[2]).shape;
  nest.output = operand_along(output, map.data_axis);
  nest.inputs = {placed_operand(emission.placement(node.inputs[2])),
                 operand_along(emission.placement(node.inputs[1]), map.index_axis),
                 {output.storage, DType::uint32, 0, Layout::row_major(nest.sizes.size()).strides(nest.sizes)}};
  std::vector<bool> may_meet;
  for (const int axis : map.data_axis) may_meet.push_back(meets && axis < 0);
  RowNest rows = cut_into_rows(nest, may_meet);
  rows.inner.inputs.resize(2);
  rows.inner.output = {{}, DType::undefined, 0, Layout::row_major(rows.inner.sizes.size()).strides(rows.inner.sizes)};
  simplify_loops(rows.outer, emission.assumptions().sizes());
  simplify_loops(rows.inner, emission.assumptions().sizes());
  return rows;
}

// As src/kernels/scatter.comp has them.
enum class ScatterMode : std::uint32_t { join = 0, claim = 1, write_claimed = 2 };

void emit_updates(const Node& node, const RowNest& rows, const Placement& output, ScatterMode mode, StorageId claims,
                  Emission& emission) {
  const auto& op = static_cast<const Scatter&>(*node.op);
  const std::vector<Fact> facts = emission.graph().input_facts(node);
  const GatherMap map = op.places().map(std::span(facts).first(2));
  const Placement indices = emission.placement(node.inputs[1]);
  const EncodedChain chain = encode_chain({}, {{facts[0].dtype}}, epilogue_limits.steps);
  const std::uint32_t invocations = choose_invocations(emission.traits());
  const auto operands = std::span(rows.outer.inputs).first(2);
  const bool moves = op.function() == PointwiseFunction::identity && output.dtype == operands[0].dtype;
  const DType dtype = moves ? moved_dtype(output.dtype) : output.dtype;

  SymbolicDispatch dispatch;
  dispatch.kernel = "scatter";
  dispatch.capabilities = level_of_all(operands, level_of(output.dtype));
  dispatch.specialization = {invocations,
                             static_cast<std::uint32_t>(op.function()),
                             static_cast<std::uint32_t>(rows.outer.sizes.size()),
                             static_cast<std::uint32_t>(rows.inner.sizes.size()),
                             static_cast<std::uint32_t>(map.chosen.size()),
                             static_cast<std::uint32_t>(dtype),
                             static_cast<std::uint32_t>(moves ? dtype : operands[0].dtype),
                             static_cast<std::uint32_t>(indices.dtype),
                             static_cast<std::uint32_t>(mode)};
  dispatch.specialization.insert(dispatch.specialization.end(), chain.constants.begin(), chain.constants.end());
  dispatch.bindings.push_back({output.storage, Access::read_write});
  for (const NestOperand& input : operands) dispatch.bindings.push_back({input.storage, Access::read});
  dispatch.bindings.push_back({claims, mode == ScatterMode::claim ? Access::read_write : Access::read});

  ParameterWriter parameters;
  parameters.value(rows.rows()).value(rows.length());
  write_operand(rows.outer.output, parameters);
  for (const NestOperand& input : rows.outer.inputs) write_operand(input, parameters);
  write_divisors(rows.outer.sizes, parameters);
  for (const NestOperand& input : rows.inner.inputs) {
    for (const Dim& stride : input.strides) parameters.value(stride);
  }
  write_divisors(rows.inner.sizes, parameters);
  write_places(map, facts[0].shape, output, indices, parameters);
  dispatch.parameters = parameters.take();
  dispatch.groups = Dim::ceil_divide(rows.rows(), std::int64_t{invocations});
  emission.add_dispatch(std::move(dispatch));
}

}  // namespace

void emit_gather(const Node& node, Emission& emission) {
  const auto& op = static_cast<const GatherOperator&>(*node.op);
  const std::vector<Fact> facts = emission.graph().input_facts(node);
  const GatherMap map = op.map(std::span(facts).first(2));
  const Placement data = emission.placement(node.inputs[0]), indices = emission.placement(node.inputs[1]);
  LoopNest nest = gather_nest(op, map, node, emission);
  const Dim count = element_count(nest.sizes);
  simplify_loops(nest, emission.assumptions().sizes());

  const bool moves = op.epilogue().empty() && data.dtype == nest.output.dtype;
  if (moves) nest.inputs[0].dtype = nest.output.dtype = moved_dtype(data.dtype);
  const auto bound = std::span(nest.inputs), operands = bound.subspan(1, nest.inputs.size() - 2);
  std::vector<DType> chain_inputs{moves ? nest.inputs[0].dtype : facts[0].dtype};
  for (const NestOperand& operand : operands) chain_inputs.push_back(operand.dtype);
  const EncodedChain chain = encode_chain(op.epilogue(), chain_inputs, epilogue_limits.steps);
  const std::uint32_t invocations = choose_invocations(emission.traits());

  SymbolicDispatch dispatch;
  dispatch.kernel = "gather";
  dispatch.capabilities = level_of_all(bound, std::max(chain.level, level_of(nest.output.dtype)));
  dispatch.specialization = {invocations,
                             static_cast<std::uint32_t>(nest.sizes.size()),
                             static_cast<std::uint32_t>(map.chosen.size()),
                             static_cast<std::uint32_t>(nest.inputs[0].dtype),
                             static_cast<std::uint32_t>(nest.output.dtype),
                             static_cast<std::uint32_t>(indices.dtype),
                             static_cast<std::uint32_t>(operands.size()),
                             packed_dtypes(operands)};
  dispatch.specialization.insert(dispatch.specialization.end(), chain.constants.begin(), chain.constants.end());
  dispatch.bindings.push_back({nest.output.storage, Access::write});
  for (const NestOperand& input : bound.first(bound.size() - 1)) {
    dispatch.bindings.push_back({input.storage, Access::read});
  }
  dispatch.bindings.resize(2 + most_operands, dispatch.bindings.back());
  dispatch.bindings.push_back({indices.storage, Access::read});

  ParameterWriter parameters;
  parameters.value(count);
  write_operand(nest.output, parameters);
  for (const NestOperand& input : nest.inputs) write_operand(input, parameters);
  write_places(map, facts[0].shape, data, indices, parameters);
  write_divisors(nest.sizes, parameters);
  dispatch.parameters = parameters.take();
  dispatch.parameters.insert(dispatch.parameters.end(), chain.immediates.begin(), chain.immediates.end());
  dispatch.groups = Dim::ceil_divide(count, std::int64_t{invocations});
  emission.add_dispatch(std::move(dispatch));
}

void emit_scatter(const Node& node, Emission& emission) {
  const auto& op = static_cast<const Scatter&>(*node.op);
  const std::vector<Fact> facts = emission.graph().input_facts(node);
  const GatherMap map = op.places().map(std::span(facts).first(2));
  const Placement data = emission.placement(node.inputs[0]), output = emission.placement(node.outputs[0]);
  emit_copy(data, output, facts[0].shape, emission);
  const RowNest rows = scatter_nest(map, node, output, true, emission);
  const bool replaces = op.function() == PointwiseFunction::identity;
  if (!replaces || rows.length() == Dim(1)) {
    return emit_updates(node, rows, output, ScatterMode::join, emission.placement(node.inputs[1]).storage, emission);
  }
  const RowNest all = scatter_nest(map, node, output, false, emission);
  const std::array places{element_count(facts[0].shape)};
  const Placement claims = emission.add_arena(DType::uint32, places, Layout::row_major(1));
  emit_fill(claims, places, {}, emission);
  emit_updates(node, all, output, ScatterMode::claim, claims.storage, emission);
  emit_updates(node, all, output, ScatterMode::write_claimed, claims.storage, emission);
}

}  // namespace lapilli
