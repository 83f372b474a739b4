#include "import/onnx/operators/node_builder.h"

#include <algorithm>
#include <array>
#include <format>

#include "base/failure.h"
#include "ops/movement.h"
#include "ops/range.h"

namespace lapilli::onnx {

NodeBuilder::NodeBuilder(const Node& node, lapilli::Graph& graph, Assumptions& assumptions,
                         std::vector<ValueId> inputs)
    : node_(node),
      graph_(graph),
      assumptions_(assumptions),
      inputs_(std::move(inputs)),
      outputs_(node.outputs.size(), no_value) {}

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
    if (std::ranges::any_of(symbols, is_element_symbol)) element = assumptions_.number(element);
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
  if (axis < -size || axis >= size) {
    fail_model(std::format("axis {} is not within -{} and {}", axis, size, size - 1));
  }
  return static_cast<int>(axis < 0 ? axis + size : axis);
}

std::vector<ValueId> NodeBuilder::add_all(OperatorPointer op, std::vector<ValueId> inputs) {
  return graph_.add_node(std::move(op), std::move(inputs), {node_text(node_)}, {}, assumptions_);
}

ValueId NodeBuilder::add(OperatorPointer op, std::vector<ValueId> inputs) {
  return add_all(std::move(op), std::move(inputs))[0];
}

ValueId NodeBuilder::constant(Tensor tensor) { return graph_.add_constant("", std::move(tensor)); }

ValueId NodeBuilder::sizes(std::vector<Dim> elements) {
  const auto count = static_cast<std::int64_t>(elements.size());
  return graph_.add_known("", Fact::of_elements(DType::int64, {count}, std::move(elements)));
}

ValueId NodeBuilder::scalar(DType dtype, double value) {
  const std::array values{value};
  return cast(constant(Tensor::of<double>(DType::float64, {}, values)), dtype);
}

ValueId NodeBuilder::positions(const Dim& count, std::size_t axis, std::size_t rank) {
  const ValueId numbers = add(std::make_shared<Range>(count), {scalar(DType::int32, 0), scalar(DType::int32, 1)});
  Shape wide(rank, Dim(1));
  wide[axis] = count;
  return reshape(numbers, std::move(wide));
}

ValueId NodeBuilder::pointwise(PointwiseFunction function, std::vector<ValueId> inputs,
                               std::vector<Immediate> immediates) {
  const DType type = dtype(inputs[function == PointwiseFunction::select ? 1 : 0]);
  for (Immediate& immediate : immediates) immediate.dtype = type;
  const auto count = static_cast<std::uint8_t>(inputs.size());
  return add(make_pointwise(function, type, count, std::move(immediates)), std::move(inputs));
}

ValueId NodeBuilder::reshape(ValueId value, Shape new_shape) {
  if (shape(value) == new_shape) return value;
  return add(std::make_shared<Reshape>(std::move(new_shape)), {value});
}

ValueId NodeBuilder::cast(ValueId value, DType to, Overflow overflow) {
  if (dtype(value) == to) return value;
  PointwiseChain chain;
  const bool saturates = overflow == Overflow::saturate || !is_small_float(to);
  chain.add(saturates ? PointwiseFunction::cast : PointwiseFunction::cast_unsaturated, to, {0, 0, 0});
  return add(std::make_shared<Pointwise>(std::move(chain), to), {value});
}

ValueId NodeBuilder::per_channel(ValueId value, std::size_t rank) {
  if (rank < 2) return value;
  Shape wide(rank - 1, Dim(1));
  wide[0] = element_count(shape(value));
  return reshape(value, std::move(wide));
}

ValueId NodeBuilder::unsqueeze(ValueId value, std::span<const int> axes) {
  Shape wide;
  const Shape& narrow = shape(value);
  for (std::size_t i = 0, next = 0; i < narrow.size() + axes.size(); ++i) {
    wide.push_back(std::ranges::contains(axes, static_cast<int>(i)) ? Dim(1) : narrow[next++]);
  }
  return reshape(value, std::move(wide));
}

void NodeBuilder::set_output(std::size_t index, ValueId value) {
  if (index >= outputs_.size()) return;
  outputs_[index] = value;
}

bool NodeBuilder::wants_output(std::size_t index) const {
  return index < node_.outputs.size() && !node_.outputs[index].empty();
}

}  // namespace lapilli::onnx
