#include "flow/scores.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

#include "base/text.h"
#include "flow/host_elements.h"

namespace lapilli {
namespace {

double logistic(double value) { return 1 / (1 + std::exp(-value)); }

// The approximation of the inverse error function that ONNX's runtimes share.
double probit(double value) {
  const double x = 2 * value - 1, rest = (1 - x) * (1 + x);
  if (rest == 0) return 0;
  const double log = std::log(rest), v = 2 / (std::numbers::pi * 0.147) + 0.5 * log;
  const double root = std::sqrt(-v + std::sqrt(v * v - log / 0.147));
  return std::numbers::sqrt2 * (x < 0 ? -root : root);
}

// With `keep_zeros`, scores of zero get no share of their own.
void softmax(std::span<double> scores, bool keep_zeros) {
  if (scores.empty()) return;
  const double largest = std::ranges::max(scores);
  double sum = 0;
  for (double& score : scores) {
    const bool zero = keep_zeros && std::abs(score) <= 1e-7;
    score = zero ? score * std::exp(-largest) : std::exp(score - largest);
    sum += score;
  }
  for (double& score : scores) score = sum == 0 ? 0.5 : score / sum;
}

}  // namespace

ScoreTransform score_transform_of(const HostCall& call) {
  constexpr std::array<std::string_view, 5> names{"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
  const onnx::Attribute* attribute = call.node().find_attribute("post_transform");
  if (attribute == nullptr) return ScoreTransform::none;
  if (const auto* number = std::get_if<std::int64_t>(&attribute->value)) {
    if (*number >= 0 && std::cmp_less(*number, names.size())) return static_cast<ScoreTransform>(*number);
    fail(ErrorCode::invalid_model, "post_transform is {}", *number);
  }
  const auto name = call.attribute<std::string>("post_transform", "NONE");
  const auto* found = std::ranges::find(names, name);
  if (found == names.end()) fail(ErrorCode::invalid_model, "post_transform is '{}'", onnx::printable(name));
  return static_cast<ScoreTransform>(found - names.begin());
}

void transform_scores(ScoreTransform transform, std::span<double> scores) {
  switch (transform) {
    case ScoreTransform::none: return;
    case ScoreTransform::softmax: return softmax(scores, false);
    case ScoreTransform::logistic: std::ranges::transform(scores, scores.begin(), logistic); return;
    case ScoreTransform::softmax_zero: return softmax(scores, true);
    case ScoreTransform::probit: std::ranges::transform(scores, scores.begin(), probit); return;
  }
}

std::vector<double> binary_scores(ScoreTransform transform, double score, bool probability) {
  if (probability) return {1 - score, score};
  std::vector<double> scores{-score, score};
  if (transform != ScoreTransform::probit) transform_scores(transform, scores);
  return scores;
}

Rows::Rows(const Tensor& tensor) {
  const std::vector<std::int64_t>& shape = tensor.shape();
  if (shape.empty() || shape.size() > 2) {
    fail(ErrorCode::invalid_model, "the input is of shape {}, neither [C] nor [N, C]", shape_text(shape));
  }
  values = convert_elements(tensor, DType::float64);
  count = shape.size() == 1 ? 1 : static_cast<std::size_t>(shape[0]);
  width = static_cast<std::size_t>(shape.back());
}

ClassLabels::ClassLabels(const HostCall& call, std::string_view integers, std::string_view strings) {
  const auto texts = call.attribute<std::vector<std::string>>(strings, {});
  const auto numbers = call.attribute<std::vector<std::int64_t>>(integers, {});
  if (texts.empty() == numbers.empty()) {
    fail(ErrorCode::invalid_model, "{} and {} have {} and {} labels, one of them is needed", integers, strings,
         numbers.size(), texts.size());
  }
  labels_ = texts.empty() ? vector_of(numbers) : vector_of(texts);
}

void ClassLabels::set_outputs(HostCall& call, std::span<const std::size_t> chosen,
                              std::span<const double> scores) const {
  const auto rows = static_cast<std::int64_t>(chosen.size());
  call.set_output(0, take_elements(labels_, chosen, {rows}));
  const std::int64_t width = rows == 0 ? labels_.element_count() : static_cast<std::int64_t>(scores.size()) / rows;
  call.set_output(1, convert_elements(Tensor::of<double>(DType::float64, {rows, width}, scores), DType::float32));
}

}  // namespace lapilli
