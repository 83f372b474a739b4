// Derivatives of the functions of pointwise chains.
#include <array>
#include <cmath>
#include <numbers>

#include "base/failure.h"
#include "ops/gradient.h"

namespace lapilli {
namespace {

using Function = PointwiseFunction;

/// One step of a chain with the values of its arguments and its result.
struct Step {
  GraphBuilder& builder;
  Function function;
  std::array<ValueId, 3> arguments;
  ValueId result;

  [[nodiscard]] ValueId on(Function f, ValueId value) const { return builder.pointwise(f, {value}); }
  [[nodiscard]] ValueId on(Function f, ValueId left, ValueId right) const {
    return builder.pointwise(f, {left, right});
  }
  [[nodiscard]] ValueId with(Function f, ValueId value, double number) const {
    return builder.pointwise(f, {value}, {Immediate::of(number)});
  }
  [[nodiscard]] ValueId times(ValueId left, ValueId right) const { return on(Function::multiply, left, right); }
  [[nodiscard]] ValueId scaled(ValueId value, double factor) const { return with(Function::multiply, value, factor); }
  [[nodiscard]] ValueId plus(ValueId value, double summand) const { return with(Function::add, value, summand); }
  [[nodiscard]] ValueId one_minus(ValueId value) const { return plus(on(Function::negate, value), 1); }
  [[nodiscard]] ValueId squared(ValueId value) const { return times(value, value); }
  [[nodiscard]] ValueId inverse_root(ValueId value) const {
    return on(Function::reciprocal, on(Function::square_root, value));
  }
  [[nodiscard]] ValueId zero(ValueId like) const { return builder.scalar(builder.dtype(like), 0); }
  /// `value` where the condition holds, else zero.
  [[nodiscard]] ValueId where(ValueId condition, ValueId value) const {
    return builder.pointwise(Function::select, {condition, value, zero(value)});
  }
};

// s + x s (1 - s) with s = sigmoid(k x): the derivative of x s where k is 1.
ValueId silu_factor(const Step& step, ValueId x) {
  const ValueId s = step.on(Function::sigmoid, x);
  return step.on(Function::add, s, step.times(x, step.times(s, step.one_minus(s))));
}

// The density of the normal distribution.
ValueId normal_density(const Step& step, ValueId x) {
  const ValueId power = step.on(Function::exponential, step.scaled(step.squared(x), -0.5));
  return step.scaled(power, 1 / std::sqrt(2 * std::numbers::pi));
}

ValueId gelu_factor(const Step& step, ValueId x) {
  const ValueId error = step.on(Function::error_function, step.scaled(x, std::numbers::sqrt2 / 2));
  const ValueId share = step.scaled(step.plus(error, 1), 0.5);
  return step.on(Function::add, share, step.times(x, normal_density(step, x)));
}

// With t = tanh(u) and u = sqrt(2 / pi) (x + 0.044715 x^3).
ValueId gelu_tanh_factor(const Step& step, ValueId x) {
  const double slope = std::sqrt(2 / std::numbers::pi);
  const ValueId square = step.squared(x);
  const ValueId u = step.times(step.scaled(x, slope), step.plus(step.scaled(square, 0.044715), 1));
  const ValueId t = step.on(Function::hyperbolic_tangent, u);
  const ValueId inner = step.scaled(step.plus(step.scaled(square, 3 * 0.044715), 1), slope);
  const ValueId outer = step.times(step.times(step.scaled(x, 0.5), step.one_minus(step.squared(t))), inner);
  return step.on(Function::add, step.scaled(step.plus(t, 1), 0.5), outer);
}

// What the gradient of the only argument is multiplied by, for functions that have an inverse that is well known; no
// value for others.
ValueId trigonometric_factor(const Step& step) {
  const ValueId x = step.arguments[0], y = step.result;
  switch (step.function) {
    case Function::sine: return step.on(Function::cosine, x);
    case Function::cosine: return step.on(Function::negate, step.on(Function::sine, x));
    case Function::tangent: return step.plus(step.squared(y), 1);
    case Function::arcsine: return step.inverse_root(step.one_minus(step.squared(x)));
    case Function::arccosine: return step.on(Function::negate, step.inverse_root(step.one_minus(step.squared(x))));
    case Function::arctangent: return step.on(Function::reciprocal, step.plus(step.squared(x), 1));
    case Function::hyperbolic_sine: return step.on(Function::hyperbolic_cosine, x);
    case Function::hyperbolic_cosine: return step.on(Function::hyperbolic_sine, x);
    case Function::hyperbolic_tangent: return step.one_minus(step.squared(y));
    case Function::inverse_hyperbolic_sine: return step.inverse_root(step.plus(step.squared(x), 1));
    case Function::inverse_hyperbolic_cosine: return step.inverse_root(step.plus(step.squared(x), -1));
    case Function::inverse_hyperbolic_tangent: return step.on(Function::reciprocal, step.one_minus(step.squared(x)));
    default: return no_value;
  }
}

// What the gradient of the only argument is multiplied by.
ValueId factor_of(const Step& step) {
  const ValueId x = step.arguments[0], y = step.result;
  switch (step.function) {
    case Function::absolute: return step.on(Function::sign, x);
    case Function::reciprocal: return step.on(Function::negate, step.squared(y));
    case Function::square_root: return step.scaled(step.on(Function::reciprocal, y), 0.5);
    case Function::exponential: return y;
    case Function::logarithm: return step.on(Function::reciprocal, x);
    case Function::error_function:
      return step.scaled(step.on(Function::exponential, step.on(Function::negate, step.squared(x))),
                         2 / std::sqrt(std::numbers::pi));
    case Function::sigmoid: return step.times(y, step.one_minus(y));
    case Function::softplus: return step.on(Function::sigmoid, x);
    case Function::softsign:
      return step.on(Function::reciprocal, step.squared(step.plus(step.on(Function::absolute, x), 1)));
    case Function::silu: return silu_factor(step, x);
    case Function::gelu: return gelu_factor(step, x);
    case Function::gelu_tanh: return gelu_tanh_factor(step, x);
    default: break;
  }
  const ValueId factor = trigonometric_factor(step);
  if (factor == no_value) fail(ErrorCode::unsupported, "no derivative of {} is known", to_string(step.function));
  return factor;
}

bool goes_by_steps(Function function) {
  switch (function) {
    case Function::sign:
    case Function::floor:
    case Function::ceiling:
    case Function::round: return true;
    default: return false;
  }
}

using Gradients = std::array<ValueId, 3>;  // of a step's arguments

Gradients power_gradients(const Step& step, ValueId gradient) {
  const auto [x, exponent, rest] = step.arguments;
  const ValueId below = step.on(Function::power, x, step.plus(exponent, -1));
  const ValueId of_base = step.times(gradient, step.times(exponent, below));
  // The logarithm counts where it exists: 0 to a positive power stays 0.
  const ValueId positive = step.on(Function::less, step.zero(x), x);
  const ValueId of_exponent = step.times(gradient, step.times(step.result, step.on(Function::logarithm, x)));
  return {of_base, step.where(positive, of_exponent), no_value};
}

// Where both arguments are the extreme one, each gets a half.
Gradients extreme_gradients(const Step& step, ValueId gradient) {
  const auto [a, b, rest] = step.arguments;
  const ValueId equal = step.on(Function::equal, a, b), half = step.scaled(gradient, 0.5);
  const auto of = [&](ValueId own, ValueId other) {
    const bool least = step.function == Function::minimum;
    const ValueId wins = step.on(Function::less, least ? own : other, least ? other : own);
    return step.builder.pointwise(Function::select, {equal, half, step.where(wins, gradient)});
  };
  return {of(a, b), of(b, a), no_value};
}

// Functions of one argument that have numbers beside it, which are constants here.
Gradients bent_gradients(const Step& step, ValueId gradient) {
  const auto [x, first, second] = step.arguments;
  const ValueId positive = step.on(Function::less, step.zero(x), x);
  const auto choose = [&](ValueId factor) {
    return step.builder.pointwise(Function::select, {positive, gradient, step.times(gradient, factor)});
  };
  switch (step.function) {
    case Function::relu: return {step.where(positive, gradient), no_value, no_value};
    case Function::leaky_relu: return {choose(first), no_value, no_value};
    case Function::elu: return {choose(step.on(Function::add, step.result, first)), no_value, no_value};
    case Function::celu:
      return {choose(step.on(Function::exponential, step.on(Function::divide, x, first))), no_value, no_value};
    case Function::threshold: return {step.where(step.on(Function::less, first, x), gradient), no_value, no_value};
    default: {  // clamp
      const ValueId inside = step.on(Function::logical_and, step.on(Function::less_or_equal, first, x),
                                     step.on(Function::less_or_equal, x, second));
      return {step.where(inside, gradient), no_value, no_value};
    }
  }
}

Gradients gradients_of(const Step& step, ValueId gradient) {
  const auto [a, b, c] = step.arguments;
  switch (step.function) {
    case Function::identity: return {gradient, no_value, no_value};
    case Function::cast:
    case Function::cast_unsaturated: return {step.builder.cast(gradient, step.builder.dtype(a)), no_value, no_value};
    case Function::add: return {gradient, gradient, no_value};
    case Function::subtract: return {gradient, step.on(Function::negate, gradient), no_value};
    case Function::negate: return {step.on(Function::negate, gradient), no_value, no_value};
    case Function::multiply: return {step.times(gradient, b), step.times(gradient, a), no_value};
    case Function::divide: {
      const ValueId quotient = step.on(Function::divide, gradient, b);
      return {quotient, step.on(Function::negate, step.times(quotient, step.result)), no_value};
    }
    case Function::power: return power_gradients(step, gradient);
    case Function::minimum:
    case Function::maximum: return extreme_gradients(step, gradient);
    case Function::relu:
    case Function::leaky_relu:
    case Function::elu:
    case Function::celu:
    case Function::threshold:
    case Function::clamp: return bent_gradients(step, gradient);
    case Function::select:
      return {no_value, step.where(a, gradient),
              step.builder.pointwise(Function::select, {a, step.zero(gradient), gradient})};
    default: break;
  }
  if (goes_by_steps(step.function)) return {no_value, no_value, no_value};
  return {step.times(gradient, factor_of(step)), no_value, no_value};
}

ValueId immediate_value(GraphBuilder& builder, const Immediate& immediate) {
  if (is_floating_point(immediate.dtype)) return builder.scalar(immediate.dtype, immediate.real);
  const std::array number{immediate.integer};
  return builder.cast(builder.constant(Tensor::of<std::int64_t>(DType::int64, {}, number)), immediate.dtype);
}

ValueId run_step(GraphBuilder& builder, const PointwiseStep& step, std::span<const ValueId> arguments) {
  PointwiseChain single;
  single.input_count = static_cast<std::uint8_t>(arguments.size());
  single.add(step.function, step.dtype, {0, 1, 2});
  return builder.add(std::make_shared<Pointwise>(std::move(single), result_dtype(step)),
                     {arguments.begin(), arguments.end()});
}

}  // namespace

std::vector<ValueId> differentiate_chain(GraphBuilder& builder, const PointwiseChain& chain,
                                         std::span<const ValueId> inputs, ValueId gradient) {
  // Inputs, immediates and the results of steps, as steps number them.
  std::vector<ValueId> values(inputs.begin(), inputs.end());
  for (const Immediate& immediate : chain.immediates) values.push_back(immediate_value(builder, immediate));
  for (const PointwiseStep& step : chain.steps) {
    std::vector<ValueId> arguments;
    for (int i = 0; i < argument_count(step.function); ++i) {
      arguments.push_back(values[step.arguments[static_cast<std::size_t>(i)]]);
    }
    values.push_back(run_step(builder, step, arguments));
  }
  std::vector<ValueId> gradients(values.size(), no_value);
  gradients[chain.empty() ? 0 : values.size() - 1] = gradient;
  for (std::size_t i = chain.steps.size(); i-- > 0;) {
    const PointwiseStep& step = chain.steps[i];
    const std::size_t place = chain.first_step() + i;
    if (gradients[place] == no_value || !is_floating_point(result_dtype(step))) continue;
    Step call{builder, step.function, {no_value, no_value, no_value}, values[place]};
    const auto count = static_cast<std::size_t>(argument_count(step.function));
    for (std::size_t j = 0; j < count; ++j) call.arguments[j] = values[step.arguments[j]];
    const bool from_integers = is_cast(step.function) && !is_floating_point(builder.dtype(call.arguments[0]));
    if (from_integers) continue;
    const Gradients own = gradients_of(call, gradients[place]);
    for (std::size_t j = 0; j < count; ++j) {
      ValueId& sum = gradients[step.arguments[j]];
      if (own[j] == no_value) continue;
      sum = sum == no_value ? own[j] : builder.pointwise(PointwiseFunction::add, {sum, own[j]});
    }
  }
  gradients.resize(inputs.size());
  return gradients;
}

}  // namespace lapilli
