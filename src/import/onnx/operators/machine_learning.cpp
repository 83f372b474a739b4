// Operators of ai.onnx.ml that are made of the families there are.
#include <algorithm>
#include <array>
#include <cmath>
#include <format>
#include <numbers>

#include "import/onnx/operators/node_builder.h"
#include "ops/contraction.h"
#include "ops/gather.h"
#include "ops/movement.h"
#include "ops/normalization.h"
#include "ops/reduction.h"

namespace lapilli::onnx {
namespace {

using Function = PointwiseFunction;
using Reals = std::vector<float>;

Reals reals(NodeBuilder& node, std::string_view name) {
  const auto* values = node.node().find<Reals>(name);
  return values == nullptr ? Reals() : *values;
}

ValueId real_constant(NodeBuilder& node, std::vector<std::int64_t> shape, const Reals& values) {
  return node.constant(Tensor::of<float>(DType::float32, std::move(shape), values));
}

ValueId scalar(NodeBuilder& node, float value, DType dtype) {
  return node.cast(real_constant(node, {}, {value}), dtype);
}

// The input as float32 rows; a vector is one row.
ValueId real_rows(NodeBuilder& node) {
  const ValueId x = node.cast(node.input(0), DType::float32);
  if (node.rank(x) == 1) return node.reshape(x, {Dim(1), node.shape(x)[0]});
  if (node.rank(x) != 2) {
    node.fail_model(std::format("the input {} is neither [C] nor [N, C]", node.fact(x).to_string()));
  }
  return x;
}

std::int64_t width_of(NodeBuilder& node, ValueId rows) { return node.assumptions().number(node.shape(rows).back()); }

// A list of one number for all features or of one for each.
ValueId for_features(NodeBuilder& node, std::string_view name, const Reals& values) {
  const auto count = static_cast<std::int64_t>(values.size());
  if (count != 1) {
    const ValueId x = node.input(0);
    if (node.rank(x) == 0 || !node.assumptions().equal(node.shape(x).back(), count)) {
      node.fail_model(std::format("{} {} for the features of {}", count, name, node.fact(x).to_string()));
    }
  }
  return real_constant(node, {count}, values);
}

ValueId largest_of_rows(NodeBuilder& node, ValueId rows) {
  return node.add(std::make_shared<Reduction>(ReductionFunction::maximum, Preparation::none, std::vector{1}), {rows});
}

ValueId sum_of_rows(NodeBuilder& node, ValueId rows, Preparation preparation) {
  return node.add(std::make_shared<Reduction>(ReductionFunction::sum, preparation, std::vector{1}), {rows});
}

// A softmax in which scores of zero get no share of their own.
ValueId softmax_zero(NodeBuilder& node, ValueId scores) {
  const ValueId largest = largest_of_rows(node, scores);
  const ValueId size = node.pointwise(Function::absolute, {scores});
  const ValueId small = node.pointwise(Function::less_or_equal, {size}, {Immediate::of(1e-7)});
  const ValueId shifted = node.pointwise(Function::subtract, {scores, largest});
  const ValueId fall = node.pointwise(Function::exponential, {node.pointwise(Function::negate, {largest})});
  const ValueId shares = node.pointwise(Function::select, {small, node.pointwise(Function::multiply, {scores, fall}),
                                                           node.pointwise(Function::exponential, {shifted})});
  const ValueId sum = sum_of_rows(node, shares, Preparation::none);
  const ValueId nothing = node.pointwise(Function::equal, {sum}, {Immediate::of(0.0)});
  return node.pointwise(Function::select, {nothing, scalar(node, 0.5F, DType::float32),
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
  return node.pointwise(Function::select, {with(Function::equal, rest, 0), scalar(node, 0, DType::float32), result});
}

ValueId post_transform(NodeBuilder& node, ValueId scores) {
  const std::string name = node.text("post_transform", "NONE");
  if (name == "NONE") return scores;
  if (name == "LOGISTIC") return node.pointwise(Function::sigmoid, {scores});
  if (name == "SOFTMAX_ZERO") return softmax_zero(node, scores);
  if (name == "PROBIT") return probit(node, scores);
  if (name != "SOFTMAX") node.fail_model(std::format("post_transform is '{}'", printable(name)));
  NormalizationAttributes attributes;
  attributes.kind = NormalizationKind::softmax;
  attributes.axes = {1};
  return node.add(std::make_shared<Normalization>(std::move(attributes)), {scores});
}

// [N, targets] = rows * coefficients' + intercepts, coefficients as [targets, C].
ValueId linear_scores(NodeBuilder& node, ValueId rows, std::int64_t targets) {
  const Reals coefficients = reals(node, "coefficients"), intercepts = reals(node, "intercepts");
  const std::int64_t width = width_of(node, rows);
  const auto count = static_cast<std::int64_t>(coefficients.size());
  if (targets < 1 || count % targets != 0 || count / targets != width) {
    node.fail_model(std::format("{} coefficients for {} targets and {} features", count, targets, width));
  }
  const ValueId factors = real_constant(node, {targets, width}, coefficients);
  const ValueId scores = node.add(std::make_shared<MatMul>(false, true), {rows, factors});
  if (intercepts.empty()) return scores;
  if (intercepts.size() != 1 && std::cmp_not_equal(intercepts.size(), targets)) {
    node.fail_model(std::format("{} intercepts for {} targets", intercepts.size(), targets));
  }
  const auto summands = static_cast<std::int64_t>(intercepts.size());
  return node.pointwise(Function::add, {scores, real_constant(node, {summands}, intercepts)});
}

void build_linear_regressor(NodeBuilder& node) {
  node.set_output(0, post_transform(node, linear_scores(node, real_rows(node), node.integer("targets", 1))));
}

// Labels that are integers; strings are the host's, which asks for integers in their place.
void build_linear_classifier(NodeBuilder& node) {
  const ValueId rows = real_rows(node);
  const std::int64_t width = width_of(node, rows);
  const auto count = static_cast<std::int64_t>(reals(node, "coefficients").size());
  if (width < 1) node.fail_model("the input has no features");
  ValueId scores = linear_scores(node, rows, count / width);
  const auto labels = node.integers("classlabels_ints").value_or(std::vector<std::int64_t>());
  const bool one_score = count == width;
  if (one_score && labels.size() == 2) {
    const std::vector<ValueId> both{node.pointwise(Function::negate, {scores}), scores};
    scores = node.add(std::make_shared<Concat>(1), both);
  }
  scores = post_transform(node, scores);
  node.set_output(1, scores);
  if (!node.wants_output(0)) return;
  if (one_score && labels.size() != 2) {
    const double threshold = node.text("post_transform", "NONE") == "NONE" ? 0 : 0.5;
    const ValueId holds = node.pointwise(Function::less_or_equal,
                                         {scalar(node, static_cast<float>(threshold), DType::float32), scores});
    const std::array label{labels.empty() ? std::int64_t{1} : labels[0]};
    const ValueId yes = node.constant(Tensor::of<std::int64_t>(DType::int64, {}, label));
    const ValueId chosen =
        node.pointwise(Function::select, {holds, yes, node.constant(Tensor::allocate(DType::int64, {}))});
    return node.set_output(0, node.reshape(chosen, {node.shape(rows)[0]}));
  }
  ValueId chosen = node.reshape(
      node.add(std::make_shared<ExtremeIndex>(ReductionFunction::first_largest, 1), {scores}), {node.shape(rows)[0]});
  if (!labels.empty()) {
    if (!node.assumptions().equal(node.shape(scores)[1], static_cast<std::int64_t>(labels.size()))) {
      node.fail_model(std::format("{} labels for {}", labels.size(), node.fact(scores).to_string()));
    }
    const ValueId all =
        node.constant(Tensor::of<std::int64_t>(DType::int64, {static_cast<std::int64_t>(labels.size())}, labels));
    chosen = node.add(std::make_shared<Gather>(0), {all, chosen});
  }
  node.set_output(0, chosen);
}

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

void build_support_vector_regressor(NodeBuilder& node) {
  const ValueId rows = real_rows(node);
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
    const ValueId inside = node.pointwise(Function::less, {scalar(node, 0, DType::float32), scores});
    scores =
        node.pointwise(Function::select, {inside, scalar(node, 1, DType::float32), scalar(node, -1, DType::float32)});
  }
  node.set_output(0, post_transform(node, scores));
}

void build_feature_extractor(NodeBuilder& node) {
  const ValueId x = node.input(0), indices = node.input(1);
  if (node.rank(x) == 0) node.fail_model("the input is a scalar");
  const Dim count = element_count(node.shape(indices));
  const ValueId taken =
      node.add(std::make_shared<Gather>(static_cast<int>(node.rank(x)) - 1), {x, node.reshape(indices, {count})});
  node.set_output(0, node.rank(x) == 1 ? node.reshape(taken, {Dim(1), count}) : taken);
}

void build_binarizer(NodeBuilder& node) {
  const ValueId x = node.input(0);
  const DType dtype = node.dtype(x);
  const float threshold = node.real("threshold", 0.0F);
  // An integer is above a number exactly when it is above the integer below it.
  const ValueId bound = scalar(node, is_floating_point(dtype) ? threshold : std::floor(threshold), dtype);
  node.set_output(0, node.cast(node.pointwise(Function::less, {bound, x}), dtype));
}

void build_scaler(NodeBuilder& node) {
  ValueId x = node.cast(node.input(0), DType::float32);
  const Reals offset = reals(node, "offset"), scale = reals(node, "scale");
  if (!offset.empty()) x = node.pointwise(Function::subtract, {x, for_features(node, "offsets", offset)});
  if (!scale.empty()) x = node.pointwise(Function::multiply, {x, for_features(node, "scales", scale)});
  node.set_output(0, x);
}

void build_normalizer(NodeBuilder& node) {
  const ValueId rows = real_rows(node);
  const std::string norm = node.text("norm", "MAX");
  ValueId divisor = rows;
  if (norm == "MAX") {
    divisor = largest_of_rows(node, rows);
  } else if (norm == "L1") {
    divisor = sum_of_rows(node, rows, Preparation::absolute);
  } else if (norm == "L2") {
    divisor = node.pointwise(Function::square_root, {sum_of_rows(node, rows, Preparation::square)});
  } else {
    node.fail_model(std::format("norm '{}' is none of MAX, L1, L2", printable(norm)));
  }
  const ValueId nothing = node.pointwise(Function::equal, {divisor}, {Immediate::of(0.0)});
  divisor = node.pointwise(Function::select, {nothing, scalar(node, 1, DType::float32), divisor});
  const Shape shape = node.shape(node.input(0));
  node.set_output(0, node.reshape(node.pointwise(Function::divide, {rows, divisor}), shape));
}

void build_imputer(NodeBuilder& node) {
  const ValueId x = node.input(0);
  const DType dtype = node.dtype(x);
  const Reals values = reals(node, "imputed_value_floats");
  if (is_floating_point(dtype)) {
    if (values.empty()) node.fail_model("imputed_value_floats is empty");
    const float replaced = node.real("replaced_value_float", 0.0F);
    const ValueId missing = std::isnan(replaced)
                                ? node.pointwise(Function::is_nan, {x})
                                : node.pointwise(Function::equal, {x, scalar(node, replaced, dtype)});
    const ValueId imputed = node.cast(for_features(node, "imputed values", values), dtype);
    return node.set_output(0, node.pointwise(Function::select, {missing, imputed, x}));
  }
  const auto integers = node.integers("imputed_value_int64s").value_or(std::vector<std::int64_t>());
  const auto count = static_cast<std::int64_t>(integers.size());
  if (count != 1 && (node.rank(x) == 0 || !node.assumptions().equal(node.shape(x).back(), count))) {
    node.fail_model(std::format("{} imputed values for the features of {}", count, node.fact(x).to_string()));
  }
  const std::array replaced{node.integer("replaced_value_int64", 0)};
  const ValueId number = node.cast(node.constant(Tensor::of<std::int64_t>(DType::int64, {}, replaced)), dtype);
  const ValueId imputed = node.cast(node.constant(Tensor::of<std::int64_t>(DType::int64, {count}, integers)), dtype);
  node.set_output(0, node.pointwise(Function::select, {node.pointwise(Function::equal, {x, number}), imputed, x}));
}

// Each input cut or filled up with zeros to its number of features.
void build_feature_vectorizer(NodeBuilder& node) {
  const auto widths = node.integers("inputdimensions").value_or(std::vector<std::int64_t>());
  if (widths.size() != node.input_count()) {
    node.fail_model(std::format("{} inputdimensions for {} inputs", widths.size(), node.input_count()));
  }
  std::vector<ValueId> parts;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    ValueId x = node.cast(node.input(i), DType::float32);
    if (node.rank(x) == 1) x = node.reshape(x, {node.shape(x)[0], Dim(1)});
    if (node.rank(x) != 2 || widths[i] < 0) {
      node.fail_model(std::format("{} features of {}", widths[i], node.fact(x).to_string()));
    }
    const Dim rows = node.shape(x)[0];
    const std::int64_t width = width_of(node, x);
    if (width > widths[i]) {
      x = node.add(
          std::make_shared<Slice>(std::vector<Dim>{0, 0}, std::vector<Dim>{rows, widths[i]}, std::vector<Dim>{1, 1}),
          {x});
    } else if (width < widths[i]) {
      x = node.add(std::make_shared<Pad>(PadMode::constant, std::vector<Dim>{0, 0},
                                         std::vector<Dim>{0, widths[i] - width}, Tensor()),
                   {x});
    }
    parts.push_back(x);
  }
  node.set_output(0, parts.size() == 1 ? parts[0] : node.add(std::make_shared<Concat>(1), parts));
}

// Integers; strings, and input that has to be in a category, are the host's.
void build_one_hot_encoder(NodeBuilder& node) {
  const ValueId x = node.cast(node.input(0), DType::int64);
  const auto categories = node.integers("cats_int64s").value_or(std::vector<std::int64_t>());
  const ValueId all = node.constant(
      Tensor::of<std::int64_t>(DType::int64, {static_cast<std::int64_t>(categories.size())}, categories));
  const ValueId column = node.unsqueeze(x, std::array{static_cast<int>(node.rank(x))});
  node.set_output(0, node.cast(node.pointwise(Function::equal, {column, all}), DType::float32));
}

constexpr std::string_view domain = "ai.onnx.ml";

constexpr TypeSet features = types::single_or_double | types::indices;

constexpr std::array records{
    OperatorRecord{"ArrayFeatureExtractor", 1, build_feature_extractor, {features | TypeSet{DType::string}, types::sizes}, domain},
    OperatorRecord{"Binarizer", 1, build_binarizer, {features}, domain},
    OperatorRecord{"FeatureVectorizer", 1, build_feature_vectorizer, {features}, domain},
    OperatorRecord{"Imputer", 1, build_imputer, {features}, domain},
    OperatorRecord{"LinearClassifier", 1, build_linear_classifier, {features}, domain},
    OperatorRecord{"LinearRegressor", 1, build_linear_regressor, {features}, domain},
    OperatorRecord{"Normalizer", 1, build_normalizer, {features}, domain},
    OperatorRecord{"OneHotEncoder", 1, build_one_hot_encoder, {features | TypeSet{DType::string}}, domain},
    OperatorRecord{"SVMRegressor", 1, build_support_vector_regressor, {features}, domain},
    OperatorRecord{"Scaler", 1, build_scaler, {features}, domain},
};

}  // namespace

std::span<const OperatorRecord> machine_learning_operators() { return records; }

}  // namespace lapilli::onnx
