#include "import/onnx/function_body.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include "base/failure.h"
#include "import/onnx/walk.h"

namespace lapilli::onnx {
namespace {

/// Copies a function's nodes under new names.
class BodyWriter {
 public:
  BodyWriter(const Node& call, const Function& function, ValueNames& names)
      : call_(call), function_(function), names_(names), prefix_(name_prefix(call)) {
    for (const Attribute& attribute : call.attributes) attributes_.emplace(attribute.name, &attribute);
    for (const Attribute& attribute : function.attribute_defaults) attributes_.emplace(attribute.name, &attribute);
  }

  std::vector<Node> write(std::int64_t identity_version);

 private:
  using Scope = std::map<std::string, std::string, std::less<>>;

  /// Values that have two names outside: returned inputs, and values returned twice.
  struct Alias {
    std::string from;
    std::string to;
  };

  void bind_interface();
  void rename_nodes(std::vector<Node>& nodes);
  void rename_graph(Graph& graph);
  void bind_attributes(Node& node);
  void define(const std::string& name);
  [[nodiscard]] std::string renamed(const std::string& name) const;
  [[nodiscard]] std::string renamed_present(const std::string& name) const;
  [[nodiscard]] const Attribute* bound_attribute(const Attribute& reference) const;

  const Node& call_;
  const Function& function_;
  ValueNames& names_;
  std::string prefix_;
  std::map<std::string_view, const Attribute*> attributes_;  // those of the call, and the defaults of others
  std::vector<Scope> scopes_{1};  // the function, then the subgraphs being written, outermost first
  std::vector<Alias> aliases_;
};

std::vector<Node> BodyWriter::write(std::int64_t identity_version) {
  bind_interface();
  std::vector<Node> nodes = function_.nodes;
  rename_nodes(nodes);
  for (const Alias& alias : aliases_) {
    nodes.push_back({.name = prefix_ + "Identity",
                     .op_type = "Identity",
                     .domain = {},
                     .overload = {},
                     .opset_version = identity_version,
                     .inputs = {renamed_present(alias.from)},
                     .outputs = {alias.to},
                     .attributes = {}});
  }
  return nodes;
}

void BodyWriter::bind_interface() {
  if (call_.inputs.size() > function_.inputs.size() || call_.outputs.size() > function_.outputs.size()) {
    fail(ErrorCode::invalid_model, "{} has {} inputs and {} outputs, but its function takes {} and gives {}",
         node_text(call_), call_.inputs.size(), call_.outputs.size(), function_.inputs.size(),
         function_.outputs.size());
  }
  Scope& scope = scopes_.front();
  for (std::size_t i = 0; i < function_.inputs.size(); ++i)
    scope.emplace(function_.inputs[i], i < call_.inputs.size() ? call_.inputs[i] : std::string());
  for (std::size_t i = 0; i < call_.outputs.size(); ++i) {
    const std::string& inside = function_.outputs[i];
    const std::string& outside = call_.outputs[i];
    if (!outside.empty() && !scope.emplace(inside, outside).second)
      aliases_.push_back({.from = inside, .to = outside});
  }
}

void BodyWriter::rename_nodes(std::vector<Node>& nodes) {
  for (const Node& node : nodes) {
    for (const std::string& output : node.outputs) define(output);
  }
  for (Node& node : nodes) {
    node.name = prefix_ + (node.name.empty() ? node.op_type : node.name);
    for (std::string& input : node.inputs) input = renamed(input);
    for (std::string& output : node.outputs) output = renamed(output);
    bind_attributes(node);
  }
}

void BodyWriter::bind_attributes(Node& node) {
  std::vector<Attribute> attributes;
  attributes.reserve(node.attributes.size());
  for (Attribute& attribute : node.attributes) {
    if (attribute.refers_to.empty()) {
      for (Graph& graph : subgraphs(attribute)) rename_graph(graph);
      attributes.push_back(std::move(attribute));
    } else if (const Attribute* bound = bound_attribute(attribute); bound != nullptr) {
      // A subgraph of the caller keeps its names: it reads the caller's values.
      attributes.push_back({.name = attribute.name, .type = bound->type, .value = bound->value, .refers_to = {}});
    }
  }
  node.attributes = std::move(attributes);
}

void BodyWriter::rename_graph(Graph& graph) {
  scopes_.emplace_back();
  for (const ValueInfo& input : graph.inputs) define(input.name);
  for (const auto& [name, tensor] : graph.initializers) define(name);
  rename_nodes(graph.nodes);
  for (ValueInfo& input : graph.inputs) input.name = renamed(input.name);
  for (ValueInfo& output : graph.outputs) output.name = renamed_present(output.name);
  for (ValueInfo& info : graph.value_infos) info.name = renamed(info.name);
  std::map<std::string, Tensor, std::less<>> initializers;
  for (auto& [name, tensor] : graph.initializers) initializers.emplace(renamed(name), std::move(tensor));
  graph.initializers = std::move(initializers);
  scopes_.pop_back();
}

void BodyWriter::define(const std::string& name) {
  if (name.empty() || scopes_.back().contains(name)) return;
  scopes_.back().emplace(name, names_.make_new(prefix_ + name));
}

std::string BodyWriter::renamed(const std::string& name) const {
  for (const Scope& scope : std::views::reverse(scopes_)) {
    if (const auto found = scope.find(name); found != scope.end()) return found->second;
  }
  return name;
}

std::string BodyWriter::renamed_present(const std::string& name) const {
  std::string result = renamed(name);
  if (result.empty()) {
    fail(ErrorCode::invalid_model, "{} leaves out input {}, which its function returns", node_text(call_),
         name_text(name));
  }
  return result;
}

const Attribute* BodyWriter::bound_attribute(const Attribute& reference) const {
  const auto found = attributes_.find(reference.refers_to);
  if (found == attributes_.end()) return nullptr;
  const Attribute* bound = found->second;
  if (reference.type != AttributeType::undefined && reference.type != bound->type) {
    fail(ErrorCode::invalid_model, "{}: attribute {} has type {}, but its function takes {}", node_text(call_),
         name_text(bound->name), to_string(bound->type), to_string(reference.type));
  }
  return bound;
}

std::size_t copy_size(const std::vector<std::string>& strings) {
  std::size_t size = 0;
  for (const std::string& text : strings) size += sizeof(std::string) + text.size();
  return size;
}

std::size_t copy_size(const Attribute& attribute) {
  std::size_t size = sizeof(Attribute) + attribute.name.size() + attribute.refers_to.size();
  for (const Graph& graph : subgraphs(attribute)) size += copy_size(graph);
  if (const auto* text = std::get_if<std::string>(&attribute.value)) size += text->size();
  if (const auto* list = std::get_if<std::vector<std::string>>(&attribute.value)) size += copy_size(*list);
  if (const auto* list = std::get_if<std::vector<float>>(&attribute.value)) size += list->size() * sizeof(float);
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&attribute.value))
    size += list->size() * sizeof(std::int64_t);
  if (const auto* list = std::get_if<std::vector<Tensor>>(&attribute.value)) size += list->size() * sizeof(Tensor);
  if (const auto* list = std::get_if<std::vector<Type>>(&attribute.value)) size += list->size() * sizeof(Type);
  return size;
}

std::size_t copy_size(const std::vector<ValueInfo>& infos) {
  constexpr std::size_t per_dimension = sizeof(Dimension);
  std::size_t size = 0;
  for (const ValueInfo& info : infos)
    size += sizeof(ValueInfo) + info.name.size() + (info.type.shape ? info.type.shape->size() * per_dimension : 0);
  return size;
}

}  // namespace

ValueNames::ValueNames(const Model& model) { add_graph(model.graph); }

void ValueNames::add_graph(const Graph& graph) {
  for (const ValueInfo& input : graph.inputs) names_.insert(input.name);
  for (const auto& [name, tensor] : graph.initializers) names_.insert(name);
  for (const Node& node : graph.nodes) {
    names_.insert(node.outputs.begin(), node.outputs.end());
    for (const Attribute& attribute : node.attributes) {
      for (const Graph& inner : subgraphs(attribute)) add_graph(inner);
    }
  }
}

std::string ValueNames::make_new(std::string wanted) {
  const auto [place, added] = names_.insert(std::move(wanted));
  if (added) return *place;
  // The number only grows, so that no model makes this search again and again through the same names.
  while (true) {
    std::string numbered = std::format("{}_{}", *place, next_number_++);
    if (names_.insert(numbered).second) return numbered;
  }
}

std::vector<Node> function_body(const Node& call, const Function& function, std::int64_t identity_version,
                                ValueNames& names) {
  return BodyWriter(call, function, names).write(identity_version);
}

std::size_t copy_size(const Function& function) {
  std::size_t size = copy_size(function.inputs) + copy_size(function.outputs);
  for (const Attribute& attribute : function.attribute_defaults) size += copy_size(attribute);
  for (const Node& node : function.nodes) size += copy_size(node);
  return size;
}

std::size_t copy_size(const Node& node) {
  std::size_t size = sizeof(Node) + node.name.size() + node.op_type.size() + node.domain.size();
  size += copy_size(node.inputs) + copy_size(node.outputs);
  for (const Attribute& attribute : node.attributes) size += copy_size(attribute);
  return size;
}

std::size_t copy_size(const Graph& graph) {
  std::size_t size = sizeof(Graph) + graph.name.size();
  for (const Node& node : graph.nodes) size += copy_size(node);
  for (const auto& [name, tensor] : graph.initializers) size += name.size() + sizeof(Tensor);
  return size + copy_size(graph.inputs) + copy_size(graph.outputs) + copy_size(graph.value_infos);
}

std::string name_prefix(const Node& call) { return (call.name.empty() ? call.op_type : call.name) + "/"; }

}  // namespace lapilli::onnx
