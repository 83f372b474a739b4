#include <array>

#include "ops/tree_ensemble.h"
#include "plan/families.h"
#include "plan/rows.h"

namespace lapilli {
namespace {

using enum TreeEnsemble::Input;

struct TreeCall {
  DType dtype = DType::undefined;
  Dim rows, trees, targets;
  Placement leaves;  // [rows, trees]
};

void emit_walk(const Node& node, const TreeCall& call, Emission& emission) {
  const Graph& graph = emission.graph();
  const Placement rows = emission.placement(node.inputs[rows_input]);
  SymbolicDispatch dispatch;
  dispatch.kernel = "tree_walk";
  dispatch.capabilities = level_of(call.dtype);
  const std::uint32_t invocations = choose_invocations(emission.traits());
  dispatch.specialization = {invocations};
  dispatch.bindings = {{call.leaves.storage, Access::write}, {rows.storage, Access::read}};
  for (const TreeEnsemble::Input input : {nodes_input, splits_input, roots_input}) {
    dispatch.bindings.push_back({emission.placement(node.inputs[input]).storage, Access::read});
  }
  const Dim elements = call.rows * call.trees;
  ParameterWriter parameters;
  parameters.value(elements).divisor(call.trees).value(graph.fact(node.inputs[rows_input]).shape[1]);
  parameters.value(graph.fact(node.inputs[nodes_input]).shape[0]).value(call.leaves.offset).value(rows.offset);
  dispatch.parameters = parameters.take();
  dispatch.groups = Dim::ceil_divide(elements, invocations);
  emission.add_dispatch(std::move(dispatch));
}

void emit_totals(const Node& node, const TreeCall& call, const Placement& totals, Emission& emission) {
  const Dim results = call.rows * call.targets;
  RowNest nest;
  nest.outer = {{results}, {}, {{{}, DType::undefined, 0, {call.trees}}}, {}};
  nest.inner = {{call.trees}, {}, {{{}, DType::undefined, 0, {Dim(1)}}}, {}};
  const RowSchedule schedule = choose_row_schedule(nest, false, emission);
  SymbolicDispatch dispatch;
  dispatch.kernel = "tree_totals";
  dispatch.capabilities = level_of(call.dtype);
  const auto& op = static_cast<const TreeEnsemble&>(*node.op);
  dispatch.specialization = {schedule.invocations, schedule.lanes, static_cast<std::uint32_t>(op.function())};
  dispatch.bindings = {{totals.storage, Access::write}, {call.leaves.storage, Access::read}};
  for (const TreeEnsemble::Input input : {starts_input, targets_input, weights_input}) {
    dispatch.bindings.push_back({emission.placement(node.inputs[input]).storage, Access::read});
  }
  ParameterWriter parameters;
  parameters.value(results).divisor(call.targets).value(call.trees).value(totals.offset);
  dispatch.parameters = parameters.take();
  dispatch.groups = schedule.groups(results);
  emission.add_dispatch(std::move(dispatch));
}

}  // namespace

// Splits and sums need all bits of the model's numbers, in every precision.
LayoutChoice choose_tree_ensemble_layouts(const LayoutQuery& query) {
  LayoutChoice choice = require_row_major(query);
  for (const TreeEnsemble::Input input : {rows_input, splits_input, weights_input}) {
    choice.inputs[input].dtype = query.graph.fact(query.node.inputs[input]).dtype;
  }
  return choice;
}

void emit_tree_ensemble(const Node& node, Emission& emission) {
  const Graph& graph = emission.graph();
  const Fact& rows = graph.fact(node.inputs[rows_input]);
  const Shape& shape = graph.fact(node.outputs[0]).shape;
  TreeCall call{rows.dtype, rows.shape[0], graph.fact(node.inputs[roots_input]).shape[0], shape[1], {}};
  const std::array leaves{call.rows, call.trees};
  call.leaves = emission.add_arena(DType::int32, leaves, Layout::row_major(2));
  emit_walk(node, call, emission);
  const Placement output = emission.placement(node.outputs[0]);
  const bool direct = output.dtype == call.dtype;
  const Placement totals = direct ? output : emission.add_arena(call.dtype, shape, Layout::row_major(2));
  emit_totals(node, call, totals, emission);
  if (!direct) emit_copy(totals, output, shape, emission);
}

}  // namespace lapilli
