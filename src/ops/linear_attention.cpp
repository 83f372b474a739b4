#include "ops/linear_attention.h"

#include <cmath>
#include <format>

#include "base/failure.h"
#include "ops/pointwise.h"

namespace lapilli {
namespace {

using Doubles = std::span<const double>;

std::vector<Tensor> as_doubles(std::span<const Tensor> inputs) {
  std::vector<Tensor> results;
  for (const Tensor& input : inputs)
    results.push_back(input.defined() ? evaluate_chain({}, {&input, 1}, DType::float64) : Tensor());
  return results;
}

std::size_t size_of(const Tensor& tensor, std::size_t axis) { return static_cast<std::size_t>(tensor.shape()[axis]); }

// One head of keys: its state, by keys and values.
struct HeadState {
  std::size_t keys, values;
  std::vector<double> elements;

  double& at(std::size_t key, std::size_t value) { return elements[key * values + value]; }

  [[nodiscard]] double product(Doubles vector, std::size_t value) const {
    double sum = 0;
    for (std::size_t key = 0; key < keys; ++key) sum += vector[key] * elements[key * values + value];
    return sum;
  }
};

// The row of one step, and the part of it that belongs to a head.
Doubles head_part(const Tensor& tensor, std::size_t row, std::size_t head, std::size_t size) {
  return tensor.elements<double>().subspan(row * size_of(tensor, 2) + head * size, size);
}

void advance(HeadState& state, const std::vector<Tensor>& inputs, std::size_t row, std::size_t head,
             std::size_t heads) {
  const Doubles key = head_part(inputs[1], row, head, state.keys),
                value = head_part(inputs[2], row, head, state.values);
  if (inputs[4].defined()) {
    const std::size_t each = size_of(inputs[4], 2) / heads;
    const Doubles decay = head_part(inputs[4], row, head, each);
    for (std::size_t k = 0; k < state.keys; ++k) {
      for (std::size_t v = 0; v < state.values; ++v) state.at(k, v) *= std::exp(decay[each == 1 ? 0 : k]);
    }
  }
  for (std::size_t v = 0; v < state.values; ++v) {
    double change = value[v];
    if (inputs[5].defined()) {
      const Doubles rates = head_part(inputs[5], row, 0, size_of(inputs[5], 2));
      change = rates[rates.size() == 1 ? 0 : head] * (change - state.product(key, v));
    }
    for (std::size_t k = 0; k < state.keys; ++k) state.at(k, v) += key[k] * change;
  }
}

}  // namespace

std::string LinearAttention::attributes() const {
  return std::format("{} heads of queries, {} of keys, scale {}", attributes_.query_heads, attributes_.key_heads,
                     attributes_.scale);
}

std::vector<Fact> LinearAttention::infer(std::span<const Fact> inputs, Assumptions& assumptions) const {
  const std::int64_t heads = attributes_.key_heads;
  if (heads <= 0 || attributes_.query_heads <= 0 || attributes_.query_heads % heads != 0)
    fail(ErrorCode::invalid_model, "{} heads of queries for {} of keys", attributes_.query_heads, heads);
  for (const std::size_t i : {0U, 1U, 2U}) {
    if (inputs[i].rank() != 3 || !is_floating_point(inputs[i].dtype))
      fail(ErrorCode::invalid_model, "input {} of linear attention is {}", i, inputs[i].to_string());
  }
  const Dim batch = inputs[0].shape[0], steps = inputs[0].shape[1];
  const Dim keys = Dim::floor_divide(inputs[0].shape[2], attributes_.query_heads);
  const Dim values = Dim::floor_divide(inputs[2].shape[2], heads);
  const Shape state{batch, heads, keys, values};
  const auto has_shape = [&](std::size_t i, const Shape& shape) {
    bool fits = inputs[i].shape.size() == shape.size();
    for (std::size_t axis = 0; fits && axis < shape.size(); ++axis)
      fits = assumptions.equal(inputs[i].shape[axis], shape[axis]);
    return fits;
  };
  const auto require = [&](std::size_t i, const Shape& shape) {
    if (has_shape(i, shape)) return;
    fail(ErrorCode::invalid_model, "input {} of linear attention is {}, expected {}", i, inputs[i].to_string(),
         shape_text(shape));
  };
  require(0, {batch, steps, keys * Dim(attributes_.query_heads)});
  require(1, {batch, steps, keys * Dim(heads)});
  require(2, {batch, steps, values * Dim(heads)});
  const auto given = [&](std::size_t i) { return i < inputs.size() && inputs[i].dtype != DType::undefined; };
  if (given(3)) require(3, state);
  if (given(4) && !has_shape(4, {batch, steps, heads})) require(4, {batch, steps, keys * Dim(heads)});
  if (given(5) && !has_shape(5, {batch, steps, 1})) require(5, {batch, steps, heads});
  return {Fact::of(inputs[0].dtype, {batch, steps, values * Dim(attributes_.query_heads)}),
          Fact::of(given(3) ? inputs[3].dtype : inputs[0].dtype, state)};
}

std::vector<Tensor> LinearAttention::evaluate(std::span<const Tensor> given) const {
  const std::vector<Tensor> inputs = as_doubles(given);
  const auto query_heads = static_cast<std::size_t>(attributes_.query_heads);
  const auto heads = static_cast<std::size_t>(attributes_.key_heads);
  const std::size_t batch = size_of(inputs[0], 0), steps = size_of(inputs[0], 1);
  const std::size_t keys = size_of(inputs[0], 2) / query_heads, values = size_of(inputs[2], 2) / heads;
  const std::size_t group = query_heads / heads;
  const auto size = [](std::size_t count) { return static_cast<std::int64_t>(count); };
  Tensor result = Tensor::allocate(DType::float64, {size(batch), size(steps), size(query_heads * values)});
  Tensor last = Tensor::allocate(DType::float64, {size(batch), size(heads), size(keys), size(values)});
  for (std::size_t entry = 0; entry < batch * heads; ++entry) {
    const std::size_t head = entry % heads, area = keys * values;
    HeadState state{keys, values, std::vector<double>(area, 0)};
    if (inputs[3].defined()) {
      const Doubles first = inputs[3].elements<double>().subspan(entry * area, area);
      state.elements.assign(first.begin(), first.end());
    }
    for (std::size_t step = 0; step < steps; ++step) {
      const std::size_t row = entry / heads * steps + step;
      advance(state, inputs, row, head, heads);
      for (std::size_t i = 0; i < group * values; ++i) {
        const std::size_t query = head * group + i / values, value = i % values;
        result.mutable_elements<double>()[(row * query_heads + query) * values + value] =
            attributes_.scale * state.product(head_part(inputs[0], row, query, keys), value);
      }
    }
    std::ranges::copy(state.elements, last.mutable_elements<double>().subspan(entry * area, area).begin());
  }
  const DType state_dtype = given[3].defined() ? given[3].dtype() : given[0].dtype();
  return {evaluate_chain({}, {&result, 1}, given[0].dtype()), evaluate_chain({}, {&last, 1}, state_dtype)};
}

Dim LinearAttention::operation_count(std::span<const Fact> inputs, std::span<const Fact> outputs) const {
  // Each element of a state is changed and read by each step.
  return element_count(outputs[1].shape) * inputs[0].shape[1] * Dim(4);
}

}  // namespace lapilli
