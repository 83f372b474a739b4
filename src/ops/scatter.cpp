#include "ops/scatter.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <format>

#include "base/failure.h"
#include "base/packed.h"
#include "base/small_float.h"
#include "ops/text_numbers.h"

namespace lapilli {
namespace {

double join(PointwiseFunction function, double there, double update) {
  const bool no_number = std::isnan(there) || std::isnan(update);
  switch (function) {
    case PointwiseFunction::add: return there + update;
    case PointwiseFunction::multiply: return there * update;
    case PointwiseFunction::minimum: return no_number ? there + update : std::min(there, update);
    case PointwiseFunction::maximum: return no_number ? there + update : std::max(there, update);
    default: return update;
  }
}

// Wraps, as it does on the device.
std::int64_t join(PointwiseFunction function, std::int64_t there, std::int64_t update) {
  const auto a = static_cast<std::uint64_t>(there), b = static_cast<std::uint64_t>(update);
  switch (function) {
    case PointwiseFunction::add: return static_cast<std::int64_t>(a + b);
    case PointwiseFunction::multiply: return static_cast<std::int64_t>(a * b);
    case PointwiseFunction::minimum: return std::min(there, update);
    case PointwiseFunction::maximum: return std::max(there, update);
    default: return update;
  }
}

template <class T>
Tensor scatter(PointwiseFunction function, const Tensor& data, std::span<const std::int64_t> places,
               const Tensor& updates, DType wide) {
  const DType dtype = data.dtype();
  const Tensor start = evaluate_chain({}, {&data, 1}, wide), changes = evaluate_chain({}, {&updates, 1}, wide);
  Tensor result = Tensor::allocate(wide, data.shape());
  const auto elements = result.mutable_elements<T>();
  std::ranges::copy(start.elements<T>(), elements.begin());
  for (std::size_t i = 0; i < places.size(); ++i) {
    T& element = elements[static_cast<std::size_t>(places[i])];
    element = join(function, element, changes.elements<T>()[i]);
  }
  return evaluate_chain({}, {&result, 1}, dtype);
}

}  // namespace

std::string Scatter::attributes() const {
  const std::string_view joined = function_ == PointwiseFunction::identity ? "update" : to_string(function_);
  return std::format("{}, {} {}", joined, places_->name(), places_->attributes());
}

std::vector<Fact> Scatter::infer(std::span<const Fact> inputs, Assumptions& assumptions) const {
  if (inputs.size() != 3) fail(ErrorCode::invalid_model, "{} inputs where Scatter takes 3", inputs.size());
  const Shape shape = places_->infer(inputs.first(2), assumptions)[0].shape;
  const Fact& updates = inputs[2];
  bool fits = updates.dtype == inputs[0].dtype && updates.shape.size() == shape.size();
  for (std::size_t i = 0; fits && i < shape.size(); ++i) fits = assumptions.equal(shape[i], updates.shape[i]);
  if (!fits) {
    fail(ErrorCode::invalid_model, "updates {} where {}{} are needed", updates.to_string(),
         lapilli::to_string(inputs[0].dtype), shape_text(shape));
  }
  return {Fact::of(inputs[0].dtype, inputs[0].shape)};
}

std::vector<Tensor> Scatter::evaluate(std::span<const Tensor> inputs) const {
  const DType dtype = inputs[0].dtype();
  if (dtype == DType::string) {
    if (function_ != PointwiseFunction::identity) return {};
    TextNumbers numbers;
    const std::array encoded{numbers.encode(inputs[0]), inputs[1], numbers.encode(inputs[2])};
    return {numbers.decode(evaluate(encoded)[0])};
  }
  if (is_small_float(dtype)) {
    // They only move, and all of their bits are to arrive.
    const std::array codes{bit_cast_tensor(DType::uint8, unpacked_tensor(inputs[0])), inputs[1],
                           bit_cast_tensor(DType::uint8, unpacked_tensor(inputs[2]))};
    const Tensor moved = evaluate(codes)[0];
    return {is_packed(dtype) ? packed_tensor(dtype, moved) : bit_cast_tensor(dtype, moved)};
  }
  // The places are what a gather of the elements' own numbers finds.
  Tensor numbers = Tensor::allocate(DType::int64, inputs[0].shape());
  std::int64_t next = 0;
  for (std::int64_t& number : numbers.mutable_elements<std::int64_t>()) number = next++;
  const std::vector<Tensor> gathered = places_->evaluate(std::vector{numbers, inputs[1]});
  const auto places = gathered[0].elements<std::int64_t>();
  return {is_floating_point(dtype) ? scatter<double>(function_, inputs[0], places, inputs[2], DType::float64)
                                   : scatter<std::int64_t>(function_, inputs[0], places, inputs[2], DType::int64)};
}

Dim Scatter::operation_count(std::span<const Fact> inputs, std::span<const Fact> /*outputs*/) const {
  return function_ == PointwiseFunction::identity ? Dim(0) : element_count(inputs[2].shape);
}

}  // namespace lapilli
