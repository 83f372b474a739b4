#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "import/onnx/model.h"

namespace lapilli::onnx {

/// The subgraphs of an attribute: none unless it is a graph or a list of graphs.
std::span<const Graph> subgraphs(const Attribute& attribute) noexcept;
std::span<Graph> subgraphs(Attribute& attribute) noexcept;

/// Calls `visit(const Node&)` for every node in order, and after each for those of its subgraphs.
template <class Visitor>
void for_each_node(const std::vector<Node>& nodes, Visitor&& visit) {
  for (const Node& node : nodes) {
    visit(node);
    for (const Attribute& attribute : node.attributes) {
      for (const Graph& graph : subgraphs(attribute)) for_each_node(graph.nodes, visit);
    }
  }
}

/// The same for all nodes of a model: those of the graph first, then those of its functions.
template <class Visitor>
void for_each_node(const Model& model, Visitor&& visit) {
  for_each_node(model.graph.nodes, visit);
  for (const auto& [key, function] : model.functions) for_each_node(function.nodes, visit);
}

/// The values of graphs around it that a graph reads, in its nodes, in their subgraphs or as its own outputs. The
/// graph is valid (validate.h).
std::set<std::string, std::less<>> captured_values(const Graph& graph);

}  // namespace lapilli::onnx
