#include "import/onnx/graph/part.h"

#include <algorithm>
#include <map>
#include <ranges>
#include <set>

#include "base/failure.h"
#include "import/onnx/graph/import.h"
#include "import/onnx/operators/node_builder.h"
#include "import/onnx/walk.h"

namespace lapilli::onnx {
namespace {

// Ends the part before the node at hand.
struct PartEnds {};

bool is_branch(const Node& node) { return node.domain.empty() && node.op_type == "If"; }

bool is_of_numbers(DType dtype) { return dtype != DType::string && dtype != DType::undefined; }

bool casts_to_text(const Node& node) {
  if (!node.domain.empty() || node.op_type != "Cast") return false;
  constexpr std::int64_t text = 8;  // TensorProto.STRING
  const Attribute* to = node.find_attribute("to");
  if (to == nullptr) return false;
  // The name of the type, up to opset 5.
  if (const auto* name = std::get_if<std::string>(&to->value)) return *name == "STRING";
  const auto* number = std::get_if<std::int64_t>(&to->value);
  return number != nullptr && *number == text;
}

// Encoders have strings among their attributes when they take or give them.
bool has_text(const Node& node) {
  if (node.domain != "ai.onnx.ml" || (node.op_type != "LabelEncoder" && node.op_type != "OneHotEncoder"))
    return false;
  return std::ranges::any_of(node.attributes, [](const Attribute& attribute) {
    if (const auto* tensor = std::get_if<Tensor>(&attribute.value)) return tensor->dtype() == DType::string;
    const auto* texts = std::get_if<std::vector<std::string>>(&attribute.value);
    return texts != nullptr && !texts->empty();
  });
}

// An encoder for which input that is in no category is an error: kernels have no errors.
bool refuses_elements(const Node& node) {
  if (node.domain != "ai.onnx.ml" || node.op_type != "OneHotEncoder") return false;
  const auto* zeros = node.find<std::int64_t>("zeros");
  return zeros != nullptr && *zeros == 0;
}

class PartBuilder {
  using Values = std::map<std::string, ValueId, std::less<>>;

 public:
  PartBuilder(const PartRequest& request, Assumptions& assumptions)
      : request_(request), assumptions_(assumptions), scopes_{&request.graph} {
    scopes_.insert(scopes_.end(), request.around.begin(), request.around.end());
  }

  Part build() {
    for (const std::string& name : request_.inputs) {
      if (!find(name)) fail(ErrorCode::unsupported, "input '{}' is no tensor of numbers", name);
    }
    const std::vector<Node>& nodes = request_.graph.nodes;
    part_.end = request_.first;
    while (part_.end < nodes.size() && add(nodes[part_.end])) ++part_.end;
    choose_outputs();
    part_.graph.erase_dead_nodes();
    return std::move(part_);
  }

 private:
  bool add(const Node& node) {
    try {
      build_node(node);
    } catch (const PartEnds&) {
      leave_branches();
      return false;
    } catch (const UnknownElements& unknown) {
      // What comes from outside can be known in another attempt; what is made here, in the next part.
      if (scopes_.front() == &request_.graph && !made_.contains(unknown.name)) throw;
      leave_branches();
      return false;
    }
    for (const std::string& name : node.outputs) made_.insert(name);
    return true;
  }

  void leave_branches() { scopes_.erase(scopes_.begin(), std::ranges::find(scopes_, &request_.graph)); }

  void build_node(const Node& node) {
    with_context(node_text(node), [&] {
      if (is_branch(node)) return build_branch(node);
      if (!runs_on_device(node)) throw PartEnds();
      const OperatorRecord* record = find_operator(node.domain, node.op_type, node.opset_version);
      NodeBuilder builder(node, part_.graph, assumptions_, inputs_of(node),
                          [&](const std::string& name, const NodeBuilder::Bindings& bindings) {
                            return rebuild(node, name, bindings);
                          });
      build_checked(*record, builder);
      for (std::size_t i = 0; i < node.outputs.size(); ++i) {
        if (node.outputs[i].empty()) continue;
        const ValueId value = builder.outputs()[i];
        if (value == no_value) fail(ErrorCode::unsupported, "output {} ('{}') is not computed", i, node.outputs[i]);
        if (!is_of_numbers(part_.graph.fact(value).dtype)) throw PartEnds();
        name_value(node.outputs[i], value);
      }
    });
  }

  std::vector<ValueId> inputs_of(const Node& node) {
    std::vector<ValueId> inputs;
    for (const std::string& name : node.inputs) {
      if (name.empty()) {
        inputs.push_back(no_value);
        continue;
      }
      const auto value = find(name);
      if (!value || !is_of_numbers(part_.graph.fact(*value).dtype)) throw PartEnds();
      inputs.push_back(*value);
    }
    return inputs;
  }

  // A branch whose condition is known before the model runs stands where the node is.
  void build_branch(const Node& node) {
    const std::vector<ValueId> inputs = inputs_of(node);
    if (inputs.size() != 1 || !part_.graph.is_constant(inputs[0])) throw PartEnds();
    const Tensor& condition = part_.graph.fact(inputs[0]).constant;
    if (condition.dtype() != DType::boolean || condition.element_count() != 1) {
      fail(ErrorCode::invalid_model, "the condition is {}, one boolean is needed",
           part_.graph.fact(inputs[0]).to_string());
    }
    const bool holds = condition.bytes()[0] != std::byte{0};
    const auto* branch = node.find<std::vector<Graph>>(holds ? "then_branch" : "else_branch");
    if (branch == nullptr || branch->front().outputs.size() < node.outputs.size()) {
      fail(ErrorCode::invalid_model, "a branch is missing, or has fewer outputs than the node");
    }
    scopes_.insert(scopes_.begin(), &branch->front());
    for (const Node& inner : branch->front().nodes) build_node(inner);
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i].empty()) continue;
      const auto value = find(branch->front().outputs[i].name);
      if (!value) throw PartEnds();
      name_value(node.outputs[i], *value);
    }
    scopes_.erase(scopes_.begin());
  }

  // Builds the nodes between some values and another one again, with other values in the place of those; nodes in
  // front of the one that asks.
  ValueId rebuild(const Node& asking, const std::string& name, const NodeBuilder::Bindings& bindings) {
    constexpr int deepest = 16;
    constexpr std::size_t most_nodes = 1 << 20U;
    std::set<std::string, std::less<>> bound, needed{name};
    for (const auto& [bound_name, value] : bindings) bound.insert(bound_name);
    std::vector<const Node*> chosen;
    bool before = false;
    for (const Node& node : std::views::reverse(scopes_.front()->nodes)) {
      const bool wanted = before && std::ranges::any_of(node.outputs, [&](const std::string& output) {
                            return needed.contains(output) && !bound.contains(output);
                          });
      before = before || &node == &asking;
      if (!wanted) continue;
      needed.insert(node.inputs.begin(), node.inputs.end());
      chosen.push_back(&node);
    }
    rebuilt_ += chosen.size();
    if (depth_ == deepest || rebuilt_ > most_nodes) {
      fail(ErrorCode::limit_exceeded, "gradients of gradients build more than {} nodes, or more than {} deep",
           most_nodes, deepest);
    }
    // What is built again counts here alone, also where the part ends within.
    struct Restore {
      PartBuilder& builder;
      Values values;
      ~Restore() {
        builder.values_ = std::move(values);
        --builder.depth_;
      }
    } const restore{*this, values_};
    ++depth_;
    for (const Node* node : std::views::reverse(chosen)) {
      for (const auto& [bound_name, value] : bindings) values_[bound_name] = value;
      build_node(*node);
    }
    for (const auto& [bound_name, value] : bindings) values_[bound_name] = value;
    const auto result = find(name);
    if (!result) throw PartEnds();
    return *result;
  }

  void name_value(const std::string& name, ValueId value) {
    values_[name] = value;
    if (part_.graph.value(value).name.empty()) part_.graph.set_name(value, name);
  }

  // Nothing for a value from outside that is no tensor of numbers.
  std::optional<ValueId> find(const std::string& name) {
    if (const auto found = values_.find(name); found != values_.end()) return found->second;
    for (const Graph* scope : scopes_) {
      const auto initializer = scope->initializers.find(name);
      if (initializer == scope->initializers.end()) continue;
      return values_[name] = part_.graph.add_constant(name, initializer->second);
    }
    const std::optional<Fact> fact = request_.outside(name);
    if (!fact) return std::nullopt;
    if (fact->constant.defined()) return values_[name] = part_.graph.add_constant(name, fact->constant);
    part_.inputs.push_back(name);
    return values_[name] = part_.graph.add_input(name, *fact);
  }

  void choose_outputs() {
    const std::vector<Node>& nodes = request_.graph.nodes;
    if (request_.first == 0 && part_.end == nodes.size()) {
      for (const ValueInfo& output : request_.graph.outputs) add_output(output.name);
      return;
    }
    std::set<std::string, std::less<>> needed;
    for (std::size_t i = part_.end; i < nodes.size(); ++i) {
      needed.insert(nodes[i].inputs.begin(), nodes[i].inputs.end());
      for (const Attribute& attribute : nodes[i].attributes) {
        for (const Graph& inner : subgraphs(attribute)) needed.merge(captured_values(inner));
      }
    }
    for (const ValueInfo& output : request_.graph.outputs) needed.insert(output.name);
    for (const std::string& name : made_) {
      if (needed.contains(name)) add_output(name);
    }
  }

  void add_output(const std::string& name) {
    const auto value = find(name);
    if (!value) fail(ErrorCode::invalid_model, "nothing produces value '{}'", name);
    const std::vector<ValueInfo>& declared = request_.graph.outputs;
    if (const auto output = std::ranges::find(declared, name, &ValueInfo::name); output != declared.end())
      require_declared(*output, part_.graph.fact(*value).dtype);
    part_.graph.add_output(*value);
    part_.outputs.push_back(name);
    // Two outputs may be one value; its name stays the first one's.
    if (part_.graph.value(*value).name.empty()) part_.graph.set_name(*value, name);
  }

  const PartRequest& request_;
  Assumptions& assumptions_;
  Part part_;
  std::vector<const Graph*> scopes_;  // from the inside out
  Values values_;
  std::set<std::string, std::less<>> made_;
  std::size_t rebuilt_ = 0;  // nodes
  int depth_ = 0;            // of nodes that build others again
};

}  // namespace

void require_declared(const ValueInfo& output, DType type) {
  const Type& declared = output.type;
  if (declared.kind == Type::Kind::unknown || declared.dtype == DType::undefined || declared.dtype == type) return;
  fail(ErrorCode::invalid_model, "output {} is declared as {}, but it is {}", name_text(output.name),
       to_string(declared.dtype), to_string(type));
}

bool runs_on_device(const Node& node) {
  if (casts_to_text(node) || has_text(node) || refuses_elements(node)) return false;
  return find_operator(node.domain, node.op_type, node.opset_version) != nullptr;
}

Part build_part(const PartRequest& request, Assumptions& assumptions) {
  return PartBuilder(request, assumptions).build();
}

Part build_model(const Model& model, Assumptions& assumptions) {
  const std::vector<InputDescription> inputs = describe_inputs(model);
  std::vector<std::string> names;
  for (const InputDescription& input : inputs) names.push_back(input.name);
  PartRequest request{model.graph, {}, 0, names, {}};
  request.outside = [&](const std::string& name) -> std::optional<Fact> {
    const auto input = std::ranges::find(inputs, name, &InputDescription::name);
    if (input == inputs.end()) fail(ErrorCode::invalid_model, "nothing produces value '{}'", name);
    if (!input->ranked) return std::nullopt;
    Fact fact = Fact::of(input->dtype, input->shape);
    if (const auto symbols = element_symbols(*input)) {
      fact.elements.emplace();
      for (const std::string& symbol : *symbols) fact.elements->push_back(Dim::symbol(symbol));
    }
    return fact;
  };
  return build_part(request, assumptions);
}

}  // namespace lapilli::onnx
