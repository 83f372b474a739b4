#include "ops/movement.h"
#include "ops/pointwise.h"
#include "plan/families.h"
#include "plan/loop_nest.h"

namespace lapilli {
namespace {

// The operand of a region: loops move along axes of the placement.
NestOperand region_operand(const Placement& placement, std::span<const Dim> start,
                           const std::vector<RegionLoop>& loops, int RegionLoop::* axis, Dim RegionLoop::* step) {
  NestOperand operand{placement.storage, placement.dtype, placement.offset, {}};
  for (std::size_t i = 0; i < start.size(); ++i) operand.offset = operand.offset + start[i] * placement.strides[i];
  for (const RegionLoop& loop : loops) {
    operand.strides.push_back(loop.*axis < 0 ? Dim(0)
                                             : loop.*step * placement.strides[static_cast<std::size_t>(loop.*axis)]);
  }
  return operand;
}

// Writes one element of device memory to every element of a value.
std::vector<std::uint32_t> emit_broadcast(const Placement& source, const Placement& target,
                                          std::span<const Dim> shape, Emission& emission) {
  LoopNest nest;
  nest.sizes.assign(shape.begin(), shape.end());
  nest.output = {target.storage, target.dtype, target.offset, target.strides};
  nest.inputs.push_back({source.storage, source.dtype, source.offset, std::vector<Dim>(shape.size(), Dim(0))});
  return emit_loop_nest(std::move(nest), emission);
}

// Inputs that were computed in their place are not copied.
void emit_concat(const Concat& op, const Node& node, Emission& emission) {
  const Graph& graph = emission.graph();
  const auto axis = static_cast<std::size_t>(op.axis());
  const Shape& whole = graph.fact(node.outputs[0]).shape;
  Dim start = 0;
  for (const ValueId input : node.inputs) {
    const Shape& shape = graph.fact(input).shape;
    const Placement source = emission.placement(input), output = emission.placement(node.outputs[0]);
    const Placement target = emission.part_of(output, whole, axis, start, shape[axis]);
    const bool in_place = emission.whole_of(source.storage) == emission.whole_of(target.storage) &&
                          source.offset == target.offset && same_strides(shape, source.strides, target.strides);
    if (!in_place) emit_copy(source, target, shape, emission);
    start = start + shape[axis];
  }
}

}  // namespace

std::vector<std::uint32_t> emit_fill(const Placement& target, std::span<const Dim> shape, const Tensor& fill,
                                     Emission& emission) {
  LoopNest nest;
  nest.sizes.assign(shape.begin(), shape.end());
  nest.output = {target.storage, target.dtype, target.offset, target.strides};
  nest.chain.input_count = 0;
  const DType dtype = register_dtype(target.dtype);
  Immediate value = fill.defined() ? Immediate::of_tensor(fill) : Immediate{};
  value.dtype = dtype;
  nest.chain.add(value);
  nest.chain.add(PointwiseFunction::identity, dtype, {0, 0, 0});
  return emit_loop_nest(std::move(nest), emission);
}

void emit_pointwise(const Node& node, Emission& emission) {
  const auto& op = static_cast<const Pointwise&>(*node.op);
  const Graph& graph = emission.graph();
  const Shape& shape = graph.fact(node.outputs[0]).shape;
  const Placement& output = emission.placement(node.outputs[0]);
  LoopNest nest;
  nest.sizes = shape;
  nest.output = {output.storage, output.dtype, output.offset, output.strides};
  nest.chain = op.chain();
  for (const ValueId input : node.inputs) {
    nest.inputs.push_back(
        broadcast_operand(emission.placement(input), graph.fact(input).shape, shape, emission.assumptions()));
  }
  emit_loop_nest(std::move(nest), emission);
}

LayoutChoice choose_pointwise_layouts(const LayoutQuery& query) {
  LayoutChoice choice = follow_inputs(query);
  for (std::size_t i = 0; i < query.node.inputs.size(); ++i) choice.replaceable.push_back(i);
  return choice;
}

void emit_copy(const Placement& source, const Placement& target, std::span<const Dim> shape, Emission& emission) {
  LoopNest nest;
  nest.sizes.assign(shape.begin(), shape.end());
  nest.output = {target.storage, target.dtype, target.offset, target.strides};
  nest.inputs.push_back({source.storage, source.dtype, source.offset, source.strides});
  emit_loop_nest(std::move(nest), emission);
}

LayoutChoice choose_movement_layouts(const LayoutQuery& query) {
  // A transposition reads any layout; its output is row-major, as the axes have new meanings.
  if (operator_as<Transpose>(query.node) != nullptr || operator_as<Expand>(query.node) != nullptr) {
    return {{}, {Layout::row_major(query.graph.fact(query.node.outputs[0]).shape.size())}};
  }
  return follow_inputs(query);
}

void emit_movement(const Node& node, Emission& emission) {
  if (const auto* concat = operator_as<Concat>(node)) return emit_concat(*concat, node, emission);
  const auto& op = static_cast<const Movement&>(*node.op);
  const Graph& graph = emission.graph();
  const std::vector<Fact> facts = graph.input_facts(node);
  const Placement output = emission.placement(node.outputs[0]);
  std::vector<std::uint32_t> after;
  const Shape& shape = graph.fact(node.outputs[0]).shape;
  if (op.has_gaps()) {
    after = node.inputs.size() > 1 ? emit_broadcast(emission.placement(node.inputs[1]), output, shape, emission)
                                   : emit_fill(output, shape, op.fill(), emission);
  }
  for (const Region& region : op.regions(facts, emission.assumptions())) {
    LoopNest nest;
    for (const RegionLoop& loop : region.loops) nest.sizes.push_back(loop.size);
    nest.output =
        region_operand(output, region.target_start, region.loops, &RegionLoop::target_axis, &RegionLoop::target_step);
    nest.inputs.push_back(region_operand(emission.placement(node.inputs[region.input]), region.source_start,
                                         region.loops, &RegionLoop::source_axis, &RegionLoop::source_step));
    emit_loop_nest(std::move(nest), emission, after);
  }
}

}  // namespace lapilli
