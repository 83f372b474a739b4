#include "import/onnx/validate.h"

#include <algorithm>
#include <set>

#include "base/failure.h"
#include "base/text.h"
#include "import/onnx/walk.h"

namespace lapilli::onnx {
namespace {

/// The values of one graph or function body while its nodes are gone through in order.
class Scope {
 public:
  explicit Scope(const Scope* outer) : outer_(outer) {}

  void define_at_start(std::string_view name, std::string_view role) {
    if (name.empty()) fail(ErrorCode::invalid_model, "an {} has no name", role);
    if (!producers_.emplace(name, nullptr).second)
      fail(ErrorCode::invalid_model, "two {}s are called {}", role, name_text(name));
  }

  /// Like define_at_start, for initializers that may give an input its default value.
  void define_or_keep(std::string_view name) { producers_.emplace(name, nullptr); }

  void define_outputs(const Node& node) {
    for (const std::string& output : node.outputs) {
      if (output.empty()) continue;
      const auto [place, added] = producers_.emplace(output, &node);
      if (added) continue;
      const Node* other = place->second;
      fail(ErrorCode::invalid_model, "{} makes {}, which {} too; a value has one producer", node_text(node),
           name_text(output),
           other == nullptr ? "is an input or initializer"
                            : (other == &node ? "is another output of it" : "is made by " + node_text(*other)));
    }
  }

  void step_to(const Node* node) { current_ = node; }

  /// Fails, with `reader` as the one who wants it, unless the value exists when the current node runs.
  void require(std::string_view name, std::string_view reader) const {
    for (const Scope* scope = this; scope != nullptr; scope = scope->outer_) {
      const auto found = scope->producers_.find(name);
      if (found == scope->producers_.end()) continue;
      const Node* producer = found->second;
      // Nodes lie in one vector in their order.
      if (producer == nullptr || scope->current_ == nullptr || producer < scope->current_) return;
      fail(ErrorCode::invalid_model,
           "{} reads {}, which {} makes only later or at the same time: the nodes are out of order or form a cycle",
           reader, name_text(name), node_text(*producer));
    }
    fail(ErrorCode::invalid_model, "{} reads {}, which no input, initializer or node makes", reader, name_text(name));
  }

 private:
  const Scope* outer_;
  // Ordered maps, as hostile names cannot make those slow.
  std::map<std::string_view, const Node*> producers_;  // nullptr for what is there from the start
  const Node* current_ = nullptr;                      // nullptr when all nodes have run
};

/// The attributes that a function takes; nullptr outside functions.
using AttributeNames = std::set<std::string_view>;

void validate_graph(const Graph& graph, const Scope* outer, const AttributeNames* parameters);

void validate_attributes(const Node& node, const Scope& scope, const AttributeNames* parameters) {
  std::set<std::string_view> names;
  for (const Attribute& attribute : node.attributes) {
    if (!names.insert(attribute.name).second)
      fail(ErrorCode::invalid_model, "{} has attribute {} twice", node_text(node), name_text(attribute.name));
    if (!attribute.refers_to.empty() && (parameters == nullptr || !parameters->contains(attribute.refers_to))) {
      fail(ErrorCode::invalid_model, "{}: attribute {} refers to {}, which {}", node_text(node),
           name_text(attribute.name), name_text(attribute.refers_to),
           parameters == nullptr ? "only attributes inside functions can do" : "the function does not take");
    }
    for (const Graph& graph : subgraphs(attribute)) {
      with_context(std::format("{}, attribute {}", node_text(node), name_text(attribute.name)),
                   [&] { validate_graph(graph, &scope, parameters); });
    }
  }
}

void validate_nodes(const std::vector<Node>& nodes, Scope& scope, const AttributeNames* parameters) {
  for (const Node& node : nodes) scope.define_outputs(node);
  for (const Node& node : nodes) {
    scope.step_to(&node);
    const std::string reader = node_text(node);
    for (const std::string& input : node.inputs) {
      if (!input.empty()) scope.require(input, reader);
    }
    validate_attributes(node, scope, parameters);
  }
  scope.step_to(nullptr);
}

// An input's default value is of its type.
void require_default_fits(const ValueInfo& input, const Tensor& value) {
  const Type& type = input.type;
  if (type.kind != Type::Kind::tensor || !value.defined()) return;
  const bool same_type = type.dtype == DType::undefined || type.dtype == value.dtype();
  const auto fits = [](const Dimension& declared, std::int64_t size) { return declared.size.value_or(size) == size; };
  if (same_type && (!type.shape || std::ranges::equal(*type.shape, value.shape(), fits))) return;
  fail(ErrorCode::invalid_model, "initializer {} is {}{}, which its declaration as an input does not allow",
       name_text(input.name), to_string(value.dtype()), shape_text(value.shape()));
}

void validate_graph(const Graph& graph, const Scope* outer, const AttributeNames* parameters) {
  Scope scope(outer);
  for (const ValueInfo& input : graph.inputs) scope.define_at_start(input.name, "input");
  for (const ValueInfo& input : graph.inputs) {
    if (const auto value = graph.initializers.find(input.name); value != graph.initializers.end())
      require_default_fits(input, value->second);
  }
  for (const auto& [name, tensor] : graph.initializers) scope.define_or_keep(name);
  validate_nodes(graph.nodes, scope, parameters);
  for (const ValueInfo& output : graph.outputs) {
    if (output.name.empty()) fail(ErrorCode::invalid_model, "an output has no name");
    scope.require(output.name, "the graph's output");
  }
}

void validate_function(const Function& function) {
  AttributeNames parameters;
  const auto add_parameter = [&](std::string_view name) {
    if (!parameters.insert(name).second)
      fail(ErrorCode::invalid_model, "it takes attribute {} twice", name_text(name));
  };
  for (const std::string& name : function.attribute_names) add_parameter(name);
  for (const Attribute& attribute : function.attribute_defaults) {
    add_parameter(attribute.name);
    if (!attribute.refers_to.empty())
      fail(ErrorCode::invalid_model, "the default of attribute {} is not a value", name_text(attribute.name));
  }
  Scope scope(nullptr);
  for (const std::string& input : function.inputs) scope.define_at_start(input, "input");
  validate_nodes(function.nodes, scope, &parameters);
  for (const std::string& output : function.outputs) scope.require(output, "the function's output");
}

}  // namespace

void validate(const Model& model) {
  validate_graph(model.graph, nullptr, nullptr);
  for (const auto& [key, function] : model.functions) {
    with_context(function_text(key), [&] { validate_function(function); });
  }
}

}  // namespace lapilli::onnx
