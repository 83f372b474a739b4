// The chain on the host: the reference of the kernels, and what folds constants.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/failure.h"
#include "base/half.h"
#include "base/packed.h"
#include "base/small_float.h"
#include "ops/pointwise.h"

namespace lapilli {
namespace {

// A value between two steps: real for floating-point dtypes, integer for the rest.
struct Number {
  double real = 0;
  std::int64_t integer = 0;
};

template <class T>
T element_at(const Tensor& tensor, std::int64_t index) {
  return tensor.elements<T>()[static_cast<std::size_t>(index)];
}

// Of `dtype`, where a packed one lies in a tensor of one byte an element.
Number load(DType dtype, const Tensor& tensor, std::int64_t index) {
  switch (dtype) {
    case DType::float32: return {element_at<float>(tensor, index), 0};
    case DType::float64: return {element_at<double>(tensor, index), 0};
    case DType::float16: return {static_cast<float>(element_at<Half>(tensor, index)), 0};
    case DType::bfloat16: return {static_cast<float>(element_at<BFloat16>(tensor, index)), 0};
    case DType::int2:
    case DType::int4:
    case DType::int8: return {0, element_at<std::int8_t>(tensor, index)};
    case DType::int16: return {0, element_at<std::int16_t>(tensor, index)};
    case DType::int32: return {0, element_at<std::int32_t>(tensor, index)};
    case DType::int64: return {0, element_at<std::int64_t>(tensor, index)};
    case DType::uint2:
    case DType::uint4:
    case DType::uint8: return {0, element_at<std::uint8_t>(tensor, index)};
    case DType::uint16: return {0, element_at<std::uint16_t>(tensor, index)};
    case DType::uint32: return {0, element_at<std::uint32_t>(tensor, index)};
    case DType::uint64: return {0, static_cast<std::int64_t>(element_at<std::uint64_t>(tensor, index))};
    case DType::boolean: return {0, element_at<std::uint8_t>(tensor, index) != 0 ? 1 : 0};
    default:
      if (is_small_float(dtype)) return {small_float_value(dtype, element_at<std::uint8_t>(tensor, index)), 0};
      fail(ErrorCode::unsupported, "arithmetic on {}", to_string(dtype));
  }
}

template <class T>
void store_as(Tensor& tensor, std::int64_t index, T value) {
  tensor.mutable_elements<T>()[static_cast<std::size_t>(index)] = value;
}

void store(DType dtype, Tensor& tensor, std::int64_t index, const Number& number) {
  switch (dtype) {
    case DType::float32: return store_as(tensor, index, static_cast<float>(number.real));
    case DType::float64: return store_as(tensor, index, number.real);
    case DType::float16: return store_as(tensor, index, Half(static_cast<float>(number.real)));
    case DType::bfloat16: return store_as(tensor, index, BFloat16(static_cast<float>(number.real)));
    case DType::int2:
    case DType::int4:
    case DType::int8: return store_as(tensor, index, static_cast<std::int8_t>(number.integer));
    case DType::int16: return store_as(tensor, index, static_cast<std::int16_t>(number.integer));
    case DType::int32: return store_as(tensor, index, static_cast<std::int32_t>(number.integer));
    case DType::int64: return store_as(tensor, index, number.integer);
    case DType::uint2:
    case DType::uint4:
    case DType::uint8: return store_as(tensor, index, static_cast<std::uint8_t>(number.integer));
    case DType::uint16: return store_as(tensor, index, static_cast<std::uint16_t>(number.integer));
    case DType::uint32: return store_as(tensor, index, static_cast<std::uint32_t>(number.integer));
    case DType::uint64: return store_as(tensor, index, static_cast<std::uint64_t>(number.integer));
    case DType::boolean: return store_as(tensor, index, static_cast<std::uint8_t>(number.integer != 0));
    default: {
      // What is stored has been rounded, so that infinities are meant.
      if (!is_small_float(dtype)) fail(ErrorCode::unsupported, "arithmetic on {}", to_string(dtype));
      store_as(tensor, index, small_float_code(dtype, static_cast<float>(number.real), Overflow::special));
    }
  }
}

// The number as `dtype` keeps it.
Number narrow(DType dtype, Number number, Overflow overflow = Overflow::saturate) {
  switch (dtype) {
    case DType::float32: return {static_cast<float>(number.real), 0};
    case DType::float16: return {static_cast<float>(Half(rounded_to_odd(number.real))), 0};
    case DType::bfloat16: return {static_cast<float>(BFloat16(rounded_to_odd(number.real))), 0};
    case DType::int8: return {0, static_cast<std::int8_t>(number.integer)};
    case DType::int16: return {0, static_cast<std::int16_t>(number.integer)};
    case DType::int32: return {0, static_cast<std::int32_t>(number.integer)};
    case DType::uint8: return {0, static_cast<std::uint8_t>(number.integer)};
    case DType::uint16: return {0, static_cast<std::uint16_t>(number.integer)};
    case DType::uint32: return {0, static_cast<std::uint32_t>(number.integer)};
    case DType::boolean: return {0, number.integer != 0 ? 1 : 0};
    case DType::int2: return {0, ((number.integer & 3) ^ 2) - 2};
    case DType::uint2: return {0, number.integer & 3};
    case DType::int4: return {0, ((number.integer & 15) ^ 8) - 8};
    case DType::uint4: return {0, number.integer & 15};
    default:
      if (!is_small_float(dtype)) return number;
      return {rounded_to_small_float(dtype, rounded_to_odd(number.real), overflow), 0};
  }
}

std::int64_t to_integer(double value, DType dtype) {
  if (std::isnan(value)) return 0;
  if (dtype == DType::uint64 && value >= 0x1p63) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(std::min(value, 0x1.fffffffffffffp63)));
  }
  return static_cast<std::int64_t>(std::clamp(value, -0x1p63, 0x1.fffffffffffffp62));
}

Number convert(const Number& number, DType from, DType to, Overflow overflow = Overflow::saturate) {
  if (from == to) return number;
  const bool from_real = is_floating_point(from), to_real = is_floating_point(to);
  if (to == DType::boolean) return {0, (from_real ? number.real != 0 : number.integer != 0) ? 1 : 0};
  if (from_real && !to_real) return narrow(to, {0, to_integer(number.real, to)});
  if (!from_real && to_real) {
    // Through float32, as kernels do it.
    const auto real = [to](auto integer) {
      return to == DType::float64 ? static_cast<double>(integer) : static_cast<double>(static_cast<float>(integer));
    };
    const bool is_unsigned = from == DType::uint64;
    return narrow(to, {is_unsigned ? real(static_cast<std::uint64_t>(number.integer)) : real(number.integer), 0},
                  overflow);
  }
  return narrow(to, number, overflow);
}

double real_unary(PointwiseFunction function, double x) {
  using enum PointwiseFunction;
  switch (function) {
    case negate: return -x;
    case absolute: return std::abs(x);
    case sign: return std::isnan(x) ? x : static_cast<double>((x > 0) - (x < 0));
    case reciprocal: return 1 / x;
    case square_root: return std::sqrt(x);
    case exponential: return std::exp(x);
    case logarithm: return std::log(x);
    case PointwiseFunction::floor: return std::floor(x);
    case ceiling: return std::ceil(x);
    case PointwiseFunction::round: return std::nearbyint(x);
    case sine: return std::sin(x);
    case cosine: return std::cos(x);
    case tangent: return std::tan(x);
    case arcsine: return std::asin(x);
    case arccosine: return std::acos(x);
    case arctangent: return std::atan(x);
    case hyperbolic_sine: return std::sinh(x);
    case hyperbolic_cosine: return std::cosh(x);
    case hyperbolic_tangent: return std::tanh(x);
    case inverse_hyperbolic_sine: return std::asinh(x);
    case inverse_hyperbolic_cosine: return std::acosh(x);
    case inverse_hyperbolic_tangent: return std::atanh(x);
    case error_function: return std::erf(x);
    case sigmoid: return 1 / (1 + std::exp(-x));
    case hard_swish: return x * std::clamp(x / 6 + 0.5, 0.0, 1.0);
    case softplus: return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
    case softsign: return x / (1 + std::abs(x));
    case mish: return x * std::tanh(x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)));
    case gelu: return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2));
    case gelu_tanh: return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
    case relu: return x < 0 ? 0 : x;
    case silu: return x / (1 + std::exp(-x));
    case PointwiseFunction::power_of_two_above: return lapilli::power_of_two_above(static_cast<float>(x));
    case PointwiseFunction::power_of_two_below: return lapilli::power_of_two_below(static_cast<float>(x));
    default: return x;
  }
}

// The remainder with the sign of the divisor, as Python has it.
double real_modulo(double x, double y) {
  const double rest = std::fmod(x, y);
  if (rest == 0) return std::copysign(rest, y);
  return std::signbit(rest) != std::signbit(y) ? rest + y : rest;
}

double real_step(PointwiseFunction function, double x, double y, double z) {
  using enum PointwiseFunction;
  switch (function) {
    case add: return x + y;
    case subtract: return x - y;
    case multiply: return x * y;
    case divide: return x / y;
    case power: return std::pow(x, y);
    case minimum: return std::isnan(x) || std::isnan(y) ? x + y : std::min(x, y);
    case maximum: return std::isnan(x) || std::isnan(y) ? x + y : std::max(x, y);
    case modulo: return real_modulo(x, y);
    case PointwiseFunction::remainder: return std::fmod(x, y);
    case hard_sigmoid: return std::clamp(x * y + z, 0.0, 1.0);
    case leaky_relu: return x < 0 ? x * y : x;
    case elu: return x < 0 ? y * std::expm1(x) : x;
    case celu: return std::max(0.0, x) + std::min(0.0, y * std::expm1(x / y));
    case threshold: return x > y ? x : 0;
    case PointwiseFunction::clamp: return std::isnan(x) ? x : std::min(std::max(x, y), z);
    case shrink: return x < -y ? x + z : x > y ? x - z : 0;
    default: return real_unary(function, x);
  }
}

bool real_predicate(PointwiseFunction function, double x, double y, double z) {
  using enum PointwiseFunction;
  switch (function) {
    case equal: return x == y;
    case less: return x < y;
    case less_or_equal: return x <= y;
    case is_nan: return std::isnan(x);
    // y and z tell whether negative and positive infinities count.
    case is_infinite: return std::isinf(x) && (x < 0 ? y : z) != 0;
    default: return x != 0;
  }
}

std::int64_t wrapped_power(std::int64_t base, std::int64_t exponent) {
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
  std::uint64_t result = 1, factor = static_cast<std::uint64_t>(base);
  for (std::uint64_t rest = static_cast<std::uint64_t>(exponent); rest != 0; rest >>= 1U) {
    if ((rest & 1U) != 0) result *= factor;
    factor *= factor;
  }
  return static_cast<std::int64_t>(result);
}

// Integer arithmetic wraps; a division by zero gives 0, as no device traps.
template <class T>
std::int64_t integer_step(PointwiseFunction function, std::int64_t left, std::int64_t right, std::int64_t third) {
  using enum PointwiseFunction;
  const auto x = static_cast<T>(left), y = static_cast<T>(right), z = static_cast<T>(third);
  const auto a = static_cast<std::uint64_t>(left), b = static_cast<std::uint64_t>(right);
  const bool minus_one = std::is_signed_v<T> && right == -1;
  switch (function) {
    case add: return static_cast<std::int64_t>(a + b);
    case subtract: return static_cast<std::int64_t>(a - b);
    case multiply: return static_cast<std::int64_t>(a * b);
    case divide: return y == 0 ? 0 : minus_one ? static_cast<std::int64_t>(0 - a) : static_cast<std::int64_t>(x / y);
    case power: return wrapped_power(left, right);
    case minimum: return static_cast<std::int64_t>(std::min(x, y));
    case maximum: return static_cast<std::int64_t>(std::max(x, y));
    case PointwiseFunction::remainder: return y == 0 || minus_one ? 0 : static_cast<std::int64_t>(x % y);
    case modulo: {
      if (y == 0 || minus_one) return 0;
      const T rest = static_cast<T>(x % y);
      return static_cast<std::int64_t>(rest != 0 && (rest < 0) != (y < 0) ? static_cast<T>(rest + y) : rest);
    }
    case negate: return static_cast<std::int64_t>(0 - a);
    case absolute: return static_cast<std::int64_t>(x < 0 ? 0 - a : a);
    case sign: return (x > 0) - (x < 0);
    case PointwiseFunction::clamp: return static_cast<std::int64_t>(std::min(std::max(x, y), z));
    case relu: return static_cast<std::int64_t>(std::max(x, T{0}));
    case leaky_relu: return static_cast<std::int64_t>(x < 0 ? a * b : a);
    case shrink: return static_cast<std::int64_t>(x < -y ? x + z : x > y ? x - z : T{0});
    case equal: return x == y ? 1 : 0;
    case less: return x < y ? 1 : 0;
    case less_or_equal: return x <= y ? 1 : 0;
    case logical_not: return x == 0 ? 1 : 0;
    case logical_and: return x != 0 && y != 0 ? 1 : 0;
    case logical_or: return x != 0 || y != 0 ? 1 : 0;
    case logical_xor: return (x != 0) != (y != 0) ? 1 : 0;
    case bitwise_not: return static_cast<std::int64_t>(~a);
    case bitwise_and: return static_cast<std::int64_t>(a & b);
    case bitwise_or: return static_cast<std::int64_t>(a | b);
    case bitwise_xor: return static_cast<std::int64_t>(a ^ b);
    case shift_left: return b > 63 ? 0 : static_cast<std::int64_t>(a << b);
    case shift_right:
      if constexpr (std::is_signed_v<T>) return left >> std::min<std::uint64_t>(b, 63);
      return b > 63 ? 0 : static_cast<std::int64_t>(a >> b);
    default: return left;
  }
}

Number run_step(const PointwiseStep& step, std::span<const Number> registers, std::span<const DType> dtypes) {
  const Number &x = registers[step.arguments[0]], &y = registers[step.arguments[1]],
               &z = registers[step.arguments[2]];
  if (is_cast(step.function)) {
    const bool saturates = step.function == PointwiseFunction::cast;
    return convert(x, dtypes[step.arguments[0]], step.dtype, saturates ? Overflow::saturate : Overflow::special);
  }
  if (step.function == PointwiseFunction::select) return x.integer != 0 ? y : z;
  const bool real = is_floating_point(step.dtype);
  if (result_dtype(step) == DType::boolean && real) {
    return {0, real_predicate(step.function, x.real, y.real, z.real) ? 1 : 0};
  }
  if (real) return narrow(step.dtype, {real_step(step.function, x.real, y.real, z.real), 0});
  if (step.dtype == DType::uint64) {
    return {0, integer_step<std::uint64_t>(step.function, x.integer, y.integer, z.integer)};
  }
  return narrow(result_dtype(step), {0, integer_step<std::int64_t>(step.function, x.integer, y.integer, z.integer)});
}

std::vector<std::int64_t> broadcast_strides(const Tensor& tensor, std::size_t rank) {
  std::vector<std::int64_t> strides(rank, 0);
  std::int64_t stride = 1;
  for (std::size_t i = tensor.shape().size(); i-- > 0;) {
    if (tensor.shape()[i] != 1) strides[rank - tensor.shape().size() + i] = stride;
    stride *= tensor.shape()[i];
  }
  return strides;
}

std::vector<std::int64_t> broadcast_sizes(std::span<const Tensor> inputs) {
  std::vector<Shape> shapes;
  for (const Tensor& input : inputs) shapes.push_back(to_shape(input.shape()));
  Assumptions none({});
  return *to_numbers(broadcast(shapes, none));
}

}  // namespace

Tensor evaluate_chain(const PointwiseChain& chain, std::span<const Tensor> inputs, DType output_dtype) {
  const std::vector<std::int64_t> sizes = broadcast_sizes(inputs);
  Tensor output = Tensor::allocate(is_packed(output_dtype) ? DType::uint8 : output_dtype, sizes);
  std::vector<std::vector<std::int64_t>> strides;
  std::vector<DType> dtypes;
  std::vector<Tensor> sources;
  for (const Tensor& input : inputs) {
    sources.push_back(unpacked_tensor(input).aligned());
    strides.push_back(broadcast_strides(input, sizes.size()));
    dtypes.push_back(input.dtype());
  }
  std::vector<Number> registers(chain.first_step() + chain.steps.size());
  for (std::size_t i = 0; i < chain.immediates.size(); ++i) {
    dtypes.push_back(chain.immediates[i].dtype);
    registers[chain.input_count + i] = {chain.immediates[i].real, chain.immediates[i].integer};
  }
  for (const PointwiseStep& step : chain.steps) dtypes.push_back(result_dtype(step));
  const std::size_t result = chain.empty() ? 0 : registers.size() - 1;

  std::vector<std::int64_t> index(sizes.size(), 0);
  std::vector<std::int64_t> offsets(inputs.size(), 0);
  for (std::int64_t element = 0; element < output.element_count(); ++element) {
    for (std::size_t i = 0; i < inputs.size(); ++i) registers[i] = load(dtypes[i], sources[i], offsets[i]);
    for (std::size_t i = 0; i < chain.steps.size(); ++i) {
      registers[chain.first_step() + i] = run_step(chain.steps[i], registers, dtypes);
    }
    store(output_dtype, output, element, convert(registers[result], dtypes[result], output_dtype));
    for (std::size_t axis = sizes.size(); axis-- > 0;) {
      const bool wraps = ++index[axis] == sizes[axis];
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        offsets[i] += wraps ? -strides[i][axis] * (sizes[axis] - 1) : strides[i][axis];
      }
      if (!wraps) break;
      index[axis] = 0;
    }
  }
  return packed_tensor(output_dtype, output);
}

}  // namespace lapilli
