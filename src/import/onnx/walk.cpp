#include "import/onnx/walk.h"

#include <string_view>

namespace lapilli::onnx {
namespace {

using Names = std::set<std::string_view>;

/// The values that exist only inside a graph.
Names own_values(const Graph& graph) {
  Names names;
  for (const ValueInfo& input : graph.inputs) names.insert(input.name);
  for (const auto& [name, tensor] : graph.initializers) names.insert(name);
  for (const Node& node : graph.nodes) names.insert(node.outputs.begin(), node.outputs.end());
  return names;
}

Names captured_by(const Graph& graph) {
  const Names own = own_values(graph);
  Names captured;
  const auto read = [&](std::string_view name) {
    if (!name.empty() && !own.contains(name)) captured.insert(name);
  };
  for (const Node& node : graph.nodes) {
    for (const std::string& input : node.inputs) read(input);
    for (const Attribute& attribute : node.attributes) {
      for (const Graph& inner : subgraphs(attribute)) {
        for (const std::string_view name : captured_by(inner)) read(name);
      }
    }
  }
  for (const ValueInfo& output : graph.outputs) read(output.name);
  return captured;
}

}  // namespace

std::span<const Graph> subgraphs(const Attribute& attribute) noexcept {
  const auto* graphs = std::get_if<std::vector<Graph>>(&attribute.value);
  return graphs == nullptr ? std::span<const Graph>() : std::span<const Graph>(*graphs);
}

std::span<Graph> subgraphs(Attribute& attribute) noexcept {
  auto* graphs = std::get_if<std::vector<Graph>>(&attribute.value);
  return graphs == nullptr ? std::span<Graph>() : std::span<Graph>(*graphs);
}

std::set<std::string, std::less<>> captured_values(const Graph& graph) {
  const Names names = captured_by(graph);
  return {names.begin(), names.end()};
}

}  // namespace lapilli::onnx
