// Tree ensembles of ai.onnx.ml.
#include <algorithm>
#include <array>
#include <format>
#include <optional>

#include "import/onnx/operators/scores.h"
#include "import/onnx/operators/trees.h"
#include "ops/movement.h"

namespace lapilli::onnx {
namespace {

using Function = PointwiseFunction;

enum class Aggregation : std::uint8_t { average, sum, minimum, maximum };

// The rows that trees decide on. Integers and small floats are compared as float32.
ValueId rows_for(NodeBuilder& node, const Trees& trees) {
  const bool wide = trees.wide || node.dtype(node.input(0)) == DType::float64;
  const ValueId rows = feature_rows(node, wide ? DType::float64 : DType::float32);
  const std::int64_t width = width_of(node, rows), features = trees.feature_count();
  if (features > width) {
    node.fail_model(std::format("a decision is on feature {}, and rows have {}", features - 1, width));
  }
  return rows;
}

// base_values, as a list or as a tensor; nothing where the node has none.
std::optional<ValueId> base_values(NodeBuilder& node, DType dtype) {
  if (const Tensor* tensor = node.tensor("base_values_as_tensor")) {
    return node.cast(node.constant(tensor->reshaped({tensor->element_count()})), dtype);
  }
  const Reals values = reals(node, "base_values");
  if (values.empty()) return std::nullopt;
  return node.cast(real_constant(node, {static_cast<std::int64_t>(values.size())}, values), dtype);
}

void check_targets(NodeBuilder& node, const Trees& trees, std::int64_t targets) {
  constexpr std::int64_t most_targets = 1 << 20;
  if (targets < 1 || targets > most_targets) node.fail_model(std::format("there are {} targets", targets));
  if (trees.target_count() > targets) {
    node.fail_model(std::format("a leaf is for target {}, and there are {}", trees.target_count() - 1, targets));
  }
}

ValueId with_base(NodeBuilder& node, ValueId scores, std::int64_t targets) {
  const auto base = base_values(node, node.dtype(scores));
  if (!base) return scores;
  const Dim count = node.shape(*base)[0];
  if (count != Dim(targets)) {
    node.fail_model(std::format("{} base_values for {} targets", count.to_string(), targets));
  }
  return node.pointwise(Function::add, {scores, *base});
}

void regress(NodeBuilder& node, const Trees& trees, Aggregation aggregation, DType dtype) {
  const std::int64_t targets = node.integer("n_targets", 1);
  check_targets(node, trees, targets);
  const ReductionFunction function = aggregation == Aggregation::minimum   ? ReductionFunction::minimum
                                     : aggregation == Aggregation::maximum ? ReductionFunction::maximum
                                                                           : ReductionFunction::sum;
  ValueId scores = add_trees(node, trees, function, targets, rows_for(node, trees));
  if (aggregation == Aggregation::average && trees.roots.size() > 1) {
    scores = node.pointwise(Function::divide, {scores}, {Immediate::of(static_cast<double>(trees.roots.size()))});
  }
  scores = transform_scores(node, score_transform_of(node), with_base(node, scores, targets));
  node.set_output(0, node.cast(scores, dtype));
}

void build_ensemble(NodeBuilder& node) {
  const std::int64_t function = node.integer("aggregate_function", 1);
  if (function < 0 || function > 3) node.fail_model(std::format("aggregate_function is {}", function));
  regress(node, read_trees(node.node()), static_cast<Aggregation>(function), node.dtype(node.input(0)));
}

void build_regressor(NodeBuilder& node) {
  constexpr std::array<std::string_view, 4> names{"AVERAGE", "SUM", "MIN", "MAX"};
  const std::string name = node.text("aggregate_function", "SUM");
  const auto* found = std::ranges::find(names, name);
  if (found == names.end()) node.fail_model(std::format("aggregate_function is '{}'", printable(name)));
  regress(node, read_trees_by_node(node.node(), "target"), static_cast<Aggregation>(found - names.begin()),
          DType::float32);
}

/// The class that all leaves speak of, where there is only one, and whether its score is a probability.
struct OnlyClass {
  std::int64_t number = 0;
  bool probability = true;
};

std::optional<OnlyClass> only_class(const Trees& trees) {
  std::optional<std::int64_t> number;
  bool probability = true;
  for (const auto& leaf : trees.leaves) {
    for (const LeafShare& share : leaf) {
      if (number && *number != share.target) return std::nullopt;
      number = share.target;
      probability = probability && share.weight >= 0;
    }
  }
  return OnlyClass{number.value_or(0), probability};
}

// The second class where the score of the one that leaves speak of is past its threshold, else the first.
ValueId choose_of_two(NodeBuilder& node, std::span<const std::int64_t> labels, const OnlyClass& only, ValueId score) {
  const ValueId bound = node.scalar(node.dtype(score), only.probability ? 0.5 : 0.0);
  const auto label = [&](std::size_t i) {
    return node.constant(Tensor::of<std::int64_t>(DType::int64, {}, labels.subspan(i, 1)));
  };
  const ValueId chosen =
      node.pointwise(Function::select, {node.pointwise(Function::less, {bound, score}), label(1), label(0)});
  return node.reshape(chosen, {node.shape(score)[0]});
}

ValueId column(NodeBuilder& node, ValueId scores, std::int64_t place) {
  return node.add(std::make_shared<Slice>(std::vector<Dim>{0, place}, std::vector<Dim>{node.shape(scores)[0], 1},
                                          std::vector<Dim>{1, 1}),
                  {scores});
}

// Leaves speak of the first of two classes alone. Their score is that of the second one for all that, and the first
// one's follows from it; of two base values, the second one belongs to it.
void classify_by_one_score(NodeBuilder& node, const Trees& trees, std::span<const std::int64_t> labels,
                           const OnlyClass& only) {
  ValueId score = add_trees(node, trees, ReductionFunction::sum, 1, rows_for(node, trees));
  if (const auto base = base_values(node, node.dtype(score))) {
    const auto count = node.shape(*base)[0].constant();
    if (!count || *count < 1 || *count > 2) node.fail_model("base_values are neither one nor two");
    const ValueId own =
        *count == 1 ? *base
                    : node.add(std::make_shared<Slice>(std::vector<Dim>{1}, std::vector<Dim>{1}, std::vector<Dim>{1}),
                               {*base});
    score = node.pointwise(Function::add, {score, own});
  }
  node.set_output(0, choose_of_two(node, labels, only, score));
  const ValueId scores = binary_scores(node, score_transform_of(node), score, only.probability);
  node.set_output(1, node.cast(scores, DType::float32));
}

// Labels are integers here: names of classes are put in their place afterwards (import/onnx/expand.cpp).
void build_classifier(NodeBuilder& node) {
  const Trees trees = read_trees_by_node(node.node(), "class");
  const auto labels = node.integers("classlabels_int64s").value_or(std::vector<std::int64_t>());
  if (labels.empty()) node.fail_model("the node has no class labels");
  const auto classes = static_cast<std::int64_t>(labels.size());
  check_targets(node, trees, classes);
  const std::optional<OnlyClass> only = classes == 2 ? only_class(trees) : std::nullopt;
  if (only && only->number == 0) return classify_by_one_score(node, trees, labels, *only);
  ValueId scores = add_trees(node, trees, ReductionFunction::sum, classes, rows_for(node, trees));
  scores = with_base(node, scores, classes);
  node.set_output(0, only ? choose_of_two(node, labels, *only, column(node, scores, 1))
                          : labels_at(node, labels, largest_places(node, scores)));
  node.set_output(1, node.cast(transform_scores(node, score_transform_of(node), scores), DType::float32));
}

constexpr std::string_view domain = "ai.onnx.ml";

constexpr TypeSet features = types::single_or_double | types::indices;

constexpr std::array records{
    OperatorRecord{"TreeEnsemble", 5, build_ensemble, {types::single_or_double | TypeSet{DType::float16}}, domain},
    OperatorRecord{"TreeEnsembleClassifier", 1, build_classifier, {features}, domain},
    OperatorRecord{"TreeEnsembleRegressor", 1, build_regressor, {features}, domain},
};

}  // namespace

std::span<const OperatorRecord> tree_ensemble_operators() { return records; }

}  // namespace lapilli::onnx
