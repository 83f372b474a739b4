#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "flow/host_call.h"

namespace lapilli {

/// What classifiers and regressors of ai.onnx.ml do to a row of scores. The numbers are those of TreeEnsemble.
enum class ScoreTransform : std::uint8_t { none, softmax, logistic, softmax_zero, probit };

/// The node's attribute post_transform. Throws Error (invalid_model).
ScoreTransform score_transform_of(const HostCall& call);

void transform_scores(ScoreTransform transform, std::span<double> scores);

/// Both classes' scores from the one that a model of two classes computes: complements where it is a probability,
/// opposites where not.
std::vector<double> binary_scores(ScoreTransform transform, double score, bool probability);

/// The rows of the input as float64, [N, C]; a vector is one row. Throws Error (invalid_model).
struct Rows {
  Tensor values;
  std::size_t count = 0, width = 0;
  explicit Rows(const Tensor& tensor);
  [[nodiscard]] std::span<const double> row(std::size_t index) const {
    return values.elements<double>().subspan(index * width, width);
  }
};

/// The classes of a classifier, strings or integers: output 0 gets those that are chosen, output 1 the scores.
class ClassLabels {
 public:
  ClassLabels(const HostCall& call, std::string_view integers, std::string_view strings);
  [[nodiscard]] std::size_t count() const { return static_cast<std::size_t>(labels_.element_count()); }
  /// `chosen` has a place among the classes for each row, `scores` as many numbers for each.
  void set_outputs(HostCall& call, std::span<const std::size_t> chosen, std::span<const double> scores) const;

 private:
  Tensor labels_;
};

}  // namespace lapilli
