// Rules that remove work or move constants to where they can be folded.
#include <algorithm>
#include <array>

#include "ops/contraction.h"
#include "ops/movement.h"
#include "ops/pointwise.h"
#include "passes/rules.h"

namespace lapilli {
namespace {

RuleResult forward(const Graph& graph, NodeId id, ValueId from, ValueId to) {
  Patch patch(graph);
  patch.absorb(id);
  patch.replace(from, to);
  return RuleResult::rewrite(std::move(patch));
}

bool moves_nothing(const Graph& graph, const Node& node) {
  if (node.inputs.empty() || node.inputs[0] == no_value) return false;
  const Fact &input = graph.fact(node.inputs[0]), &output = graph.fact(node.outputs[0]);
  if (input.shape != output.shape) return false;
  if (operator_as<Reshape>(node) != nullptr || operator_as<Expand>(node) != nullptr ||
      operator_as<Pad>(node) != nullptr)
    return true;
  if (const auto* slice = operator_as<Slice>(node)) return slice->takes_all(input.shape);
  if (const auto* transpose = operator_as<Transpose>(node)) return std::ranges::is_sorted(transpose->permutation());
  return false;
}

RuleResult remove_movement(const Graph& graph, NodeId id, Assumptions& /*assumptions*/) {
  const Node& node = graph.node(id);
  if (!moves_nothing(graph, node)) return RuleResult::no_match();
  return forward(graph, id, node.outputs[0], node.inputs[0]);
}

// x * 1, x / 1, x + 0, x - 0 with a constant of which every element is that.
bool has_no_effect(const PointwiseChain& chain, const Tensor& constant) {
  double neutral = 0;
  switch (chain.steps[0].function) {
    case PointwiseFunction::multiply:
    case PointwiseFunction::divide: neutral = 1; break;
    case PointwiseFunction::add:
    case PointwiseFunction::subtract: break;
    default: return false;
  }
  PointwiseChain compare;
  const std::uint8_t number = compare.add(Immediate{constant.dtype(), neutral, static_cast<std::int64_t>(neutral)});
  compare.add(PointwiseFunction::equal, constant.dtype(), {0, number, 0});
  const Tensor equal = evaluate_chain(compare, {&constant, 1}, DType::boolean);
  return std::ranges::all_of(equal.elements<std::uint8_t>(), [](std::uint8_t element) { return element != 0; });
}

RuleResult remove_neutral(const Graph& graph, NodeId id, Assumptions& /*assumptions*/) {
  const Node& node = graph.node(id);
  const auto* op = operator_as<Pointwise>(node);
  if (op == nullptr || op->chain().steps.size() != 1 || node.inputs.size() != 2) return RuleResult::no_match();
  for (const PointwiseFunction function : {PointwiseFunction::multiply, PointwiseFunction::add,
                                           PointwiseFunction::divide, PointwiseFunction::subtract}) {
    const auto match = match_with_constant(graph, id, function);
    if (!match) continue;
    const bool ordered = function == PointwiseFunction::multiply || function == PointwiseFunction::add ||
                         match->constant == node.inputs[1];
    if (ordered && has_no_effect(op->chain(), graph.fact(match->constant).constant)) {
      return forward(graph, id, node.outputs[0], match->operand);
    }
  }
  return RuleResult::no_match();
}

// (x + b) * a becomes x * a + b * a, so that a reaches the weights before it.
RuleResult multiply_before_add(const Graph& graph, NodeId id, Assumptions& /*assumptions*/) {
  const auto product = match_with_constant(graph, id, PointwiseFunction::multiply);
  if (!product || only_consumer(graph, product->operand) != id) return RuleResult::no_match();
  const NodeId sum_id = graph.value(product->operand).producer;
  const auto sum = match_with_constant(graph, sum_id, PointwiseFunction::add);
  if (!sum) return RuleResult::no_match();
  const DType dtype = graph.fact(product->operand).dtype;
  if (!is_floating_point(dtype)) return RuleResult::no_match();
  Patch patch(graph);
  patch.absorb(sum_id);
  patch.absorb(id);
  const ValueId scaled =
      patch.add_node(make_pointwise(PointwiseFunction::multiply, dtype, 2), {sum->operand, product->constant});
  const ValueId summand =
      patch.add_node(make_pointwise(PointwiseFunction::multiply, dtype, 2), {sum->constant, product->constant});
  patch.replace(graph.node(id).outputs[0],
                patch.add_node(make_pointwise(PointwiseFunction::add, dtype, 2), {scaled, summand}));
  return RuleResult::rewrite(std::move(patch));
}

// (x + b) + c becomes x + (b + c), and the same for products.
template <PointwiseFunction function>
RuleResult merge_constants(const Graph& graph, NodeId id, Assumptions& /*assumptions*/) {
  const auto outer = match_with_constant(graph, id, function);
  if (!outer || only_consumer(graph, outer->operand) != id) return RuleResult::no_match();
  const NodeId inner_id = graph.value(outer->operand).producer;
  const auto inner = match_with_constant(graph, inner_id, function);
  if (!inner) return RuleResult::no_match();
  const DType dtype = graph.fact(outer->operand).dtype;
  Patch patch(graph);
  patch.absorb(inner_id);
  patch.absorb(id);
  const ValueId constant = patch.add_node(make_pointwise(function, dtype, 2), {inner->constant, outer->constant});
  patch.replace(graph.node(id).outputs[0],
                patch.add_node(make_pointwise(function, dtype, 2), {inner->operand, constant}));
  return RuleResult::rewrite(std::move(patch));
}

// Constants of one element become numbers of the chain.
RuleResult scalar_to_immediate(const Graph& graph, NodeId id, Assumptions& /*assumptions*/) {
  const Node& node = graph.node(id);
  const auto* op = operator_as<Pointwise>(node);
  if (op == nullptr || node.inputs.size() < 2) return RuleResult::no_match();
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (!graph.is_constant(node.inputs[i]) || graph.fact(node.inputs[i]).constant.element_count() != 1) continue;
    std::vector<ValueId> inputs = node.inputs;
    inputs.erase(inputs.begin() + static_cast<std::ptrdiff_t>(i));
    const bool shape_kept = std::ranges::any_of(
        inputs, [&](ValueId input) { return graph.fact(input).shape == graph.fact(node.outputs[0]).shape; });
    if (!shape_kept || op->chain().immediates.size() >= pointwise_limits.immediates) continue;
    Patch patch(graph);
    patch.absorb(id);
    PointwiseChain chain = with_immediate(op->chain(), static_cast<std::uint8_t>(i),
                                          Immediate::of_tensor(graph.fact(node.inputs[i]).constant));
    patch.replace(node.outputs[0], patch.add_node(std::make_shared<Pointwise>(std::move(chain), op->output_dtype()),
                                                  std::move(inputs)));
    return RuleResult::rewrite(std::move(patch));
  }
  return RuleResult::no_match();
}

RuleResult merge_reshapes(const Graph& graph, NodeId id, Assumptions& /*assumptions*/) {
  const Node& node = graph.node(id);
  if (operator_as<Reshape>(node) == nullptr) return RuleResult::no_match();
  const NodeId inner = graph.value(node.inputs[0]).producer;
  if (inner == no_node || operator_as<Reshape>(graph.node(inner)) == nullptr) return RuleResult::no_match();
  Patch patch(graph);
  patch.absorb(inner);
  patch.absorb(id);
  patch.replace(node.outputs[0], patch.add_node(node.op, {graph.node(inner).inputs[0]}));
  return RuleResult::rewrite(std::move(patch));
}

RuleResult merge_transposes(const Graph& graph, NodeId id, Assumptions& /*assumptions*/) {
  const Node& node = graph.node(id);
  const auto* outer = operator_as<Transpose>(node);
  if (outer == nullptr) return RuleResult::no_match();
  const NodeId inner_id = graph.value(node.inputs[0]).producer;
  const auto* inner = inner_id == no_node ? nullptr : operator_as<Transpose>(graph.node(inner_id));
  if (inner == nullptr) return RuleResult::no_match();
  std::vector<int> permutation;
  for (const int axis : outer->permutation())
    permutation.push_back(inner->permutation()[static_cast<std::size_t>(axis)]);
  Patch patch(graph);
  patch.absorb(inner_id);
  patch.absorb(id);
  patch.replace(node.outputs[0], patch.add_node(std::make_shared<Transpose>(std::move(permutation)),
                                                {graph.node(inner_id).inputs[0]}));
  return RuleResult::rewrite(std::move(patch));
}

bool exchanges_last_two(const Transpose& transpose) {
  std::vector<int> permutation = transpose.permutation();
  if (permutation.size() < 2) return false;
  std::swap(permutation.back(), permutation[permutation.size() - 2]);
  return std::ranges::is_sorted(permutation);
}

const Transpose* transpose_for_product(const Graph& graph, ValueId value) {
  const NodeId producer = graph.value(value).producer;
  const auto* transpose = producer == no_node ? nullptr : operator_as<Transpose>(graph.node(producer));
  return transpose != nullptr && exchanges_last_two(*transpose) ? transpose : nullptr;
}

// Kernels of products go by strides, and read a factor either way.
RuleResult transpose_into_product(const Graph& graph, NodeId id, Assumptions& /*assumptions*/) {
  const Node& node = graph.node(id);
  const auto* product = operator_as<MatMul>(node);
  if (product == nullptr) return RuleResult::no_match();
  std::array<bool, 2> transposed{product->transpose_a(), product->transpose_b()};
  std::vector<ValueId> inputs = node.inputs;
  Patch patch(graph);
  for (std::size_t i = 0; i < 2; ++i) {
    if (transpose_for_product(graph, inputs[i]) == nullptr) continue;
    const NodeId producer = graph.value(inputs[i]).producer;
    patch.absorb(producer);
    inputs[i] = graph.node(producer).inputs[0];
    transposed[i] = !transposed[i];
  }
  if (inputs == node.inputs) return RuleResult::no_match();
  patch.absorb(id);
  patch.replace(node.outputs[0],
                patch.add_node(std::make_shared<MatMul>(transposed[0], transposed[1], product->epilogue(),
                                                        graph.fact(node.outputs[0]).dtype),
                               std::move(inputs)));
  return RuleResult::rewrite(std::move(patch));
}

// What no product takes in is worth a copy of the constant.
RuleResult fold_transpose(const Graph& graph, NodeId id, Assumptions& /*assumptions*/) {
  const Node& node = graph.node(id);
  const auto* transpose = operator_as<Transpose>(node);
  if (transpose == nullptr || !graph.is_constant(node.inputs[0])) return RuleResult::no_match();
  const auto takes_it_in = [&](NodeId consumer) { return operator_as<MatMul>(graph.node(consumer)) != nullptr; };
  if (exchanges_last_two(*transpose) && std::ranges::all_of(graph.value(node.outputs[0]).consumers, takes_it_in)) {
    return RuleResult::no_match();
  }
  Patch patch(graph);
  patch.absorb(id);
  const Tensor source = graph.fact(node.inputs[0]).constant.aligned();
  patch.replace(node.outputs[0], patch.add_constant(transpose->evaluate({&source, 1})[0]));
  return RuleResult::rewrite(std::move(patch));
}

constexpr std::array rules{
    Rule{"remove-movement", "reshapes, transpositions, slices, pads and expansions that change nothing",
         remove_movement},
    Rule{"merge-reshapes", "a reshape of a reshape", merge_reshapes},
    Rule{"merge-transposes", "a transposition of a transposition", merge_transposes},
    Rule{"transpose-into-product", "a product reads a factor whose last two axes are exchanged as it lies",
         transpose_into_product},
    Rule{"fold-transpose", "a constant that is transposed for anything but a product", fold_transpose},
    Rule{"remove-neutral", "x * 1, x / 1, x + 0, x - 0", remove_neutral},
    Rule{"multiply-before-add", "(x + b) * a becomes x * a + b * a", multiply_before_add},
    Rule{"merge-sums", "(x + b) + c becomes x + (b + c)", merge_constants<PointwiseFunction::add>},
    Rule{"merge-products", "(x * b) * c becomes x * (b * c)", merge_constants<PointwiseFunction::multiply>},
    Rule{"scalar-to-immediate", "constants of one element become numbers in the kernel", scalar_to_immediate},
};

}  // namespace

std::optional<NodeWithConstant> match_with_constant(const Graph& graph, NodeId id, PointwiseFunction function) {
  if (id == no_node) return std::nullopt;
  const Node& node = graph.node(id);
  const auto* op = operator_as<Pointwise>(node);
  const bool simple = op != nullptr && node.inputs.size() == 2 && op->chain().steps.size() == 1;
  if (!simple || op->chain().steps[0].function != function) return std::nullopt;
  for (const std::size_t i : {std::size_t{1}, std::size_t{0}}) {
    const ValueId constant = node.inputs[i], operand = node.inputs[1 - i];
    if (!graph.is_constant(constant) || graph.is_constant(operand)) continue;
    if (graph.fact(node.outputs[0]).shape == graph.fact(operand).shape) return NodeWithConstant{operand, constant};
  }
  return std::nullopt;
}

std::span<const Rule> simplification_rules() { return rules; }

}  // namespace lapilli
