// Losses of classifiers, by composition.
#include <array>
#include <format>
#include <numeric>

#include "import/onnx/operators/node_builder.h"
#include "ops/gather.h"
#include "ops/normalization.h"
#include "ops/reduction.h"

namespace lapilli::onnx {
namespace {

using Function = PointwiseFunction;

enum class LossReduction : std::uint8_t { none, sum, mean };

LossReduction loss_reduction(NodeBuilder& node) {
  const std::string reduction = node.text("reduction", "mean");
  if (reduction == "none") return LossReduction::none;
  if (reduction == "sum") return LossReduction::sum;
  if (reduction == "mean") return LossReduction::mean;
  node.fail_model(std::format("reduction '{}' is none of none, sum, mean", reduction));
}

ValueId reduce_all(NodeBuilder& node, ReductionFunction function, ValueId value) {
  std::vector<int> axes(node.rank(value));
  std::iota(axes.begin(), axes.end(), 0);
  return node.reshape(node.add(std::make_shared<Reduction>(function, Preparation::none, std::move(axes)), {value}),
                      {});
}

// [N, C, ...] and [N, ...]: the classes are the one axis that the target lacks.
void check_target(NodeBuilder& node, ValueId scores, ValueId target) {
  const Shape &wide = node.shape(scores), &narrow = node.shape(target);
  const DType dtype = node.dtype(target);
  bool fits =
      wide.size() >= 2 && narrow.size() + 1 == wide.size() && (dtype == DType::int32 || dtype == DType::int64);
  for (std::size_t i = 0; fits && i < narrow.size(); ++i) {
    fits = node.assumptions().equal(narrow[i], wide[i == 0 ? 0 : i + 1]);
  }
  if (!fits) {
    node.fail_model(std::format("classes {} do not fit the scores {}", node.fact(target).to_string(),
                                node.fact(scores).to_string()));
  }
}

// The loss of log-probabilities; `weight` may be no_value.
ValueId negative_log_likelihood(NodeBuilder& node, ValueId scores, ValueId target, ValueId weight) {
  check_target(node, scores, target);
  const LossReduction reduction = loss_reduction(node);
  const bool ignores = node.has_attribute("ignore_index");
  ValueId kept = no_value;
  if (ignores) {
    const auto ignored = Immediate::of_integer(DType::int64, node.integer("ignore_index", 0));
    kept = node.pointwise(Function::logical_not, {node.pointwise(Function::equal, {target}, {ignored})});
    // What is ignored need not name a class.
    target = node.pointwise(Function::select, {kept, target}, {Immediate::of_integer(DType::int64, 0)});
  }
  const std::array class_axis{1};
  const ValueId chosen = node.add(std::make_shared<GatherElements>(1), {scores, node.unsqueeze(target, class_axis)});
  ValueId loss = node.pointwise(Function::negate, {node.reshape(chosen, node.shape(target))});
  ValueId factor = no_value;
  if (weight != no_value) factor = node.add(std::make_shared<Gather>(0), {weight, target});
  if (ignores) {
    factor = factor == no_value ? node.cast(kept, node.dtype(loss))
                                : node.pointwise(Function::select, {kept, factor}, {Immediate::of(0)});
    // Not a product: the loss of what is ignored may be infinite.
    loss = node.pointwise(Function::select, {kept, loss}, {Immediate::of(0)});
  }
  if (factor != no_value) loss = node.pointwise(Function::multiply, {loss, factor});
  if (reduction == LossReduction::none) return loss;
  if (reduction == LossReduction::sum) return reduce_all(node, ReductionFunction::sum, loss);
  if (factor == no_value) return reduce_all(node, ReductionFunction::mean, loss);
  return node.pointwise(Function::divide, {reduce_all(node, ReductionFunction::sum, loss),
                                           reduce_all(node, ReductionFunction::sum, factor)});
}

ValueId class_weight(NodeBuilder& node) { return node.has_input(2) ? node.input(2) : no_value; }

void build_negative_log_likelihood(NodeBuilder& node) {
  node.set_output(0, negative_log_likelihood(node, node.input(0), node.input(1), class_weight(node)));
}

void build_softmax_cross_entropy(NodeBuilder& node) {
  const ValueId scores = node.input(0);
  if (node.rank(scores) < 2) node.fail_model(std::format("scores {} have no classes", node.fact(scores).to_string()));
  NormalizationAttributes attributes;
  attributes.kind = NormalizationKind::log_softmax;
  attributes.axes = {1};
  const ValueId logarithms = node.add(std::make_shared<Normalization>(std::move(attributes)), {scores});
  node.set_output(0, negative_log_likelihood(node, logarithms, node.input(1), class_weight(node)));
  node.set_output(1, logarithms);
}

constexpr std::array records{
    OperatorRecord{"NegativeLogLikelihoodLoss",
                   12,
                   build_negative_log_likelihood,
                   {types::floats, types::indices, types::floats}},
    OperatorRecord{
        "SoftmaxCrossEntropyLoss", 12, build_softmax_cross_entropy, {types::floats, types::indices, types::floats}},
};

}  // namespace

std::span<const OperatorRecord> loss_operators() { return records; }

}  // namespace lapilli::onnx
