#include "import/onnx/graph/import.h"

#include <algorithm>
#include <format>
#include <set>

#include "base/failure.h"
#include "base/text.h"
#include "import/onnx/operators/node_builder.h"
#include "import/onnx/walk.h"

namespace lapilli::onnx {
namespace {

Shape symbolic_shape(const ValueInfo& info) {
  Shape shape;
  for (std::size_t i = 0; i < info.type.shape->size(); ++i) {
    const Dimension& dimension = (*info.type.shape)[i];
    if (dimension.size) {
      shape.emplace_back(*dimension.size);
    } else {
      shape.push_back(Dim::symbol(dimension.symbol.empty() ? std::format("{}.{}", info.name, i) : dimension.symbol));
    }
  }
  return shape;
}

class GraphBuilder {
 public:
  GraphBuilder(const Model& model, Assumptions& assumptions) : model_(model), assumptions_(assumptions) {}

  lapilli::Graph build() {
    for (const InputDescription& input : describe_inputs(model_)) {
      Fact fact = Fact::of(input.dtype, input.shape);
      if (const auto symbols = element_symbols(input)) {
        fact.elements.emplace();
        for (const std::string& symbol : *symbols) fact.elements->push_back(Dim::symbol(symbol));
      }
      values_[input.name] = graph_.add_input(input.name, std::move(fact));
    }
    build_nodes(model_.graph);
    for (const ValueInfo& output : model_.graph.outputs) {
      graph_.add_output(find(output.name));
      // Two outputs may be one value; its name stays the first one's.
      if (graph_.value(find(output.name)).name.empty()) graph_.set_name(find(output.name), output.name);
    }
    graph_.erase_dead_nodes();
    return std::move(graph_);
  }

 private:
  void build_nodes(const Graph& source) {
    for (const Node& node : source.nodes) {
      with_context(node_text(node), [&] { build_node(node); });
    }
  }

  void build_node(const Node& node) {
    const OperatorRecord* record = find_operator(node.domain, node.op_type, node.opset_version);
    if (record == nullptr) fail(ErrorCode::unsupported, "the operator is not known");
    std::vector<ValueId> inputs;
    for (const std::string& name : node.inputs) inputs.push_back(name.empty() ? no_value : find(name));
    NodeBuilder builder(node, graph_, assumptions_, std::move(inputs));
    record->build(builder);
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i].empty()) continue;
      const ValueId value = builder.outputs()[i];
      if (value == no_value) fail(ErrorCode::unsupported, "output {} ('{}') is not computed", i, node.outputs[i]);
      values_[node.outputs[i]] = value;
      if (graph_.value(value).name.empty()) graph_.set_name(value, node.outputs[i]);
    }
  }

  // Initializers become constants of the graph when something uses them.
  ValueId find(const std::string& name) {
    if (const auto found = values_.find(name); found != values_.end()) return found->second;
    const auto initializer = model_.graph.initializers.find(name);
    if (initializer == model_.graph.initializers.end())
      fail(ErrorCode::invalid_model, "nothing produces value '{}'", name);
    return values_[name] = graph_.add_constant(name, initializer->second);
  }

  const Model& model_;
  Assumptions& assumptions_;
  lapilli::Graph graph_;
  std::map<std::string, ValueId, std::less<>> values_;
};

}  // namespace

std::optional<std::vector<std::string>> element_symbols(const InputDescription& input) {
  constexpr std::int64_t most_elements = 16;
  const auto count = element_count(input.shape).constant();
  const bool integers = input.dtype == DType::int64 || input.dtype == DType::int32;
  if (!integers || input.shape.size() > 1 || !count || *count > most_elements) return std::nullopt;
  std::vector<std::string> symbols;
  for (std::int64_t i = 0; i < *count; ++i) symbols.push_back(std::format("{}[{}]", input.name, i));
  return symbols;
}

std::vector<InputDescription> describe_inputs(const Model& model) {
  std::vector<InputDescription> inputs;
  for (const ValueInfo& info : model.graph.inputs) {
    if (model.graph.initializers.contains(info.name)) continue;
    if (info.type.kind != Type::Kind::tensor) fail(ErrorCode::unsupported, "input '{}' is not a tensor", info.name);
    if (!info.type.shape) fail(ErrorCode::unsupported, "the model does not tell the rank of input '{}'", info.name);
    inputs.push_back({info.name, info.type.dtype, symbolic_shape(info)});
  }
  return inputs;
}

std::vector<std::string> find_unsupported(const Model& model) {
  std::vector<std::string> lines = model.unsupported;
  std::set<std::string> seen;
  for_each_node(model, [&](const Node& node) {
    if (find_operator(node.domain, node.op_type, node.opset_version) != nullptr) return;
    const std::string what =
        std::format("operator {} of {}, version {}", node.op_type, domain_text(node.domain), node.opset_version);
    if (seen.insert(what).second) lines.push_back(std::format("{} (first at {})", what, node_text(node)));
  });
  return lines;
}

lapilli::Graph build_graph(const Model& model, Assumptions& assumptions) {
  const std::vector<std::string> problems = find_unsupported(model);
  if (!problems.empty()) {
    fail(ErrorCode::unsupported, "this version cannot run the model:\n  {}", join(problems, "\n  "));
  }
  return GraphBuilder(model, assumptions).build();
}

}  // namespace lapilli::onnx
