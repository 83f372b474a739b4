#include "import/onnx/inline_functions.h"

#include <algorithm>
#include <utility>

#include "base/failure.h"
#include "import/onnx/function_body.h"
#include "import/onnx/type_reader.h"
#include "import/onnx/walk.h"

namespace lapilli::onnx {
namespace {

// Functions that call functions twice each grow with two to the power of their number. What real models make of
// theirs is a few times their size.
constexpr std::size_t growth_limit = 64;
constexpr std::size_t free_growth = std::size_t{64} << 20U;

class Inliner {
 public:
  explicit Inliner(const Model& model) : model_(model), names_(model) {
    std::size_t size = copy_size(model.graph);
    for (const auto& [key, function] : model.functions) {
      size += body_sizes_[&function] = copy_size(function);
      values_inside_[&function] = count_names(function.nodes);
    }
    bytes_left_ = size * growth_limit + free_growth;
  }

  /// Replaces the calls in the nodes of a graph that is nested `depth` deep.
  void expand(std::vector<Node>& nodes, int depth) {
    check_nesting(depth, "graphs, once functions are written out,");
    std::vector<Node> result;
    result.reserve(nodes.size());
    for (Node& node : nodes) expand_node(std::move(node), result, depth);
    nodes = std::move(result);
  }

 private:
  using Functions = std::map<FunctionKey, Function>;

  static std::size_t count_names(const std::vector<Node>& nodes) {
    std::size_t count = 0;
    for_each_node(nodes, [&](const Node& node) {
      count += 1 + node.inputs.size() + node.outputs.size();
      for (const Attribute& attribute : node.attributes) {
        for (const Graph& graph : subgraphs(attribute))
          count += graph.inputs.size() + graph.outputs.size() + graph.value_infos.size() + graph.initializers.size();
      }
    });
    return count;
  }

  void expand_node(Node node, std::vector<Node>& result, int depth) {
    for (Attribute& attribute : node.attributes) {
      for (Graph& graph : subgraphs(attribute)) expand(graph.nodes, depth + 1);
    }
    const auto callee =
        model_.functions.find({.domain = node.domain, .name = node.op_type, .overload = node.overload});
    if (callee == model_.functions.end()) {
      result.push_back(std::move(node));
      return;
    }
    const Function& function = callee->second;
    if (std::ranges::contains(active_, &function))
      fail(ErrorCode::invalid_model, "{}: the function calls itself, directly or through others", node_text(node));
    check_nesting(static_cast<int>(active_.size()), "calls of functions");
    pay_for(node, function);
    active_.push_back(&function);
    for (Node& inside : function_body(node, function, identity_version(function), names_))
      expand_node(std::move(inside), result, depth);
    active_.pop_back();
  }

  void pay_for(const Node& call, const Function& function) {
    std::size_t size = body_sizes_.at(&function) + values_inside_.at(&function) * name_prefix(call).size();
    // Each attribute of the call may be copied to any node that refers to it.
    std::size_t references = 0;
    for_each_node(function.nodes, [&](const Node& node) {
      references += static_cast<std::size_t>(
          std::ranges::count_if(node.attributes, [](const auto& attribute) { return !attribute.refers_to.empty(); }));
    });
    size += references * copy_size(call);
    if (size > bytes_left_) {
      fail(ErrorCode::invalid_model,
           "{}: writing out the calls of functions makes the model more than {} times as large", node_text(call),
           growth_limit);
    }
    bytes_left_ -= size;
  }

  [[nodiscard]] std::int64_t identity_version(const Function& function) const {
    for (const OpsetImports* imports : {&function.opset_imports, &model_.opset_imports}) {
      if (const auto found = imports->find(""); found != imports->end()) return found->second;
    }
    return 1;
  }

  const Model& model_;
  ValueNames names_;
  std::map<const Function*, std::size_t> body_sizes_;
  std::map<const Function*, std::size_t> values_inside_;
  std::vector<const Function*> active_;  // outermost call first
  std::size_t bytes_left_ = 0;
};

}  // namespace

void inline_functions(Model& model) {
  if (model.functions.empty()) return;
  std::vector<Node> nodes = model.graph.nodes;
  Inliner(model).expand(nodes, 0);
  model.graph.nodes = std::move(nodes);
  model.functions.clear();
}

}  // namespace lapilli::onnx
