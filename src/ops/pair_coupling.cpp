#include "ops/pair_coupling.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/failure.h"
#include "ops/pointwise.h"

namespace lapilli {
namespace {

std::vector<double> couple(std::size_t k, std::span<const double> pairs) {
  std::vector<double> r(k * k, 0), q(k * k, 0), p(k, 1.0 / static_cast<double>(k)), qp(k);
  for (std::size_t i = 0, pair = 0; i < k; ++i) {
    for (std::size_t j = i + 1; j < k; ++j, ++pair) {
      r[i * k + j] = pairs[pair];
      r[j * k + i] = 1 - pairs[pair];
    }
  }
  for (std::size_t t = 0; t < k; ++t) {
    for (std::size_t j = 0; j < k; ++j) {
      if (j == t) continue;
      q[t * k + t] += r[j * k + t] * r[j * k + t];
      q[t * k + j] = -r[j * k + t] * r[t * k + j];
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

}  // namespace

std::vector<Fact> PairCoupling::infer(std::span<const Fact> inputs, Assumptions& assumptions) const {
  const Fact& pairs = inputs[0];
  if (pairs.dtype != DType::float32 || pairs.rank() != 2 || classes_ < 2 ||
      !assumptions.equal(pairs.shape[1], classes_ * (classes_ - 1) / 2)) {
    fail(ErrorCode::invalid_model, "{} is not a probability for each pair of {} classes", pairs.to_string(),
         classes_);
  }
  return {Fact::of(DType::float32, {pairs.shape[0], Dim(classes_)})};
}

std::vector<Tensor> PairCoupling::evaluate(std::span<const Tensor> inputs) const {
  const Tensor pairs = evaluate_chain({}, inputs.first(1), DType::float64);
  const auto k = static_cast<std::size_t>(classes_), count = k * (k - 1) / 2;
  Tensor result = Tensor::allocate(DType::float32, {pairs.shape()[0], classes_});
  for (std::size_t row = 0; std::cmp_less(row, pairs.shape()[0]); ++row) {
    const std::vector<double> shares = couple(k, pairs.elements<double>().subspan(row * count, count));
    for (std::size_t i = 0; i < k; ++i) {
      result.mutable_elements<float>()[row * k + i] = static_cast<float>(shares[i]);
    }
  }
  return {result};
}

}  // namespace lapilli
