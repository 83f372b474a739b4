// SVMClassifier of ai.onnx.ml: pairs of classes vote.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "flow/scores.h"

namespace lapilli {
namespace {

using Integers = std::vector<std::int64_t>;
using Reals = std::vector<float>;

double logistic(double value) { return 1 / (1 + std::exp(-value)); }

// Probabilities of k classes from those of pairs, as LIBSVM finds them (Wu, Lin and Weng, 2004, their second method).
std::vector<double> couple(std::size_t k, const std::vector<double>& pairs) {
  std::vector<double> q(k * k, 0), p(k, 1.0 / static_cast<double>(k)), qp(k);
  for (std::size_t t = 0; t < k; ++t) {
    for (std::size_t j = 0; j < k; ++j) {
      if (j == t) continue;
      q[t * k + t] += pairs[j * k + t] * pairs[j * k + t];
      q[t * k + j] = -pairs[j * k + t] * pairs[t * k + j];
    }
  }
  const std::size_t most = std::max<std::size_t>(100, k);
  for (std::size_t iteration = 0; iteration < most; ++iteration) {
    double pqp = 0, error = 0;
    for (std::size_t t = 0; t < k; ++t) {
      qp[t] = 0;
      for (std::size_t j = 0; j < k; ++j) qp[t] += q[t * k + j] * p[j];
      pqp += p[t] * qp[t];
    }
    for (std::size_t t = 0; t < k; ++t) error = std::max(error, std::abs(qp[t] - pqp));
    if (error < 0.005 / static_cast<double>(k)) break;
    for (std::size_t t = 0; t < k; ++t) {
      const double difference = (pqp - qp[t]) / q[t * k + t];
      p[t] += difference;
      pqp = (pqp + difference * (difference * q[t * k + t] + 2 * qp[t])) / (1 + difference) / (1 + difference);
      for (std::size_t j = 0; j < k; ++j) {
        qp[j] = (qp[j] + difference * q[t * k + j]) / (1 + difference);
        p[j] /= 1 + difference;
      }
    }
  }
  return p;
}

class SupportVectors {
 public:
  SupportVectors(const HostCall& call, std::size_t width, std::size_t classes)
      : width_(width),
        classes_(classes),
        sizes_(call.attribute<Integers>("vectors_per_class", {})),
        coefficients_(call.attribute<Reals>("coefficients", {})),
        rho_(call.attribute<Reals>("rho", {})),
        kernel_(call.attribute<std::string>("kernel_type", "LINEAR")),
        parameters_(call.attribute<Reals>("kernel_params", {})),
        vectors_(call.attribute<Reals>("support_vectors", {})),
        prob_a_(call.attribute<Reals>("prob_a", {})),
        prob_b_(call.attribute<Reals>("prob_b", {})) {
    for (const std::int64_t size : sizes_) {
      if (size < 0 || std::cmp_greater(size, vectors_.size())) {
        fail(ErrorCode::invalid_model, "vectors_per_class has {}", size);
      }
      starts_.push_back(count_);
      count_ += static_cast<std::size_t>(size);
    }
    if (parameters_.empty()) parameters_.assign(3, 0.0F);
    if (kernel_ != "LINEAR" && kernel_ != "POLY" && kernel_ != "RBF" && kernel_ != "SIGMOID") {
      fail(ErrorCode::invalid_model, "kernel_type '{}' is none of LINEAR, POLY, RBF, SIGMOID",
           onnx::printable(kernel_));
    }
    const std::size_t pairs = classes * (classes - 1) / 2;
    const bool fits = linear() ? coefficients_.size() == classes * width && !rho_.empty()
                               : sizes_.size() == classes && vectors_.size() == count_ * width &&
                                     coefficients_.size() == (classes - 1) * count_ && rho_.size() >= pairs;
    if (!fits || parameters_.size() != 3 || prob_a_.size() != prob_b_.size() ||
        (!prob_a_.empty() && prob_a_.size() < pairs)) {
      fail(ErrorCode::invalid_model,
           "{} coefficients, {} numbers in {} support vectors, {} rho, {} prob_a, {} prob_b and {} kernel_params do "
           "not "
           "fit {} classes and {} features",
           coefficients_.size(), vectors_.size(), count_, rho_.size(), prob_a_.size(), prob_b_.size(),
           parameters_.size(), classes, width);
    }
  }

  [[nodiscard]] bool linear() const { return count_ == 0; }
  [[nodiscard]] bool has_probabilities() const { return !linear() && !prob_a_.empty(); }
  [[nodiscard]] bool is_binary() const { return rho_.size() == 1; }
  [[nodiscard]] bool all_positive() const {
    return std::ranges::all_of(coefficients_, [](float value) { return value >= 0; });
  }

  // A score for each class, of a model without support vectors.
  [[nodiscard]] std::vector<double> class_scores(std::span<const double> row) const {
    std::vector<double> scores;
    for (std::size_t i = 0; i < classes_; ++i) {
      const std::span weights = std::span(coefficients_).subspan(i * width_, width_);
      scores.push_back(rho_[0] + std::inner_product(row.begin(), row.end(), weights.begin(), 0.0));
    }
    return scores;
  }

  // A score for each pair of classes; the one that wins gets a vote.
  [[nodiscard]] std::vector<double> pair_scores(std::span<const double> row, std::span<double> votes) const {
    std::vector<double> kernels, scores;
    for (std::size_t i = 0; i < count_; ++i) kernels.push_back(kernel(row, i));
    const auto part = [&](std::size_t set, std::size_t of_class) {
      const std::size_t start = starts_[of_class], size = static_cast<std::size_t>(sizes_[of_class]);
      double sum = 0;
      for (std::size_t i = start; i < start + size; ++i) sum += coefficients_[set * count_ + i] * kernels[i];
      return sum;
    };
    for (std::size_t i = 0; i < classes_; ++i) {
      for (std::size_t j = i + 1; j < classes_; ++j) {
        scores.push_back(rho_[scores.size()] + part(j - 1, i) + part(i, j));
        votes[scores.back() > 0 ? i : j] += 1;
      }
    }
    return scores;
  }

  [[nodiscard]] std::vector<double> probabilities(std::span<const double> scores) const {
    std::vector<double> pairs(classes_ * classes_, 0);
    std::size_t pair = 0;
    for (std::size_t i = 0; i < classes_; ++i) {
      for (std::size_t j = i + 1; j < classes_; ++j, ++pair) {
        const double value = 1 - logistic(scores[pair] * prob_a_[pair] + prob_b_[pair]);
        pairs[i * classes_ + j] = std::clamp(value, 1e-7, 1 - 1e-7);
        pairs[j * classes_ + i] = 1 - pairs[i * classes_ + j];
      }
    }
    return couple(classes_, pairs);
  }

 private:
  [[nodiscard]] double kernel(std::span<const double> row, std::size_t vector) const {
    const std::span other = std::span(vectors_).subspan(vector * width_, width_);
    if (kernel_ == "RBF") {
      double sum = 0;
      for (std::size_t i = 0; i < width_; ++i) sum += (row[i] - other[i]) * (row[i] - other[i]);
      return std::exp(-parameters_[0] * sum);
    }
    const double product = std::inner_product(row.begin(), row.end(), other.begin(), 0.0);
    if (kernel_ == "LINEAR") return product;
    const double affine = parameters_[0] * product + parameters_[1];
    return kernel_ == "POLY" ? std::pow(affine, parameters_[2]) : std::tanh(affine);
  }

  std::size_t width_, classes_, count_ = 0;
  Integers sizes_;
  std::vector<std::size_t> starts_;
  Reals coefficients_, rho_;
  std::string kernel_;
  Reals parameters_, vectors_, prob_a_, prob_b_;
};

std::size_t place_of_largest(std::span<const double> values) {
  return static_cast<std::size_t>(std::ranges::max_element(values) - values.begin());
}

void classify(HostCall& call) {
  const ClassLabels labels(call, "classlabels_ints", "classlabels_strings");
  const Rows rows(call.tensor(0));
  const SupportVectors vectors(call, rows.width, labels.count());
  const ScoreTransform transform = score_transform_of(call);
  const bool by_weight =
      labels.count() == 2 && vectors.is_binary() && !vectors.has_probabilities() && vectors.all_positive();
  std::vector<std::size_t> chosen;
  std::vector<double> results;
  for (std::size_t i = 0; i < rows.count; ++i) {
    std::vector<double> votes(labels.count(), 0), scores;
    if (vectors.linear()) {
      scores = vectors.class_scores(rows.row(i));
      votes = scores;
    } else {
      scores = vectors.pair_scores(rows.row(i), votes);
      if (vectors.has_probabilities()) scores = vectors.probabilities(scores);
    }
    const std::size_t most = place_of_largest(votes);
    chosen.push_back(by_weight && votes[most] >= 0.5 ? 1 : most);
    if (scores.size() == 1) {
      scores = binary_scores(transform, scores[0], false);
    } else {
      transform_scores(transform, scores);
    }
    results.insert(results.end(), scores.begin(), scores.end());
  }
  labels.set_outputs(call, chosen, results);
}

constexpr std::array operators{
    HostOperator{"SVMClassifier", 1, classify, "no kernel counts votes yet", "ai.onnx.ml"},
};

}  // namespace

std::span<const HostOperator> support_vector_operators() { return operators; }

}  // namespace lapilli
