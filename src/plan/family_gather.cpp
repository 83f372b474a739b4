#include <algorithm>
#include <array>

#include "base/packed.h"
#include "ops/gather.h"
#include "ops/scatter.h"
#include "plan/epilogue.h"
#include "plan/families.h"
#include "plan/rows.h"
#include "plan/windows.h"

namespace lapilli {
namespace {

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

// Places of the data along the chosen axis that are bound at once.
struct PlaceWindow {
  std::int64_t first = 0, count = 0;
  StorageWindow memory;
  Dim offset;  // of the data, from the window's begin and for its first place
};

// None where all of the data can be bound. A table of which the device binds a part at a time, such as one row for
// each word, is gone through in as many parts, and results whose places lie elsewhere are left to other parts.
std::vector<PlaceWindow> place_windows(const GatherMap& map, std::span<const Dim> shape, const Placement& data,
                                       Emission& emission) {
  if (map.chosen.size() != 1 || !exceeds_bindings({&data.storage, 1}, emission)) return {};
  const auto chosen = static_cast<std::size_t>(map.chosen[0]);
  Assumptions& assumptions = emission.assumptions();
  const std::vector<std::int64_t> sizes = numbers(shape, assumptions), strides = numbers(data.strides, assumptions);
  CutOperand operand;
  operand.offset = assumptions.number(data.offset);
  operand.strides = {strides[chosen]};
  operand.width = static_cast<std::int64_t>(device_element_bytes(data.dtype));
  operand.storage = assumptions.number(emission.storage_bytes(data.storage));
  for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
    if (axis != chosen) operand.reach(strides[axis], sizes[axis] - 1);
  }
  const BindingLimits limits = binding_limits(emission.traits());
  std::vector<PlaceWindow> windows;
  for (const LoopPart& part : cut_loops({&sizes[chosen], 1}, {false}, {&operand, 1}, limits)) {
    const StorageWindow memory = window_of(operand, part, limits);
    const std::int64_t offset = operand.offset + part.starts[0] * strides[chosen] - memory.begin / operand.width;
    windows.push_back({part.starts[0], part.sizes[0], memory, offset});
  }
  return windows;
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
// keep their order. In parts where there are more loops than kernels have.
std::vector<RowNest> scatter_nests(const GatherMap& map, const Node& node, const Placement& output, bool meets,
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
  merge_loops(rows.outer, emission.assumptions().sizes());
  simplify_loops(rows.inner, emission.assumptions().sizes());
  const std::size_t loops = rows.outer.sizes.size();
  std::vector<RowNest> parts;
  for (LoopNest& part : cut_to_kernel_loops(std::move(rows.outer), loops, emission))
    parts.push_back({std::move(part), rows.inner});
  return parts;
}

// As src/kernels/scatter.comp has them.
enum class ScatterMode : std::uint32_t { join = 0, claim = 1, write_claimed = 2 };

void emit_part(const Node& node, const RowNest& rows, const Placement& output, ScatterMode mode, StorageId claims,
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

void emit_updates(const Node& node, std::span<const RowNest> parts, const Placement& output, ScatterMode mode,
                  StorageId claims, Emission& emission) {
  for (const RowNest& rows : parts) emit_part(node, rows, output, mode, claims, emission);
}

}  // namespace

namespace {

void emit_gather_of(const PlaceWindow* window, const Node& node, Emission& emission) {
  const auto& op = static_cast<const GatherOperator&>(*node.op);
  const std::vector<Fact> facts = emission.graph().input_facts(node);
  const GatherMap map = op.map(std::span(facts).first(2));
  const Placement data = emission.placement(node.inputs[0]), indices = emission.placement(node.inputs[1]);
  LoopNest nest = gather_nest(op, map, node, emission);
  if (window != nullptr) {
    nest.inputs[0].window = window->memory;
    nest.inputs[0].offset = window->offset;
  }
  const bool moves = op.epilogue().empty() && data.dtype == nest.output.dtype;
  if (moves) nest.inputs[0].dtype = nest.output.dtype = moved_dtype(data.dtype);
  const DType held = moves ? nest.inputs[0].dtype : facts[0].dtype;
  ElementDispatch dispatch("gather", std::move(nest), op, node, held, choose_invocations(emission.traits()),
                           emission);
  const std::array constants{dispatch.invocations(),
                             dispatch.loops(),
                             static_cast<std::uint32_t>(map.chosen.size()),
                             static_cast<std::uint32_t>(dispatch.source().dtype),
                             static_cast<std::uint32_t>(dispatch.nest().output.dtype),
                             static_cast<std::uint32_t>(indices.dtype),
                             dispatch.operand_count(),
                             dispatch.operand_dtypes(),
                             window != nullptr ? 1U : 0U};
  dispatch.bind(indices.storage);
  write_places(map, facts[0].shape, data, indices, dispatch.parameters_after());
  if (window != nullptr) dispatch.parameters_after().value(Dim(window->first)).value(Dim(window->count));
  dispatch.emit(constants);
}

}  // namespace

void emit_gather(const Node& node, Emission& emission) {
  const auto& op = static_cast<const GatherOperator&>(*node.op);
  const std::vector<Fact> facts = emission.graph().input_facts(node);
  const GatherMap map = op.map(std::span(facts).first(2));
  const auto windows = place_windows(map, facts[0].shape, emission.placement(node.inputs[0]), emission);
  if (windows.empty()) emit_gather_of(nullptr, node, emission);
  for (const PlaceWindow& window : windows) emit_gather_of(&window, node, emission);
}

// Claims lie as the output does.
LayoutChoice choose_scatter_layouts(const LayoutQuery& query) {
  LayoutChoice choice = follow_inputs(query);
  choice.dense_outputs = true;
  return choice;
}

void emit_scatter(const Node& node, Emission& emission) {
  const auto& op = static_cast<const Scatter&>(*node.op);
  const std::vector<Fact> facts = emission.graph().input_facts(node);
  const GatherMap map = op.places().map(std::span(facts).first(2));
  const Placement data = emission.placement(node.inputs[0]), output = emission.placement(node.outputs[0]);
  emit_copy(data, output, facts[0].shape, emission);
  const std::vector<RowNest> rows = scatter_nests(map, node, output, true, emission);
  const bool replaces = op.function() == PointwiseFunction::identity;
  if (!replaces || rows.empty() || rows.front().length() == Dim(1)) {
    return emit_updates(node, rows, output, ScatterMode::join, emission.placement(node.inputs[1]).storage, emission);
  }
  const std::vector<RowNest> all = scatter_nests(map, node, output, false, emission);
  const std::array places{element_count(facts[0].shape)};
  const Placement claims = emission.add_arena(DType::uint32, places, Layout::row_major(1));
  emit_fill(claims, places, {}, emission);
  emit_updates(node, all, output, ScatterMode::claim, claims.storage, emission);
  emit_updates(node, all, output, ScatterMode::write_claimed, claims.storage, emission);
}

}  // namespace lapilli
