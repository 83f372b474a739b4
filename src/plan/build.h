#pragma once

#include "ir/graph.h"
#include "plan/emission.h"
#include "plan/structure.h"
#include "program/device_traits.h"

namespace lapilli {

/// Turns a graph into dispatches for a device: layouts, places, kernels, order. The sizes in `assumptions` are those
/// that decisions are made for; the guards of the result say for which others they are right.
/// Throws Error (unsupported) that names the model's node.
Structure build_structure(const Graph& graph, Assumptions& assumptions, const DeviceTraits& traits,
                          const PlanOptions& options);

}  // namespace lapilli
