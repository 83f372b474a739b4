#pragma once

#include <span>

#include "passes/rewrite.h"

namespace lapilli {

// The parts of rewrite_rules(), one file each.
std::span<const Rule> simplification_rules();
std::span<const Rule> fusion_rules();

/// The only node that uses a value, when it is no output of the graph; else no_node. A node that uses it twice counts
/// once.
NodeId only_consumer(const Graph& graph, ValueId value);

}  // namespace lapilli
