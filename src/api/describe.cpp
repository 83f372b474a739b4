#include <algorithm>

#include "api/model_state.h"
#include "base/rethrow.h"
#include "import/onnx/graph/part.h"
#include "ops/movement.h"

namespace lapilli {
namespace {

std::string value_text(const Graph& graph, ValueId id) {
  if (id == no_value) return "-";
  const GraphValue& value = graph.value(id);
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

PortKind port_kind(onnx::Type::Kind kind) {
  switch (kind) {
    case onnx::Type::Kind::sequence: return PortKind::sequence;
    case onnx::Type::Kind::optional: return PortKind::optional;
    case onnx::Type::Kind::map: return PortKind::map;
    default: return PortKind::tensor;
  }
}

// A node of a model that is run in parts: what its inputs look like is known when it runs.
NodeDescription describe_later_node(const onnx::Node& node) {
  NodeDescription result;
  result.operation = node.op_type;
  result.origins = {onnx::node_text(node)};
  result.inputs = node.inputs;
  result.outputs = node.outputs;
  const HostOperator* host = find_host_operator(node.domain, node.op_type, node.opset_version);
  const bool on_device = onnx::runs_on_device(node);
  result.runs_on = on_device ? "device" : "host";
  result.reason = on_device ? "planned when the sizes of its inputs are known" : host != nullptr ? host->reason : "";
  return result;
}

// What the device runs is all that a program file knows of a model.
ModelDescription describe_program(const Network& network, const CompiledProgram& compiled, const Sizes& sizes) {
  ModelDescription description;
  description.format = network.format();
  description.sizes = network.complete_sizes(sizes);
  const Program& program = compiled.program;
  description.inputs = program_ports(program.inputs);
  description.outputs = program_ports(program.outputs);
  for (const Step& step : program.steps) {
    const auto* dispatch = std::get_if<Dispatch>(&step);
    if (dispatch == nullptr) continue;
    NodeDescription& node = description.nodes.emplace_back();
    node.operation = program.pipelines[dispatch->pipeline].kernel;
    node.origins = {program.origins[dispatch->origin]};
    node.runs_on = "device";
  }
  for (const Constant& constant : program.constants) {
    description.parameters += constant.source.element_count();
    description.parameter_bytes += constant.source.bytes().size();
  }
  return description;
}

}  // namespace

std::vector<std::string> dimension_texts(std::span<const Dim> shape) {
  std::vector<std::string> texts;
  for (const Dim& dim : shape) texts.push_back(dim.to_string());
  return texts;
}

std::vector<PortDescription> input_ports(const Network& network) {
  std::vector<PortDescription> ports;
  for (const onnx::InputDescription& input : network.inputs()) {
    ports.push_back({input.name, input.dtype, dimension_texts(input.shape), port_kind(input.kind)});
  }
  return ports;
}

std::vector<PortDescription> declared_outputs(const Network& network) {
  std::vector<PortDescription> ports;
  for (const onnx::ValueInfo& output : network.model().graph.outputs) {
    PortDescription& port =
        ports.emplace_back(output.name, output.type.dtype, std::vector<std::string>(), port_kind(output.type.kind));
    if (!output.type.shape) continue;
    for (const onnx::Dimension& dimension : *output.type.shape) {
      port.shape.push_back(dimension.size             ? std::to_string(*dimension.size)
                           : dimension.symbol.empty() ? "?"
                                                      : dimension.symbol);
    }
  }
  return ports;
}

ModelDescription describe_model(const std::filesystem::path& path, const Sizes& sizes,
                                const ModelOptions& options) try {
  if (const std::optional<CompiledModel> model = open_compiled(path)) {
    return describe_program(Network(path, model->compiled), model->compiled, sizes);
  }
  const Network network(path, options.keep);
  if (options.strict) network.require_device_only();
  ModelDescription description;
  description.format = network.format();
  description.sizes = network.complete_sizes(sizes);
  Assumptions assumptions(description.sizes);
  description.inputs = input_ports(network);
  const std::optional<Network::Built> built = network.build(assumptions, options);
  if (!built) {
    description.outputs = declared_outputs(network);
    for (const onnx::Node& node : network.model().graph.nodes) description.nodes.push_back(describe_later_node(node));
    for (const auto& [name, tensor] : network.model().graph.initializers) {
      description.parameters += tensor.element_count();
      description.parameter_bytes += tensor.bytes().size();
    }
    return description;
  }
  const Graph& graph = built->graph;
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
} catch (...) {
  rethrow_as_error();
}

}  // namespace lapilli
