// Gradient of ai.onnx.preview.training.
#include <array>
#include <format>

#include "import/onnx/operators/node_builder.h"
#include "ops/gradient.h"

namespace lapilli::onnx {
namespace {

using Names = std::vector<std::string>;

Names names(NodeBuilder& node, std::string_view attribute) {
  const auto* values = node.node().find<Names>(attribute);
  return values == nullptr ? Names() : *values;
}

// The inputs stand for the values that `xs` and `zs` name, in this order.
void build_gradient(NodeBuilder& node) {
  const Names xs = names(node, "xs"), zs = names(node, "zs");
  const std::string y = node.text("y", "");
  if (y.empty()) node.fail_model("y names no value");
  if (xs.empty() || xs.size() + zs.size() != node.input_count()) {
    node.fail_model(std::format("{} inputs for {} xs and {} zs", node.input_count(), xs.size(), zs.size()));
  }
  NodeBuilder::Bindings bindings;
  std::vector<ValueId> variables;
  for (std::size_t i = 0; i < node.input_count(); ++i) {
    // A copy, so that one value that is given for two names is two variables.
    const bool variable = i < xs.size();
    const ValueId value = variable ? node.pointwise(PointwiseFunction::identity, {node.input(i)}) : node.input(i);
    bindings.emplace_back(variable ? xs[i] : zs[i - xs.size()], value);
    if (variable) variables.push_back(value);
  }
  const std::vector<ValueId> gradients = differentiate(node, node.rebuild(y, bindings), variables);
  for (std::size_t i = 0; i < gradients.size(); ++i) node.set_output(i, gradients[i]);
}

constexpr std::array records{
    OperatorRecord{"Gradient", 1, build_gradient, {types::tensors}, "ai.onnx.preview.training"},
};

}  // namespace

std::span<const OperatorRecord> gradient_operators() { return records; }

}  // namespace lapilli::onnx
