#include <algorithm>

#include "api/model_state.h"
#include "ops/movement.h"

namespace lapilli {
namespace {

std::string value_text(const Graph& graph, ValueId id) {
  if (id == no_value) return "-";
  const Value& value = graph.value(id);
  return (value.name.empty() ? "%" + std::to_string(index_of(id)) : value.name) + " " + value.fact.to_string();
}

NodeDescription describe_node(const Graph& graph, const Node& node, const SymbolValues& sizes) {
  NodeDescription result;
  const std::string attributes = node.op->attributes();
  result.operation = std::string(node.op->name()) + (attributes.empty() ? "" : " " + attributes);
  result.origins = node.origins;
  for (const ValueId id : node.inputs) result.inputs.push_back(value_text(graph, id));
  for (const ValueId id : node.outputs) result.outputs.push_back(value_text(graph, id));
  result.runs_on = operator_as<Reshape>(node) != nullptr ? "view" : "device";
  result.operations = node.op->operation_count(graph.input_facts(node), graph.output_facts(node)).evaluate(sizes);
  return result;
}

// Constants that nodes use, each once.
void count_parameters(const Graph& graph, ModelDescription& description) {
  std::vector<const std::byte*> counted;
  for (const NodeId id : graph.topological_order()) {
    for (const ValueId input : graph.node(id).inputs) {
      if (!graph.is_constant(input)) continue;
      const Tensor& tensor = graph.fact(input).constant;
      if (std::ranges::contains(counted, tensor.bytes().data())) continue;
      counted.push_back(tensor.bytes().data());
      description.parameters += tensor.element_count();
      description.parameter_bytes += tensor.bytes().size();
    }
  }
}

}  // namespace

std::vector<std::string> dimension_texts(std::span<const Dim> shape) {
  std::vector<std::string> texts;
  for (const Dim& dim : shape) texts.push_back(dim.to_string());
  return texts;
}

ModelDescription describe_model(const std::filesystem::path& path, const Sizes& sizes, const ModelOptions& options) {
  const Network network(path);
  ModelDescription description;
  description.format = network.format();
  description.sizes = network.complete_sizes(sizes);
  Assumptions assumptions(description.sizes);
  const Network::Built built = network.build(assumptions, options);
  const Graph& graph = built.graph;
  for (const auto& input : network.inputs())
    description.inputs.push_back({input.name, input.dtype, dimension_texts(input.shape)});
  for (std::size_t i = 0; i < graph.outputs().size(); ++i) {
    const Fact& fact = graph.fact(graph.outputs()[i]);
    description.outputs.push_back({network.output_names()[i], fact.dtype, dimension_texts(fact.shape)});
  }
  for (const NodeId id : graph.topological_order()) {
    description.nodes.push_back(describe_node(graph, graph.node(id), description.sizes));
    description.operations += description.nodes.back().operations;
  }
  count_parameters(graph, description);
  return description;
}

}  // namespace lapilli
