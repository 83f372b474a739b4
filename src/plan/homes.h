#pragma once

#include <map>
#include <optional>
#include <vector>

#include "ir/graph.h"

namespace lapilli {

/// The place of a value inside the output of a Concat: from `start` on along `axis`.
struct Home {
  ValueId whole{};
  std::size_t axis = 0;
  Dim start;
};

/// Which values can be computed where a Concat wants them, so that it has nothing to copy. A Concat whose inputs lie
/// side by side in another's output has its own output there. A view, a constant, an input of the graph, and what a
/// Concat takes twice are at home nowhere.
std::map<ValueId, Home> find_homes(const Graph& graph);

/// Where a Slice begins along each axis, if its output may be its input's memory: neighbours are neighbours in both,
/// and it is no small piece that would keep a large input alive.
std::optional<std::vector<Dim>> viewed_start(const Graph& graph, const Node& node, Assumptions& assumptions);

}  // namespace lapilli
