// Tree ensembles of ai.onnx.ml.
#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "flow/host_elements.h"
#include "flow/scores.h"
#include "flow/tree_ensemble.h"

namespace lapilli {
namespace {

enum class Aggregation : std::uint8_t { average, sum, minimum, maximum };

/// What the leaves say of a target, put together.
class Totals {
 public:
  Totals(Aggregation aggregation, std::size_t targets) : aggregation_(aggregation), totals_(targets) {}

  void add(const TreeEnsemble::Share& share) {
    if (share.target >= totals_.size()) {
      fail(ErrorCode::invalid_model, "target {} where there are {}", share.target, totals_.size());
    }
    std::optional<double>& total = totals_[share.target];
    if (!total) {
      total = share.weight;
    } else if (aggregation_ == Aggregation::minimum) {
      total = std::min(*total, share.weight);
    } else if (aggregation_ == Aggregation::maximum) {
      total = std::max(*total, share.weight);
    } else {
      *total += share.weight;
    }
  }

  // A target that no leaf has anything on is 0.
  [[nodiscard]] std::vector<double> finish(std::size_t trees, std::span<const double> base) const {
    std::vector<double> result;
    for (std::size_t i = 0; i < totals_.size(); ++i) {
      double total = totals_[i].value_or(0);
      if (aggregation_ == Aggregation::average && trees != 0) total /= static_cast<double>(trees);
      result.push_back(total + (base.empty() ? 0 : base[i]));
    }
    return result;
  }

 private:
  Aggregation aggregation_;
  std::vector<std::optional<double>> totals_;
};

std::vector<double> base_values_of(const HostCall& call) {
  if (const auto* tensor = call.node().find<Tensor>("base_values_as_tensor")) {
    const Tensor wide = convert_elements(*tensor, DType::float64);
    return {wide.elements<double>().begin(), wide.elements<double>().end()};
  }
  const auto values = call.attribute<std::vector<float>>("base_values", {});
  return {values.begin(), values.end()};
}

std::size_t target_count_of(const HostCall& call) {
  const auto count = call.attribute<std::int64_t>("n_targets", 1);
  constexpr std::int64_t most_targets = 1 << 20;
  if (count < 1 || count > most_targets) fail(ErrorCode::invalid_model, "n_targets is {}", count);
  return static_cast<std::size_t>(count);
}

void regress(HostCall& call, const TreeEnsemble& trees, Aggregation aggregation, DType dtype) {
  const std::size_t targets = target_count_of(call);
  const std::vector<double> base = base_values_of(call);
  if (!base.empty() && base.size() != targets) {
    fail(ErrorCode::invalid_model, "{} base values for {} targets", base.size(), targets);
  }
  const ScoreTransform transform = score_transform_of(call);
  const Rows rows(call.tensor(0));
  const std::vector shape{static_cast<std::int64_t>(rows.count), static_cast<std::int64_t>(targets)};
  std::vector<double> results;
  results.reserve(host_element_count(shape));
  for (std::size_t i = 0; i < rows.count; ++i) {
    Totals totals(aggregation, targets);
    trees.visit(rows.row(i), [&](const TreeEnsemble::Share& share) { totals.add(share); });
    std::vector<double> scores = totals.finish(trees.tree_count(), base);
    transform_scores(transform, scores);
    results.insert(results.end(), scores.begin(), scores.end());
  }
  call.set_output(0, convert_elements(Tensor::of<double>(DType::float64, shape, results), dtype));
}

void run_ensemble(HostCall& call) {
  const auto function = call.attribute<std::int64_t>("aggregate_function", 1);
  if (function < 0 || function > 3) fail(ErrorCode::invalid_model, "aggregate_function is {}", function);
  regress(call, TreeEnsemble::read(call), static_cast<Aggregation>(function), call.tensor(0).dtype());
}

void run_regressor(HostCall& call) {
  constexpr std::array<std::string_view, 4> names{"AVERAGE", "SUM", "MIN", "MAX"};
  const auto name = call.attribute<std::string>("aggregate_function", "SUM");
  const auto* found = std::ranges::find(names, name);
  if (found == names.end()) fail(ErrorCode::invalid_model, "aggregate_function is '{}'", onnx::printable(name));
  regress(call, TreeEnsemble::read_by_node(call, "target"), static_cast<Aggregation>(found - names.begin()),
          DType::float32);
}

/// Two classes whose leaves speak of one of them only: its score decides. When it is the first one, the score is that
/// of the second class for all that, and the first one's follows from it.
class BinaryClassifier {
 public:
  explicit BinaryClassifier(const TreeEnsemble& trees) {
    for (const auto& leaf : trees.leaves()) {
      for (const TreeEnsemble::Share& share : leaf) {
        if (only_ && *only_ != share.target) several_ = true;
        only_ = share.target;
        probability_ = probability_ && share.weight >= 0;
      }
    }
  }

  [[nodiscard]] bool applies(std::size_t classes) const { return !several_ && classes == 2 && only_.value_or(0) < 2; }
  [[nodiscard]] bool has_one_score() const { return only_.value_or(0) == 0; }
  [[nodiscard]] bool is_probability() const { return probability_; }
  [[nodiscard]] std::size_t choose(std::span<const double> totals) const {
    return totals[only_.value_or(0)] > (probability_ ? 0.5 : 0.0) ? 1 : 0;
  }

 private:
  std::optional<std::size_t> only_;
  bool several_ = false, probability_ = true;
};

void run_classifier(HostCall& call) {
  const TreeEnsemble trees = TreeEnsemble::read_by_node(call, "class");
  const ClassLabels labels(call, "classlabels_int64s", "classlabels_strings");
  std::vector<double> base = base_values_of(call);
  const BinaryClassifier binary(trees);
  const bool applies = binary.applies(labels.count()), one_score = applies && binary.has_one_score();
  if (one_score && base.size() == 2) base.erase(base.begin());
  if (one_score && !base.empty()) base.resize(2, 0.0);
  if (!base.empty() && base.size() != labels.count()) {
    fail(ErrorCode::invalid_model, "{} base values for {} classes", base.size(), labels.count());
  }
  const ScoreTransform transform = score_transform_of(call);
  const Rows rows(call.tensor(0));
  std::vector<std::size_t> chosen;
  std::vector<double> results;
  for (std::size_t i = 0; i < rows.count; ++i) {
    Totals totals(Aggregation::sum, labels.count());
    trees.visit(rows.row(i), [&](const TreeEnsemble::Share& share) { totals.add(share); });
    std::vector<double> scores = totals.finish(trees.tree_count(), base);
    chosen.push_back(applies ? binary.choose(scores)
                             : static_cast<std::size_t>(std::ranges::max_element(scores) - scores.begin()));
    if (one_score) {
      scores = binary_scores(transform, scores[0], binary.is_probability());
    } else {
      transform_scores(transform, scores);
    }
    results.insert(results.end(), scores.begin(), scores.end());
  }
  labels.set_outputs(call, chosen, results);
}

constexpr std::string_view walks = "no kernel walks trees yet", domain = "ai.onnx.ml";

constexpr std::array operators{
    HostOperator{"TreeEnsemble", 5, run_ensemble, walks, domain},
    HostOperator{"TreeEnsembleClassifier", 1, run_classifier, walks, domain},
    HostOperator{"TreeEnsembleRegressor", 1, run_regressor, walks, domain},
};

}  // namespace

std::span<const HostOperator> tree_operators() { return operators; }

}  // namespace lapilli
