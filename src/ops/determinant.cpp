#include "ops/determinant.h"

#include <algorithm>
#include <cmath>

#include "base/failure.h"
#include "ops/pointwise.h"

namespace lapilli {
namespace {

// Gaussian elimination with the largest pivot of each column; changes the matrix.
double determinant_of(std::span<double> matrix, std::size_t size) {
  double result = 1;
  for (std::size_t k = 0; k < size; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k + 1; i < size; ++i) {
      if (std::abs(matrix[i * size + k]) > std::abs(matrix[pivot * size + k])) pivot = i;
    }
    for (std::size_t j = k; j < size && pivot != k; ++j) std::swap(matrix[k * size + j], matrix[pivot * size + j]);
    const double diagonal = matrix[k * size + k];
    result *= pivot == k ? diagonal : -diagonal;
    if (diagonal == 0) return result;
    for (std::size_t i = k + 1; i < size; ++i) {
      const double factor = matrix[i * size + k] / diagonal;
      for (std::size_t j = k; j < size; ++j) matrix[i * size + j] -= factor * matrix[k * size + j];
    }
  }
  return result;
}

}  // namespace

std::vector<Fact> Determinant::infer(std::span<const Fact> inputs, Assumptions& assumptions) const {
  const Fact& input = inputs[0];
  const std::size_t rank = input.shape.size();
  if (rank < 2 || !is_floating_point(input.dtype) ||
      !assumptions.equal(input.shape[rank - 1], input.shape[rank - 2])) {
    fail(ErrorCode::invalid_model, "{} is not of square floating-point matrices", input.to_string());
  }
  return {Fact::of(input.dtype, {input.shape.begin(), input.shape.end() - 2})};
}

std::vector<Tensor> Determinant::evaluate(std::span<const Tensor> inputs) const {
  const Tensor matrices = evaluate_chain({}, inputs.first(1), DType::float64);
  std::vector<double> elements(matrices.elements<double>().begin(), matrices.elements<double>().end());
  const auto size = static_cast<std::size_t>(matrices.shape().back());
  Tensor output = Tensor::allocate(DType::float64, {matrices.shape().begin(), matrices.shape().end() - 2});
  for (std::size_t i = 0; i < static_cast<std::size_t>(output.element_count()); ++i) {
    output.mutable_elements<double>()[i] =
        determinant_of(std::span(elements).subspan(i * size * size, size * size), size);
  }
  return {evaluate_chain({}, {&output, 1}, inputs[0].dtype())};
}

Dim Determinant::operation_count(std::span<const Fact> inputs, std::span<const Fact> /*outputs*/) const {
  return element_count(inputs[0].shape) * inputs[0].shape.back();
}

}  // namespace lapilli
