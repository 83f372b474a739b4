// Rules that let convolutions and matrix products take over work around them.
#include <algorithm>
#include <array>

#include "ops/contraction.h"
#include "ops/movement.h"
#include "passes/rules.h"

namespace lapilli {
namespace {

// The number of columns that weights have, and how their elements belong to them.
struct WeightColumns {
  std::int64_t count = 0;
  std::int64_t inner = 1;  // elements next to each other that belong to one column
};

// Axis 0 of a convolution's weights; the last axis of a matrix, or the one before when it is transposed.
std::optional<WeightColumns> weight_columns(const Node& node, const Tensor& weights) {
  const auto& shape = weights.shape();
  if (const auto* convolution = operator_as<Convolution>(node)) {
    if (convolution->filled(shape.size() - 2).transposed || shape[0] == 0) return std::nullopt;
    return WeightColumns{shape[0], weights.element_count() / shape[0]};
  }
  const auto* product = operator_as<MatMul>(node);
  if (product == nullptr || shape.size() != 2) return std::nullopt;
  return product->transpose_b() ? WeightColumns{shape[0], shape[1]} : WeightColumns{shape[1], 1};
}

// One factor for each column, from a constant that is 1 everywhere but along the columns of the result.
std::optional<std::vector<float>> column_factors(const Tensor& constant, const Node& node, std::size_t rank,
                                                 std::int64_t columns) {
  if (constant.dtype() != DType::float32) return std::nullopt;
  const auto elements = constant.elements<float>();
  if (elements.size() == 1) return std::vector<float>(static_cast<std::size_t>(columns), elements[0]);
  const std::size_t from_right = operator_as<Convolution>(node) != nullptr ? rank - 2 : 0;
  const auto& shape = constant.shape();
  if (static_cast<std::int64_t>(elements.size()) != columns || shape.size() <= from_right ||
      shape[shape.size() - 1 - from_right] != columns) {
    return std::nullopt;
  }
  return std::vector<float>(elements.begin(), elements.end());
}

Tensor scaled(const Tensor& weights, const WeightColumns& columns, std::span<const float> factors) {
  Tensor result = Tensor::allocate(DType::float32, weights.shape());
  const Tensor source = weights.aligned();
  const auto from = source.elements<float>();
  const auto to = result.mutable_elements<float>();
  const auto inner = static_cast<std::size_t>(columns.inner);
  std::size_t column = 0;
  for (std::size_t begin = 0; begin < from.size(); begin += inner) {
    for (std::size_t i = begin; i < begin + inner; ++i) to[i] = from[i] * factors[column];
    if (++column == factors.size()) column = 0;
  }
  return result;
}

// (x * W) * a, with a for each column, becomes x * (W * a).
RuleResult scale_into_weights(const Graph& graph, NodeId id, Assumptions& /*assumptions*/) {
  const auto product = match_with_constant(graph, id, PointwiseFunction::multiply);
  if (!product || only_consumer(graph, product->operand) != id) return RuleResult::no_match();
  const NodeId producer_id = graph.value(product->operand).producer;
  if (producer_id == no_node) return RuleResult::no_match();
  const Node& producer = graph.node(producer_id);
  const auto* op = operator_as<FusedOperator>(producer);
  const bool contraction = operator_as<Convolution>(producer) != nullptr || operator_as<MatMul>(producer) != nullptr;
  if (!contraction || !op->epilogue().empty()) return RuleResult::no_match();
  if (!graph.is_constant(producer.inputs[1])) return RuleResult::declined("the weights are not constant");
  const Tensor& weights = graph.fact(producer.inputs[1]).constant;
  if (weights.dtype() != DType::float32) return RuleResult::declined("the weights are not of type float32");
  const auto columns = weight_columns(producer, weights);
  if (!columns) return RuleResult::declined("the weights have no axis of columns alone");
  const std::size_t rank = graph.fact(product->operand).shape.size();
  const auto factors =
      column_factors(graph.fact(product->constant).constant.aligned(), producer, rank, columns->count);
  if (!factors) return RuleResult::declined("the factor is not one number for each column");
  Patch patch(graph);
  patch.absorb(producer_id);
  patch.absorb(id);
  std::vector<ValueId> inputs = producer.inputs;
  inputs[1] = patch.add_constant(scaled(weights, *columns, *factors));
  patch.replace(graph.node(id).outputs[0], patch.add_node(producer.op, std::move(inputs)));
  return RuleResult::rewrite(std::move(patch));
}

bool is_zero(const Tensor& fill) {
  return !fill.defined() || std::ranges::all_of(fill.bytes(), [](std::byte byte) { return byte == std::byte{0}; });
}

// Zeros around the spatial axes become the convolution's own padding.
RuleResult pad_into_convolution(const Graph& graph, NodeId id, Assumptions& /*assumptions*/) {
  const Node& node = graph.node(id);
  const auto* convolution = operator_as<Convolution>(node);
  if (convolution == nullptr) return RuleResult::no_match();
  const NodeId pad_id = graph.value(node.inputs[0]).producer;
  const auto* pad = pad_id == no_node ? nullptr : operator_as<Pad>(graph.node(pad_id));
  if (pad == nullptr) return RuleResult::no_match();
  ConvolutionAttributes attributes = convolution->filled(graph.fact(node.inputs[0]).shape.size() - 2);
  if (attributes.transposed) return RuleResult::declined("a transposed convolution pads its output");
  const bool of_zeros = is_zero(pad->fill()) && graph.node(pad_id).inputs.size() == 1;
  if (pad->mode() != PadMode::constant || !of_zeros) return RuleResult::declined("the padding is not zeros");
  for (const std::size_t axis : {std::size_t{0}, std::size_t{1}}) {
    if (pad->before()[axis] != Dim(0) || pad->after()[axis] != Dim(0))
      return RuleResult::declined("images or channels are padded");
  }
  for (std::size_t i = 0; i < attributes.pads_begin.size(); ++i) {
    attributes.pads_begin[i] = attributes.pads_begin[i] + pad->before()[i + 2];
    attributes.pads_end[i] = attributes.pads_end[i] + pad->after()[i + 2];
  }
  Patch patch(graph);
  patch.absorb(pad_id);
  patch.absorb(id);
  std::vector<ValueId> inputs = node.inputs;
  inputs[0] = graph.node(pad_id).inputs[0];
  const DType dtype = graph.fact(node.outputs[0]).dtype;
  const auto op = std::make_shared<Convolution>(std::move(attributes), convolution->epilogue(),
                                                convolution->epilogue().empty() ? DType::undefined : dtype);
  patch.replace(node.outputs[0], patch.add_node(op, std::move(inputs)));
  return RuleResult::rewrite(std::move(patch));
}

constexpr std::array rules{
    Rule{"scale-into-weights", "a factor for each column of a contraction moves into its weights",
         scale_into_weights},
    Rule{"pad-into-convolution", "zeros around an image become the convolution's padding", pad_into_convolution},
};

}  // namespace

std::span<const Rule> contraction_rules() { return rules; }

}  // namespace lapilli
