#include "ops/pointwise.h"

#include <algorithm>
#include <format>

#include "base/checked.h"
#include "base/half.h"
#include "base/small_float.h"
#include "base/text.h"
#include "ops/text_numbers.h"

namespace lapilli {
namespace {

struct FunctionDescription {
  std::string_view name;
  int arguments;
};

constexpr std::array functions{
#define FUNCTION(name, code, arguments) FunctionDescription{#name, arguments},
#include "ops/pointwise_functions.def"
#undef FUNCTION
};

const FunctionDescription& describe(PointwiseFunction function) noexcept {
  return functions[static_cast<std::size_t>(function)];
}

// The chain over expressions of sizes instead of numbers; nothing when a step has no meaning for them.
std::optional<std::vector<Dim>> evaluate_symbolically(const PointwiseChain& chain, std::span<const Fact> inputs,
                                                      std::int64_t count, Assumptions& assumptions);

bool is_data(const Dim& dim) {
  std::vector<std::string> symbols;
  dim.collect_symbols(symbols);
  return std::ranges::any_of(symbols, is_element_symbol);
}

// A decision on elements that the caller gives is data: taking it would tie the structure to them.
bool decides_on_data(const PointwiseStep& step, std::span<const Dim> arguments) {
  switch (step.function) {
    case PointwiseFunction::equal:
    case PointwiseFunction::less:
    case PointwiseFunction::less_or_equal: return is_data(arguments[0] - arguments[1]);
    case PointwiseFunction::cast: return step.dtype == DType::boolean && is_data(arguments[0]);
    case PointwiseFunction::logical_not:
    case PointwiseFunction::select: return is_data(arguments[0]);
    case PointwiseFunction::logical_and:
    case PointwiseFunction::logical_or: return is_data(arguments[0]) || is_data(arguments[1]);
    default: return false;
  }
}

std::optional<Dim> symbolic_step(const PointwiseStep& step, std::span<const Dim> arguments,
                                 Assumptions& assumptions) {
  const auto is_true = [&](const Dim& dim) { return !assumptions.equal(dim, 0); };
  switch (step.function) {
    case PointwiseFunction::cast:
      if (step.dtype == DType::boolean) return Dim(is_true(arguments[0]) ? 1 : 0);
      return arguments[0];
    case PointwiseFunction::identity:
    case PointwiseFunction::cast_unsaturated: return arguments[0];
    case PointwiseFunction::add: return arguments[0] + arguments[1];
    case PointwiseFunction::subtract: return arguments[0] - arguments[1];
    case PointwiseFunction::multiply: return arguments[0] * arguments[1];
    case PointwiseFunction::divide:
      // Sizes are not negative, so rounding down is rounding to zero; a negative number would not be a size.
      if (!assumptions.less(0, arguments[1]) || assumptions.less(arguments[0], 0)) return std::nullopt;
      return Dim::floor_divide(arguments[0], arguments[1]);
    case PointwiseFunction::minimum: return Dim::minimum(arguments[0], arguments[1]);
    case PointwiseFunction::maximum: return Dim::maximum(arguments[0], arguments[1]);
    case PointwiseFunction::negate: return Dim(0) - arguments[0];
    case PointwiseFunction::absolute: return assumptions.less(arguments[0], 0) ? Dim(0) - arguments[0] : arguments[0];
    case PointwiseFunction::equal: return Dim(assumptions.equal(arguments[0], arguments[1]) ? 1 : 0);
    case PointwiseFunction::less: return Dim(assumptions.less(arguments[0], arguments[1]) ? 1 : 0);
    case PointwiseFunction::less_or_equal: return Dim(assumptions.less(arguments[1], arguments[0]) ? 0 : 1);
    case PointwiseFunction::logical_not: return Dim(is_true(arguments[0]) ? 0 : 1);
    case PointwiseFunction::logical_and: return Dim(is_true(arguments[0]) && is_true(arguments[1]) ? 1 : 0);
    case PointwiseFunction::logical_or: return Dim(is_true(arguments[0]) || is_true(arguments[1]) ? 1 : 0);
    case PointwiseFunction::select: return is_true(arguments[0]) ? arguments[1] : arguments[2];
    default: return std::nullopt;
  }
}

std::optional<std::vector<Dim>> evaluate_symbolically(const PointwiseChain& chain, std::span<const Fact> inputs,
                                                      std::int64_t count, Assumptions& assumptions) try {
  std::vector<std::vector<Dim>> known;
  for (const Fact& fact : inputs) {
    auto elements = fact.integers();
    // Only scalars and vectors of one length: shape arithmetic needs no other broadcasting.
    const auto size = elements ? static_cast<std::int64_t>(elements->size()) : -1;
    if (size != 1 && size != count) return std::nullopt;
    known.push_back(std::move(*elements));
  }
  const bool integers =
      std::ranges::none_of(chain.steps, [](const PointwiseStep& step) { return is_floating_point(step.dtype); });
  if (!integers) return std::nullopt;
  std::vector<Dim> result;
  for (std::int64_t i = 0; i < count; ++i) {
    std::vector<Dim> registers;
    for (const auto& elements : known)
      registers.push_back(elements.size() == 1 ? elements[0] : elements[static_cast<std::size_t>(i)]);
    for (const Immediate& immediate : chain.immediates) registers.emplace_back(immediate.integer);
    for (const PointwiseStep& step : chain.steps) {
      const std::array arguments{registers[step.arguments[0]], registers[step.arguments[1]],
                                 registers[step.arguments[2]]};
      if (decides_on_data(step, arguments)) return std::nullopt;
      auto value = symbolic_step(step, arguments, assumptions);
      if (!value) return std::nullopt;
      registers.push_back(std::move(*value));
    }
    result.push_back(chain.empty() ? registers.front() : registers.back());
  }
  return result;
} catch (const Error& error) {
  // Where sizes would be an error, data wraps around.
  if (error.code() != ErrorCode::limit_exceeded) throw;
  return std::nullopt;
}

// Strings are compared and chosen from; nothing else is known of them.
std::optional<Tensor> evaluate_texts(PointwiseChain chain, std::span<const Tensor> inputs, DType output_dtype) {
  for (PointwiseStep& step : chain.steps) {
    const bool known = step.function == PointwiseFunction::equal || step.function == PointwiseFunction::select;
    if (step.dtype == DType::string && !known) return std::nullopt;
    if (step.dtype == DType::string) step.dtype = DType::int64;
  }
  TextNumbers numbers;
  std::vector<Tensor> encoded;
  for (const Tensor& input : inputs)
    encoded.push_back(input.dtype() == DType::string ? numbers.encode(input) : input);
  if (output_dtype != DType::string) return evaluate_chain(chain, encoded, output_dtype);
  return numbers.decode(evaluate_chain(chain, encoded, DType::int64));
}

}  // namespace

std::string_view to_string(PointwiseFunction function) noexcept { return describe(function).name; }
int argument_count(PointwiseFunction function) noexcept { return describe(function).arguments; }

Immediate Immediate::of_tensor(const Tensor& tensor) {
  if (tensor.element_count() != 1) fail(ErrorCode::internal, "{} is no scalar", shape_text(tensor.shape()));
  Immediate result{tensor.dtype(), 0, 0};
  PointwiseChain widen;
  if (is_floating_point(tensor.dtype())) {
    widen.add(PointwiseFunction::cast, DType::float64, {0, 0, 0});
    result.real = evaluate_chain(widen, {&tensor, 1}, DType::float64).elements<double>()[0];
  } else {
    widen.add(PointwiseFunction::cast, DType::int64, {0, 0, 0});
    result.integer = evaluate_chain(widen, {&tensor, 1}, DType::int64).elements<std::int64_t>()[0];
  }
  return result;
}

bool is_lengthy(const PointwiseStep& step) noexcept {
  using enum PointwiseFunction;
  const bool real = is_floating_point(step.dtype);
  if (step.function == modulo || step.function == PointwiseFunction::remainder) return real;
  if (step.function == sine || step.function == cosine || step.function == tangent) return true;
  if (step.dtype != DType::float64) return is_small_float(step.dtype);
  switch (step.function) {
    case PointwiseFunction::power:
    case elu:
    case celu:
    case softplus:
    case mish:
    case gelu:
    case gelu_tanh:
    case silu: return true;
    default: return step.function >= sine && step.function <= sigmoid;
  }
}

DType result_dtype(const PointwiseStep& step) noexcept {
  switch (step.function) {
    case PointwiseFunction::equal:
    case PointwiseFunction::less:
    case PointwiseFunction::less_or_equal:
    case PointwiseFunction::is_nan:
    case PointwiseFunction::is_infinite:
    case PointwiseFunction::logical_not:
    case PointwiseFunction::logical_and:
    case PointwiseFunction::logical_or:
    case PointwiseFunction::logical_xor: return DType::boolean;
    default: return step.dtype;
  }
}

std::uint8_t PointwiseChain::add(PointwiseFunction function, DType dtype, std::array<std::uint8_t, 3> arguments) {
  const std::size_t result = first_step() + steps.size();
  if (result > 0xFE) fail(ErrorCode::internal, "a chain of {} steps", steps.size());
  for (std::size_t i = static_cast<std::size_t>(argument_count(function)); i < 3; ++i) arguments[i] = arguments[0];
  steps.push_back({function, dtype, arguments});
  return static_cast<std::uint8_t>(result);
}

std::uint8_t PointwiseChain::add(Immediate immediate) {
  if (!steps.empty()) fail(ErrorCode::internal, "an immediate after the first step of a chain");
  immediates.push_back(immediate);
  return static_cast<std::uint8_t>(first_step() - 1);
}

std::string PointwiseChain::to_string() const {
  const auto argument_text = [&](std::uint8_t argument) {
    if (argument < input_count) return std::format("in{}", argument);
    if (argument >= first_step()) return std::format("t{}", argument - first_step());
    const Immediate& immediate = immediates[argument - input_count];
    return is_floating_point(immediate.dtype) ? std::format("{}", immediate.real)
                                              : std::format("{}", immediate.integer);
  };
  std::vector<std::string> parts;
  for (const PointwiseStep& step : steps) {
    std::vector<std::string> arguments;
    for (int i = 0; i < argument_count(step.function); ++i) {
      arguments.push_back(argument_text(step.arguments[static_cast<std::size_t>(i)]));
    }
    const bool cast = is_cast(step.function);
    parts.push_back(std::format("{}{}({})", lapilli::to_string(step.function),
                                cast ? std::format("<{}>", lapilli::to_string(step.dtype)) : "",
                                join(arguments, ", ")));
  }
  return join(parts, "; ");
}

bool fits(const PointwiseChain& chain, const ChainLimits& limits) noexcept {
  return chain.input_count <= limits.inputs && chain.immediates.size() <= limits.immediates &&
         chain.steps.size() <= limits.steps;
}

JoinedChain join_chains(const PointwiseChain& first, const PointwiseChain& second, std::uint8_t position) {
  JoinedChain joined;
  PointwiseChain& chain = joined.chain;
  chain.input_count = checked_cast<std::uint8_t>(first.input_count + second.input_count - 1);
  for (std::uint8_t i = 0, next = first.input_count; i < second.input_count; ++i) {
    joined.mapping.push_back(i == position ? std::uint8_t{0} : next++);
  }
  chain.immediates = first.immediates;
  std::vector<std::uint8_t> second_immediates;
  for (const Immediate& immediate : second.immediates) {
    auto found = std::ranges::find(chain.immediates, immediate);
    if (found == chain.immediates.end()) found = chain.immediates.insert(found, immediate);
    second_immediates.push_back(static_cast<std::uint8_t>(chain.input_count + (found - chain.immediates.begin())));
  }
  const auto renumber_first = [&](std::uint8_t argument) {
    if (argument < first.input_count) return argument;
    if (argument < first.first_step())
      return static_cast<std::uint8_t>(argument - first.input_count + chain.input_count);
    return static_cast<std::uint8_t>(argument - first.first_step() + chain.first_step());
  };
  for (PointwiseStep step : first.steps) {
    std::ranges::transform(step.arguments, step.arguments.begin(), renumber_first);
    chain.steps.push_back(step);
  }
  const auto link =
      first.empty() ? std::uint8_t{0} : static_cast<std::uint8_t>(chain.first_step() + first.steps.size() - 1);
  const std::size_t offset = chain.first_step() + first.steps.size();
  for (PointwiseStep step : second.steps) {
    for (std::uint8_t& argument : step.arguments) {
      if (argument == position) {
        argument = link;
      } else if (argument < second.input_count) {
        argument = joined.mapping[argument];
      } else if (argument < second.first_step()) {
        argument = second_immediates[argument - second.input_count];
      } else {
        argument = static_cast<std::uint8_t>(argument - second.first_step() + offset);
      }
    }
    chain.steps.push_back(step);
  }
  return joined;
}

PointwiseChain with_immediate(const PointwiseChain& chain, std::uint8_t position, Immediate immediate) {
  PointwiseChain result = chain;
  --result.input_count;
  // One input less and one immediate more: steps keep their numbers.
  result.immediates.push_back(immediate);
  const auto number = static_cast<std::uint8_t>(result.first_step() - 1);
  for (PointwiseStep& step : result.steps) {
    for (std::uint8_t& argument : step.arguments) {
      if (argument == position) {
        argument = number;
      } else if (argument > position && argument < chain.first_step()) {
        --argument;
      }
    }
  }
  return result;
}

Shape broadcast(std::span<const Shape> shapes, Assumptions& assumptions) {
  std::size_t rank = 0;
  for (const Shape& shape : shapes) rank = std::max(rank, shape.size());
  Shape result(rank, Dim(1));
  for (const Shape& shape : shapes) {
    for (std::size_t i = 0; i < shape.size(); ++i) {
      Dim& target = result[rank - shape.size() + i];
      const Dim& dim = shape[i];
      if (dim == target || dim == Dim(1)) continue;
      if (target == Dim(1)) {
        target = dim;
      } else if (assumptions.equal(target, dim) || assumptions.equal(dim, 1)) {
        continue;
      } else if (assumptions.equal(target, 1)) {
        target = dim;
      } else {
        std::vector<std::string> texts;
        for (const Shape& each : shapes) texts.push_back(shape_text(each));
        fail(ErrorCode::invalid_model, "shapes {} do not broadcast to one", join(texts, " and "));
      }
    }
  }
  return result;
}

std::vector<Fact> Pointwise::infer(std::span<const Fact> inputs, Assumptions& assumptions) const {
  if (inputs.size() != chain_.input_count) {
    fail(ErrorCode::invalid_model, "{} inputs where {} are needed", inputs.size(), chain_.input_count);
  }
  std::vector<Shape> shapes;
  for (const Fact& fact : inputs) shapes.push_back(fact.shape);
  Shape shape = broadcast(shapes, assumptions);
  const bool known = std::ranges::all_of(inputs, [](const Fact& fact) { return fact.constant.defined(); });
  const auto count = element_count(shape).constant();
  const bool integer =
      output_dtype_ == DType::int64 || output_dtype_ == DType::int32 || output_dtype_ == DType::boolean;
  constexpr std::int64_t longest_shape_arithmetic = 64;
  if (!known && integer && count && *count <= longest_shape_arithmetic) {
    if (auto elements = evaluate_symbolically(chain_, inputs, *count, assumptions)) {
      if (output_dtype_ != DType::boolean)
        return {Fact::of_elements(output_dtype_, std::move(shape), std::move(*elements))};
      Fact fact = Fact::of(output_dtype_, std::move(shape));
      Tensor tensor = Tensor::allocate(DType::boolean, *to_numbers(fact.shape));
      for (std::size_t i = 0; i < elements->size(); ++i) {
        tensor.mutable_elements<std::uint8_t>()[i] = (*elements)[i] == Dim(0) ? 0 : 1;
      }
      return {Fact::of_constant(std::move(tensor))};
    }
  }
  return {Fact::of(output_dtype_, std::move(shape))};
}

std::vector<Tensor> Pointwise::evaluate(std::span<const Tensor> inputs) const {
  const auto is_text = [](const Tensor& input) { return input.dtype() == DType::string; };
  if (std::ranges::any_of(inputs, is_text)) {
    auto result = evaluate_texts(chain_, inputs, output_dtype_);
    return result ? std::vector{std::move(*result)} : std::vector<Tensor>();
  }
  for (const Tensor& input : inputs) {
    if (bit_width(input.dtype()) == 0) return {};
  }
  if (bit_width(output_dtype_) == 0) return {};
  return {evaluate_chain(chain_, inputs, output_dtype_)};
}

Dim Pointwise::operation_count(std::span<const Fact> /*inputs*/, std::span<const Fact> outputs) const {
  return element_count(outputs[0].shape) * Dim(static_cast<std::int64_t>(chain_.steps.size()));
}

OperatorPointer make_pointwise(PointwiseFunction function, DType dtype, std::uint8_t inputs,
                               std::vector<Immediate> immediates) {
  PointwiseChain chain;
  chain.input_count = inputs;
  chain.immediates = std::move(immediates);
  const std::uint8_t result = chain.add(function, dtype, {0, 1, 2});
  return std::make_shared<Pointwise>(chain, result_dtype(chain.steps[result - chain.first_step()]));
}

}  // namespace lapilli
