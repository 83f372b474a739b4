#include "plan/half_range.h"

#include <algorithm>
#include <optional>

#include "ops/normalization.h"
#include "ops/pointwise.h"
#include "ops/reduction.h"
#include "ops/scan.h"

namespace lapilli {
namespace {

bool is_power(const Node& node, const PointwiseStep& step) {
  if (step.function == PointwiseFunction::power) return true;
  const auto value_of = [&](std::uint8_t argument) {
    return argument < node.inputs.size() ? std::optional(node.inputs[argument]) : std::nullopt;
  };
  const auto [left, right, unused] = step.arguments;
  return step.function == PointwiseFunction::multiply &&
         (left == right || (value_of(left) && value_of(left) == value_of(right)));
}

bool counts(const Graph& graph, const Node& node) {
  return std::ranges::any_of(node.inputs, [&](ValueId input) {
    if (input == no_value) return false;
    const DType dtype = graph.fact(input).dtype;
    return is_integer(dtype) && bit_width(dtype) > 8;
  });
}

bool grows(const Graph& graph, const Node& node) {
  if (operator_as<Scan>(node) != nullptr) return true;
  if (const auto* reduction = operator_as<Reduction>(node)) {
    const ReductionFunction function = reduction->function();
    return function == ReductionFunction::sum || function == ReductionFunction::mean ||
           function == ReductionFunction::product;
  }
  const auto* pointwise = operator_as<Pointwise>(node);
  if (pointwise == nullptr) return false;
  return counts(graph, node) || std::ranges::any_of(pointwise->chain().steps,
                                                    [&](const PointwiseStep& step) { return is_power(node, step); });
}

// What computes with elements of any type.
bool takes_any(const Node& node) {
  return operator_as<Pointwise>(node) != nullptr || operator_as<Reduction>(node) != nullptr ||
         operator_as<Scan>(node) != nullptr || operator_as<Normalization>(node) != nullptr;
}

}  // namespace

bool needs_float32(const Graph& graph, ValueId id) {
  const GraphValue& value = graph.value(id);
  return value.fact.dtype == DType::float32 && value.producer != no_node && !value.consumers.empty() &&
         grows(graph, graph.node(value.producer)) &&
         std::ranges::all_of(value.consumers, [&](NodeId consumer) { return takes_any(graph.node(consumer)); });
}

}  // namespace lapilli
