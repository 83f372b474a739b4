#include "import/onnx/operators/scores.h"

#include <algorithm>
#include <array>
#include <format>
#include <numbers>

#include "ops/gather.h"
#include "ops/movement.h"
#include "ops/normalization.h"

namespace lapilli::onnx {
namespace {

using Function = PointwiseFunction;

// A softmax in which scores of zero get no share of their own.
ValueId softmax_zero(NodeBuilder& node, ValueId scores) {
  const ValueId largest = largest_of_rows(node, scores);
  const ValueId size = node.pointwise(Function::absolute, {scores});
  const ValueId small = node.pointwise(Function::less_or_equal, {size}, {Immediate::of(1e-7)});
  const ValueId shifted = node.pointwise(Function::subtract, {scores, largest});
  const ValueId fall = node.pointwise(Function::exponential, {node.pointwise(Function::negate, {largest})});
  const ValueId shares = node.pointwise(Function::select, {small, node.pointwise(Function::multiply, {scores, fall}),
                                                           node.pointwise(Function::exponential, {shifted})});
  const ValueId sum = sum_of_rows(node, shares);
  const ValueId nothing = node.pointwise(Function::equal, {sum}, {Immediate::of(0.0)});
  return node.pointwise(Function::select, {nothing, node.scalar(node.dtype(scores), 0.5),
                                           node.pointwise(Function::divide, {shares, sum})});
}

// The approximation of the inverse error function that ONNX's runtimes share.
ValueId probit(NodeBuilder& node, ValueId scores) {
  const auto with = [&](Function function, ValueId value, double number) {
    return node.pointwise(function, {value}, {Immediate::of(number)});
  };
  const ValueId x = with(Function::subtract, with(Function::multiply, scores, 2), 1);
  const ValueId rest = node.pointwise(
      Function::multiply, {with(Function::add, node.pointwise(Function::negate, {x}), 1), with(Function::add, x, 1)});
  const ValueId log = node.pointwise(Function::logarithm, {rest});
  const ValueId v = with(Function::add, with(Function::multiply, log, 0.5), 2 / (std::numbers::pi * 0.147));
  const ValueId inner = node.pointwise(
      Function::subtract, {node.pointwise(Function::multiply, {v, v}), with(Function::divide, log, 0.147)});
  const ValueId root =
      node.pointwise(Function::square_root,
                     {node.pointwise(Function::subtract, {node.pointwise(Function::square_root, {inner}), v})});
  const ValueId result = node.pointwise(
      Function::multiply, {with(Function::multiply, root, std::numbers::sqrt2), node.pointwise(Function::sign, {x})});
  return node.pointwise(Function::select,
                        {with(Function::equal, rest, 0), node.scalar(node.dtype(scores), 0), result});
}

}  // namespace

Reals reals(const NodeBuilder& node, std::string_view name) {
  const auto* values = node.node().find<Reals>(name);
  return values == nullptr ? Reals() : *values;
}

ValueId real_constant(NodeBuilder& node, std::vector<std::int64_t> shape, const Reals& values) {
  return node.constant(Tensor::of<float>(DType::float32, std::move(shape), values));
}

ValueId feature_rows(NodeBuilder& node, DType dtype) {
  const ValueId x = node.cast(node.input(0), dtype);
  if (node.rank(x) == 1) return node.reshape(x, {Dim(1), node.shape(x)[0]});
  if (node.rank(x) != 2) {
    node.fail_model(std::format("the input {} is neither [C] nor [N, C]", node.fact(x).to_string()));
  }
  return x;
}

std::int64_t width_of(NodeBuilder& node, ValueId rows) { return node.assumptions().number(node.shape(rows).back()); }

ValueId largest_of_rows(NodeBuilder& node, ValueId rows) {
  return node.add(std::make_shared<Reduction>(ReductionFunction::maximum, Preparation::none, std::vector{1}), {rows});
}

ValueId sum_of_rows(NodeBuilder& node, ValueId rows, Preparation preparation) {
  return node.add(std::make_shared<Reduction>(ReductionFunction::sum, preparation, std::vector{1}), {rows});
}

ScoreTransform score_transform_of(const NodeBuilder& node) {
  constexpr std::array<std::string_view, 5> names{"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
  const Attribute* attribute = node.node().find_attribute("post_transform");
  if (attribute == nullptr) return ScoreTransform::none;
  if (const auto* number = std::get_if<std::int64_t>(&attribute->value)) {
    if (*number >= 0 && std::cmp_less(*number, names.size())) return static_cast<ScoreTransform>(*number);
    node.fail_model(std::format("post_transform is {}", *number));
  }
  const std::string name = node.text("post_transform", "NONE");
  const auto* found = std::ranges::find(names, name);
  if (found == names.end()) node.fail_model(std::format("post_transform is '{}'", printable(name)));
  return static_cast<ScoreTransform>(found - names.begin());
}

ValueId transform_scores(NodeBuilder& node, ScoreTransform transform, ValueId scores) {
  switch (transform) {
    case ScoreTransform::none: break;
    case ScoreTransform::logistic: return node.pointwise(PointwiseFunction::sigmoid, {scores});
    case ScoreTransform::softmax_zero: return softmax_zero(node, scores);
    case ScoreTransform::probit: return probit(node, scores);
    case ScoreTransform::softmax: {
      NormalizationAttributes attributes;
      attributes.kind = NormalizationKind::softmax;
      attributes.axes = {1};
      return node.add(std::make_shared<Normalization>(std::move(attributes)), {scores});
    }
  }
  return scores;
}

ValueId binary_scores(NodeBuilder& node, ScoreTransform transform, ValueId score, bool probability) {
  ValueId other = node.pointwise(PointwiseFunction::negate, {score});
  if (probability) other = node.pointwise(PointwiseFunction::add, {other}, {Immediate::of(1.0)});
  const ValueId both = node.add(std::make_shared<Concat>(1), {other, score});
  if (probability || transform == ScoreTransform::probit) return both;
  return transform_scores(node, transform, both);
}

ValueId largest_places(NodeBuilder& node, ValueId scores) {
  return node.reshape(node.add(std::make_shared<ExtremeIndex>(ReductionFunction::first_largest, 1), {scores}),
                      {node.shape(scores)[0]});
}

ValueId labels_at(NodeBuilder& node, std::span<const std::int64_t> labels, ValueId places) {
  const ValueId all =
      node.constant(Tensor::of<std::int64_t>(DType::int64, {static_cast<std::int64_t>(labels.size())}, labels));
  return node.add(std::make_shared<Gather>(0), {all, places});
}

}  // namespace lapilli::onnx
