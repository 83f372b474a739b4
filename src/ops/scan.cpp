#include "ops/scan.h"

#include <format>

#include "base/failure.h"
#include "ops/host_loop.h"

namespace lapilli {
namespace {

double joined(ReductionFunction function, double a, double b) {
  return function == ReductionFunction::product ? a * b : a + b;
}

std::int64_t joined(ReductionFunction function, std::int64_t a, std::int64_t b) {
  const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
  return static_cast<std::int64_t>(function == ReductionFunction::product ? x * y : x + y);
}

template <class T>
Tensor scan(const Scan& op, const Tensor& input, DType wide) {
  if (input.element_count() == 0) return input;
  Tensor result = evaluate_chain({}, {&input, 1}, wide);
  const std::vector<std::int64_t>& shape = result.shape();
  const auto axis = static_cast<std::size_t>(op.axis());
  const std::int64_t length = shape[axis], stride = row_major_strides(shape)[axis];
  const auto elements = result.mutable_elements<T>();
  const std::int64_t rows = result.element_count() / length;
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t start = row / stride * stride * length + row % stride;
    T sum = op.function() == ReductionFunction::product ? T{1} : T{0};
    for (std::int64_t i = 0; i < length; ++i) {
      T& element = elements[static_cast<std::size_t>(start + (op.reverse() ? length - 1 - i : i) * stride)];
      const T before = sum;
      sum = joined(op.function(), sum, element);
      element = op.exclusive() ? before : sum;
    }
  }
  return evaluate_chain({}, {&result, 1}, input.dtype());
}

}  // namespace

std::string Scan::attributes() const {
  return std::format("{} along {}{}{}", to_string(function_), axis_, exclusive_ ? ", exclusive" : "",
                     reverse_ ? ", reverse" : "");
}

std::vector<Fact> Scan::infer(std::span<const Fact> inputs, Assumptions& /*assumptions*/) const {
  const Fact& fact = inputs[0];
  if (axis_ < 0 || axis_ >= fact.rank()) fail(ErrorCode::invalid_model, "axis {} of {}", axis_, fact.to_string());
  if (!is_floating_point(fact.dtype) && !is_integer(fact.dtype)) {
    fail(ErrorCode::invalid_model, "running {}s of {}", to_string(function_), fact.to_string());
  }
  return {Fact::of(fact.dtype, fact.shape)};
}

std::vector<Tensor> Scan::evaluate(std::span<const Tensor> inputs) const {
  const DType dtype = inputs[0].dtype();
  if (bit_width(dtype) < 8) return {};
  return {is_floating_point(dtype) ? scan<double>(*this, inputs[0], DType::float64)
                                   : scan<std::int64_t>(*this, inputs[0], DType::int64)};
}

}  // namespace lapilli
