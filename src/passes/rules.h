#pragma once

#include <optional>
#include <span>

#include "ops/pointwise.h"
#include "passes/rewrite.h"

namespace lapilli {

// The parts of rewrite_rules(), one file each.
std::span<const Rule> simplification_rules();
std::span<const Rule> contraction_rules();
std::span<const Rule> fusion_rules();

/// f(operand, constant), or the other way round, as importers make it: the result has the operand's shape.
struct NodeWithConstant {
  ValueId operand = no_value, constant = no_value;
};
std::optional<NodeWithConstant> match_with_constant(const Graph& graph, NodeId id, PointwiseFunction function);

/// The only node that uses a value, when it is no output of the graph; else no_node. A node that uses it twice counts
/// once.
NodeId only_consumer(const Graph& graph, ValueId value);

}  // namespace lapilli
