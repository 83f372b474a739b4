// Operators of ai.onnx.ml that are made of the families there are.
#include <algorithm>
#include <array>
#include <cmath>
#include <format>

#include "import/onnx/operators/scores.h"
#include "ops/contraction.h"
#include "ops/gather.h"
#include "ops/movement.h"
#include "ops/reduction.h"

namespace lapilli::onnx {
namespace {

using Function = PointwiseFunction;
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
  node.set_output(0, transform_scores(node, score_transform_of(node),
                                      linear_scores(node, feature_rows(node), node.integer("targets", 1))));
}

// Labels that are integers; strings are the host's, which asks for integers in their place.
void build_linear_classifier(NodeBuilder& node) {
  const ValueId rows = feature_rows(node);
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
  scores = transform_scores(node, score_transform_of(node), scores);
  node.set_output(1, scores);
  if (!node.wants_output(0)) return;
  if (one_score && labels.size() != 2) {
    const double threshold = node.text("post_transform", "NONE") == "NONE" ? 0 : 0.5;
    const ValueId holds = node.pointwise(Function::less_or_equal, {node.scalar(DType::float32, threshold), scores});
    const std::array label{labels.empty() ? std::int64_t{1} : labels[0]};
    const ValueId yes = node.constant(Tensor::of<std::int64_t>(DType::int64, {}, label));
    const ValueId chosen =
        node.pointwise(Function::select, {holds, yes, node.constant(Tensor::allocate(DType::int64, {}))});
    return node.set_output(0, node.reshape(chosen, {node.shape(rows)[0]}));
  }
  ValueId chosen = largest_places(node, scores);
  if (!labels.empty()) {
    if (!node.assumptions().equal(node.shape(scores)[1], static_cast<std::int64_t>(labels.size()))) {
      node.fail_model(std::format("{} labels for {}", labels.size(), node.fact(scores).to_string()));
    }
    chosen = labels_at(node, labels, chosen);
  }
  node.set_output(0, chosen);
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
  const ValueId bound = node.scalar(dtype, is_floating_point(dtype) ? threshold : std::floor(threshold));
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
  const ValueId rows = feature_rows(node);
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
  divisor = node.pointwise(Function::select, {nothing, node.scalar(DType::float32, 1), divisor});
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
    const ValueId missing = std::isnan(replaced) ? node.pointwise(Function::is_nan, {x})
                                                 : node.pointwise(Function::equal, {x, node.scalar(dtype, replaced)});
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
    OperatorRecord{"ArrayFeatureExtractor",
                   1,
                   build_feature_extractor,
                   {features | TypeSet{DType::string}, types::sizes},
                   domain},
    OperatorRecord{"Binarizer", 1, build_binarizer, {features}, domain},
    OperatorRecord{"FeatureVectorizer", 1, build_feature_vectorizer, {features}, domain},
    OperatorRecord{"Imputer", 1, build_imputer, {features}, domain},
    OperatorRecord{"LinearClassifier", 1, build_linear_classifier, {features}, domain},
    OperatorRecord{"LinearRegressor", 1, build_linear_regressor, {features}, domain},
    OperatorRecord{"Normalizer", 1, build_normalizer, {features}, domain},
    OperatorRecord{"OneHotEncoder", 1, build_one_hot_encoder, {features | TypeSet{DType::string}}, domain},
    OperatorRecord{"Scaler", 1, build_scaler, {features}, domain},
};

}  // namespace

std::span<const OperatorRecord> machine_learning_operators() { return records; }

}  // namespace lapilli::onnx
