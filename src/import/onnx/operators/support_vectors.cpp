// Support vector machines of ai.onnx.ml.
#include <algorithm>
#include <array>
#include <format>

#include "import/onnx/operators/scores.h"
#include "ops/contraction.h"
#include "ops/pair_coupling.h"

namespace lapilli::onnx {
namespace {

using Function = PointwiseFunction;
using Integers = std::vector<std::int64_t>;

// What the rows are to each support vector, [N, vectors].
ValueId kernel_values(NodeBuilder& node, ValueId rows, std::int64_t vectors) {
  const Reals numbers = reals(node, "support_vectors");
  Reals parameters = reals(node, "kernel_params");
  if (parameters.empty()) parameters.assign(3, 0.0F);
  const std::int64_t width = width_of(node, rows);
  if (parameters.size() != 3 || width < 1 || static_cast<std::int64_t>(numbers.size()) / width != vectors ||
      static_cast<std::int64_t>(numbers.size()) % width != 0) {
    node.fail_model(std::format("{} numbers in {} support vectors of {} features, and {} kernel_params",
                                numbers.size(), vectors, width, parameters.size()));
  }
  const std::string kernel = node.text("kernel_type", "LINEAR");
  if (kernel == "RBF") {
    const ValueId others = real_constant(node, {1, vectors, width}, numbers);
    const ValueId difference = node.pointwise(Function::subtract, {node.unsqueeze(rows, std::array{1}), others});
    const ValueId distance = node.add(
        std::make_shared<Reduction>(ReductionFunction::sum, Preparation::square, std::vector{2}), {difference});
    const ValueId scaled = node.pointwise(Function::multiply, {distance}, {Immediate::of(-parameters[0])});
    return node.reshape(node.pointwise(Function::exponential, {scaled}), {node.shape(rows)[0], Dim(vectors)});
  }
  const ValueId others = real_constant(node, {vectors, width}, numbers);
  const ValueId product = node.add(std::make_shared<MatMul>(false, true), {rows, others});
  if (kernel == "LINEAR") return product;
  const ValueId scaled = node.pointwise(Function::multiply, {product}, {Immediate::of(parameters[0])});
  const ValueId affine = node.pointwise(Function::add, {scaled}, {Immediate::of(parameters[1])});
  if (kernel == "SIGMOID") return node.pointwise(Function::hyperbolic_tangent, {affine});
  if (kernel != "POLY") node.fail_model(std::format("kernel_type is '{}'", printable(kernel)));
  return node.pointwise(Function::power, {affine}, {Immediate::of(parameters[2])});
}

void build_regressor(NodeBuilder& node) {
  const ValueId rows = feature_rows(node);
  const std::int64_t vectors = node.integer("n_supports", 0);
  const Reals coefficients = reals(node, "coefficients"), rho = reals(node, "rho");
  const ValueId values = vectors > 0 ? kernel_values(node, rows, vectors) : rows;
  const std::int64_t count = width_of(node, values);
  if (rho.empty() || std::cmp_not_equal(coefficients.size(), count)) {
    node.fail_model(std::format("{} coefficients and {} rho for {} values", coefficients.size(), rho.size(), count));
  }
  ValueId scores = node.add(std::make_shared<MatMul>(), {values, real_constant(node, {count, 1}, coefficients)});
  scores = node.pointwise(Function::add, {scores}, {Immediate::of(rho[0])});
  if (node.integer("one_class", 0) != 0) {
    const ValueId inside = node.pointwise(Function::less, {node.scalar(DType::float32, 0), scores});
    scores =
        node.pointwise(Function::select, {inside, node.scalar(DType::float32, 1), node.scalar(DType::float32, -1)});
  }
  node.set_output(0, transform_scores(node, score_transform_of(node), scores));
}

// Pairs of classes, (0, 1), (0, 2), ..., (1, 2), ...
template <class Action>
void for_each_pair(std::int64_t classes, Action&& action) {
  std::size_t pair = 0;
  for (std::int64_t i = 0; i < classes; ++i) {
    for (std::int64_t j = i + 1; j < classes; ++j)
      action(pair++, static_cast<std::size_t>(i), static_cast<std::size_t>(j));
  }
}

/// The attributes of a classifier with support vectors, checked.
struct Machine {
  std::int64_t classes = 0, vectors = 0, pairs = 0;
  std::vector<std::size_t> starts;  // of each class' vectors, and their end
  Reals coefficients, rho, prob_a, prob_b;
};

Machine read_machine(NodeBuilder& node, std::int64_t classes) {
  constexpr std::int64_t most_classes = 256;
  if (classes > most_classes) {
    throw Error(ErrorCode::limit_exceeded, std::format("{} classes, {} is the most", classes, most_classes));
  }
  Machine machine{classes,
                  0,
                  classes * (classes - 1) / 2,
                  {0},
                  reals(node, "coefficients"),
                  reals(node, "rho"),
                  reals(node, "prob_a"),
                  reals(node, "prob_b")};
  const auto most = static_cast<std::int64_t>(reals(node, "support_vectors").size());
  for (const std::int64_t size : node.integers("vectors_per_class").value_or(Integers())) {
    if (size < 0 || size > most) node.fail_model(std::format("vectors_per_class has {}", size));
    machine.vectors += size;
    machine.starts.push_back(static_cast<std::size_t>(machine.vectors));
  }
  return machine;
}

void check_machine(NodeBuilder& node, const Machine& machine) {
  const bool fits = std::cmp_equal(machine.starts.size(), machine.classes + 1) && machine.classes > 1 &&
                    std::cmp_equal(machine.coefficients.size(), (machine.classes - 1) * machine.vectors) &&
                    std::cmp_greater_equal(machine.rho.size(), machine.pairs) &&
                    machine.prob_a.size() == machine.prob_b.size() &&
                    (machine.prob_a.empty() || std::cmp_greater_equal(machine.prob_a.size(), machine.pairs));
  if (fits) return;
  node.fail_model(std::format(
      "{} coefficients, {} vectors in {} vectors_per_class, {} rho, {} prob_a and {} prob_b do not fit {} classes",
      machine.coefficients.size(), machine.vectors, machine.starts.size() - 1, machine.rho.size(),
      machine.prob_a.size(), machine.prob_b.size(), machine.classes));
}

// The score of each pair: kernels of both classes' vectors, each with the coefficient that it has against the other.
ValueId pair_scores(NodeBuilder& node, const Machine& machine, ValueId kernels) {
  const auto pairs = static_cast<std::size_t>(machine.pairs), vectors = static_cast<std::size_t>(machine.vectors);
  Reals factors(vectors * pairs, 0.0F);
  for_each_pair(machine.classes, [&](std::size_t pair, std::size_t i, std::size_t j) {
    for (std::size_t v = machine.starts[i]; v < machine.starts[i + 1]; ++v) {
      factors[v * pairs + pair] = machine.coefficients[(j - 1) * vectors + v];
    }
    for (std::size_t v = machine.starts[j]; v < machine.starts[j + 1]; ++v) {
      factors[v * pairs + pair] = machine.coefficients[i * vectors + v];
    }
  });
  const ValueId product =
      node.add(std::make_shared<MatMul>(), {kernels, real_constant(node, {machine.vectors, machine.pairs}, factors)});
  const Reals rho(machine.rho.begin(), machine.rho.begin() + machine.pairs);
  return node.pointwise(Function::add, {product, real_constant(node, {machine.pairs}, rho)});
}

// How many pairs each class wins: of its pairs, those in which it is the first one and the score is above zero, and
// those in which it is the second one and the score is not.
ValueId count_votes(NodeBuilder& node, const Machine& machine, ValueId scores) {
  const auto classes = static_cast<std::size_t>(machine.classes);
  Reals signs(static_cast<std::size_t>(machine.pairs) * classes, 0.0F), lost(classes, 0.0F);
  for_each_pair(machine.classes, [&](std::size_t pair, std::size_t i, std::size_t j) {
    signs[pair * classes + i] = 1;
    signs[pair * classes + j] = -1;
    lost[j] += 1;
  });
  const ValueId wins =
      node.cast(node.pointwise(Function::less, {node.scalar(DType::float32, 0), scores}), DType::float32);
  const ValueId difference =
      node.add(std::make_shared<MatMul>(), {wins, real_constant(node, {machine.pairs, machine.classes}, signs)});
  return node.pointwise(Function::add, {difference, real_constant(node, {machine.classes}, lost)});
}

ValueId class_probabilities(NodeBuilder& node, const Machine& machine, ValueId scores) {
  const auto of_pairs = [&](const Reals& numbers) {
    return real_constant(node, {machine.pairs}, Reals(numbers.begin(), numbers.begin() + machine.pairs));
  };
  const ValueId scaled = node.pointwise(Function::multiply, {scores, of_pairs(machine.prob_a)});
  const ValueId shifted = node.pointwise(Function::add, {scaled, of_pairs(machine.prob_b)});
  const ValueId first = node.pointwise(Function::sigmoid, {node.pointwise(Function::negate, {shifted})});
  const ValueId inside = node.pointwise(Function::clamp, {first}, {Immediate::of(1e-7), Immediate::of(1 - 1e-7)});
  return node.add(std::make_shared<PairCoupling>(machine.classes), {inside});
}

// Without support vectors: a score for each class.
ValueId class_scores(NodeBuilder& node, const Machine& machine, ValueId rows) {
  const std::int64_t width = width_of(node, rows);
  if (std::cmp_not_equal(machine.coefficients.size(), machine.classes * width) || machine.rho.empty()) {
    node.fail_model(std::format("{} coefficients and {} rho for {} classes and {} features",
                                machine.coefficients.size(), machine.rho.size(), machine.classes, width));
  }
  const ValueId factors = real_constant(node, {machine.classes, width}, machine.coefficients);
  const ValueId product = node.add(std::make_shared<MatMul>(false, true), {rows, factors});
  return node.pointwise(Function::add, {product}, {Immediate::of(machine.rho[0])});
}

// Labels are integers here: names of classes are put in their place afterwards (import/onnx/expand.cpp).
void build_classifier(NodeBuilder& node) {
  const Integers labels = node.integers("classlabels_ints").value_or(Integers());
  if (labels.empty()) node.fail_model("the node has no class labels");
  const Machine machine = read_machine(node, static_cast<std::int64_t>(labels.size()));
  const ValueId rows = feature_rows(node);
  const bool linear = machine.vectors == 0, probabilities = !linear && !machine.prob_a.empty();
  ValueId scores = no_value, votes = no_value;
  if (linear) {
    scores = votes = class_scores(node, machine, rows);
  } else {
    check_machine(node, machine);
    scores = pair_scores(node, machine, kernel_values(node, rows, machine.vectors));
    votes = count_votes(node, machine, scores);
    if (probabilities) scores = class_probabilities(node, machine, scores);
  }
  ValueId places = largest_places(node, votes);
  const bool positive = std::ranges::all_of(machine.coefficients, [](float value) { return value >= 0; });
  if (machine.classes == 2 && machine.rho.size() == 1 && !probabilities && positive) {
    // Weights without a sign choose the second class wherever one of the votes is past a half.
    const ValueId past =
        node.pointwise(Function::less_or_equal, {node.scalar(DType::float32, 0.5), largest_of_rows(node, votes)});
    const ValueId second = node.scalar(DType::int64, 1);
    places = node.pointwise(Function::select, {node.reshape(past, {node.shape(rows)[0]}), second, places});
  }
  node.set_output(0, labels_at(node, labels, places));
  const ScoreTransform transform = score_transform_of(node);
  const bool one_score = node.shape(scores)[1] == Dim(1);
  node.set_output(
      1, one_score ? binary_scores(node, transform, scores, false) : transform_scores(node, transform, scores));
}

constexpr std::string_view domain = "ai.onnx.ml";

constexpr TypeSet features = types::single_or_double | types::indices;

constexpr std::array records{
    OperatorRecord{"SVMClassifier", 1, build_classifier, {features}, domain},
    OperatorRecord{"SVMRegressor", 1, build_regressor, {features}, domain},
};

}  // namespace

std::span<const OperatorRecord> support_vector_operators() { return records; }

}  // namespace lapilli::onnx
