#include "import/onnx/operators/node_builder.h"

#include <algorithm>
#include <array>
#include <format>

#include "base/failure.h"

namespace lapilli::onnx {

NodeBuilder::NodeBuilder(const Node& node, lapilli::Graph& graph, Assumptions& assumptions,
                         std::vector<ValueId> inputs, Rebuild rebuild)
    : GraphBuilder(graph, assumptions, {node_text(node)}),
      node_(node),
      inputs_(std::move(inputs)),
      outputs_(node.outputs.size(), no_value),
      rebuild_(std::move(rebuild)) {}

ValueId NodeBuilder::input(std::size_t index) const {
  if (!has_input(index)) fail_model(std::format("input {} is missing", index));
  return inputs_[index];
}

std::vector<Dim> NodeBuilder::integers(std::size_t index) const {
  auto elements = fact(input(index)).integers();
  if (!elements) throw UnknownElements{node_.inputs[index]};
  // What shapes and axes say decides what is built, so elements of inputs count as numbers from here on.
  for (Dim& element : *elements) {
    std::vector<std::string> symbols;
    element.collect_symbols(symbols);
    if (std::ranges::any_of(symbols, is_element_symbol)) element = assumptions().number(element);
  }
  return std::move(*elements);
}

const Tensor& NodeBuilder::constant(std::size_t index) const {
  const Fact& known = fact(input(index));
  if (!known.constant.defined()) throw UnknownElements{node_.inputs[index]};
  return known.constant;
}

std::int64_t NodeBuilder::integer(std::string_view name, std::int64_t otherwise) const {
  const auto* value = node_.find<std::int64_t>(name);
  return value != nullptr ? *value : otherwise;
}

float NodeBuilder::real(std::string_view name, float otherwise) const {
  const auto* value = node_.find<float>(name);
  return value != nullptr ? *value : otherwise;
}

std::string NodeBuilder::text(std::string_view name, std::string_view otherwise) const {
  const auto* value = node_.find<std::string>(name);
  return value != nullptr ? *value : std::string(otherwise);
}

std::optional<std::vector<std::int64_t>> NodeBuilder::integers(std::string_view name) const {
  const auto* value = node_.find<std::vector<std::int64_t>>(name);
  return value != nullptr ? std::optional(*value) : std::nullopt;
}

const Tensor* NodeBuilder::tensor(std::string_view name) const { return node_.find<Tensor>(name); }

std::optional<std::vector<Dim>> NodeBuilder::integers_from(std::string_view name, std::size_t index,
                                                           std::int64_t since) const {
  if (opset() >= since) return has_input(index) ? std::optional(integers(index)) : std::nullopt;
  const auto values = integers(name);
  return values ? std::optional(to_shape(*values)) : std::nullopt;
}

int NodeBuilder::axis(std::int64_t axis, std::size_t rank) const {
  const auto size = static_cast<std::int64_t>(rank);
  if (size == 0) fail_model(std::format("axis {} of a scalar, which has none", axis));
  if (axis < -size || axis >= size) {
    fail_model(std::format("axis {} is not within -{} and {}", axis, size, size - 1));
  }
  return static_cast<int>(axis < 0 ? axis + size : axis);
}

ValueId NodeBuilder::rebuild(const std::string& name, const Bindings& bindings) const {
  if (!rebuild_) fail_unsupported("the nodes in front of it do not run as one part on the device");
  return rebuild_(name, bindings);
}

void NodeBuilder::set_output(std::size_t index, ValueId value) {
  if (index >= outputs_.size()) return;
  outputs_[index] = value;
}

bool NodeBuilder::wants_output(std::size_t index) const {
  return index < node_.outputs.size() && !node_.outputs[index].empty();
}

}  // namespace lapilli::onnx
