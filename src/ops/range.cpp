#include "ops/range.h"

#include "base/failure.h"
#include "ops/pointwise.h"

namespace lapilli {
namespace {

bool is_scalar(const Fact& fact) { return element_count(fact.shape) == Dim(1); }

}  // namespace

std::vector<Fact> Range::infer(std::span<const Fact> inputs, Assumptions& assumptions) const {
  if (inputs.size() != 2) fail(ErrorCode::invalid_model, "{} inputs where Range takes 2", inputs.size());
  const bool fits = inputs[0].dtype == inputs[1].dtype && is_scalar(inputs[0]) && is_scalar(inputs[1]) &&
                    (is_floating_point(inputs[0].dtype) || is_integer(inputs[0].dtype));
  if (!fits) fail(ErrorCode::invalid_model, "a range of {} and {}", inputs[0].to_string(), inputs[1].to_string());
  if (assumptions.less(count_, 0)) fail(ErrorCode::invalid_model, "a range of {} elements", count_.to_string());
  return {Fact::of(inputs[0].dtype, {count_})};
}

std::vector<Tensor> Range::evaluate(std::span<const Tensor> inputs) const {
  const DType dtype = inputs[0].dtype(), wide = is_floating_point(dtype) ? DType::float64 : DType::int64;
  if (!count_.is_constant() || bit_width(dtype) < 8) return {};
  const Tensor start = evaluate_chain({}, inputs.first(1), wide), step = evaluate_chain({}, inputs.subspan(1), wide);
  Tensor result = Tensor::allocate(wide, {*count_.constant()});
  if (wide == DType::float64) {
    double i = 0;
    for (double& element : result.mutable_elements<double>()) {
      element = start.elements<double>()[0] + i++ * step.elements<double>()[0];
    }
  } else {
    auto element_bits = static_cast<std::uint64_t>(start.elements<std::int64_t>()[0]);
    for (std::int64_t& element : result.mutable_elements<std::int64_t>()) {
      element = static_cast<std::int64_t>(element_bits);
      element_bits += static_cast<std::uint64_t>(step.elements<std::int64_t>()[0]);
    }
  }
  return {evaluate_chain({}, {&result, 1}, dtype)};
}

}  // namespace lapilli
