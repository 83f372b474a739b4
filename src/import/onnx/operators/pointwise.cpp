// Operators that work element by element.
#include <array>
#include <cmath>
#include <format>
#include <limits>

#include "base/checked.h"

#include "import/onnx/operators/node_builder.h"
#include "import/onnx/tensor_reader.h"
#include "ops/movement.h"

namespace lapilli::onnx {
namespace {

using Function = PointwiseFunction;

template <Function function>
void build_unary(NodeBuilder& node) {
  node.set_output(0, node.pointwise(function, {node.input(0)}));
}

// A function of real numbers, whose results are cut off where the type is one of integers.
template <Function function>
void build_real_unary(NodeBuilder& node) {
  const ValueId x = node.input(0);
  node.set_output(0, node.cast(node.pointwise(function, {node.as_real(x)}), node.dtype(x)));
}

// Opsets before 7 align the second operand with an axis of the first.
ValueId legacy_operand(NodeBuilder& node) {
  const ValueId left = node.input(0), right = node.input(1);
  if (node.opset() >= 7 || node.integer("broadcast", 0) == 0 || !node.has_attribute("axis")) return right;
  const int axis = node.axis(node.integer("axis", 0), node.rank(left));
  Shape shape = node.shape(right);
  const std::size_t behind = static_cast<std::size_t>(axis) + shape.size();
  if (behind > node.rank(left))
    node.fail_model(std::format("axis {} leaves no room for {}", axis, shape_text(shape)));
  shape.resize(node.rank(left) - static_cast<std::size_t>(axis), Dim(1));
  return node.reshape(right, std::move(shape));
}

void require_same_dtype(NodeBuilder& node) {
  for (std::size_t i = 1; i < node.input_count(); ++i) {
    if (node.dtype(node.input(i)) != node.dtype(node.input(0))) {
      node.fail_model(std::format("inputs 0 ({}) and {} ({}) differ in type", node.fact(node.input(0)).to_string(), i,
                                  node.fact(node.input(i)).to_string()));
    }
  }
}

template <Function function>
void build_binary(NodeBuilder& node) {
  require_same_dtype(node);
  node.set_output(0, node.pointwise(function, {node.input(0), legacy_operand(node)}));
}

// Functions of the form f(b, a), such as a > b as b < a.
template <Function function>
void build_swapped(NodeBuilder& node) {
  require_same_dtype(node);
  node.set_output(0, node.pointwise(function, {legacy_operand(node), node.input(0)}));
}

template <Function function>
void build_variadic(NodeBuilder& node) {
  require_same_dtype(node);
  ValueId result = node.input(0);
  for (std::size_t i = 1; i < node.input_count(); ++i) result = node.pointwise(function, {result, node.input(i)});
  node.set_output(0, result);
}

void build_mean(NodeBuilder& node) {
  ValueId result = node.input(0);
  for (std::size_t i = 1; i < node.input_count(); ++i)
    result = node.pointwise(Function::add, {result, node.input(i)});
  const auto count = static_cast<double>(node.input_count());
  node.set_output(0, node.pointwise(Function::divide, {result}, {Immediate::of(count)}));
}

void build_identity(NodeBuilder& node) { node.set_output(0, node.input(0)); }

template <Function function>
void build_with_alpha(NodeBuilder& node, float otherwise) {
  node.set_output(0, node.pointwise(function, {node.input(0)}, {Immediate::of(node.real("alpha", otherwise))}));
}
void build_leaky_relu(NodeBuilder& node) { build_with_alpha<Function::leaky_relu>(node, 0.01F); }
void build_elu(NodeBuilder& node) { build_with_alpha<Function::elu>(node, 1.0F); }
void build_celu(NodeBuilder& node) { build_with_alpha<Function::celu>(node, 1.0F); }
void build_thresholded_relu(NodeBuilder& node) { build_with_alpha<Function::threshold>(node, 1.0F); }

void build_selu(NodeBuilder& node) {
  const double alpha = node.real("alpha", 1.67326319217681884765625F);
  const double gamma = node.real("gamma", 1.05070102214813232421875F);
  const ValueId elu = node.pointwise(Function::elu, {node.input(0)}, {Immediate::of(alpha)});
  node.set_output(0, node.pointwise(Function::multiply, {elu}, {Immediate::of(gamma)}));
}

void build_hard_sigmoid(NodeBuilder& node) {
  node.set_output(0,
                  node.pointwise(Function::hard_sigmoid, {node.input(0)},
                                 {Immediate::of(node.real("alpha", 0.2F)), Immediate::of(node.real("beta", 0.5F))}));
}

void build_shrink(NodeBuilder& node) {
  const double bias = node.real("bias", 0.0F), lambda = node.real("lambd", 0.5F);
  // An integer is above a number exactly when it is above the integer below it.
  const Immediate low{DType::float32, lambda, static_cast<std::int64_t>(std::floor(lambda))};
  const Immediate high{DType::float32, bias, static_cast<std::int64_t>(bias)};
  const ValueId x = node.input(0);
  const bool whole = bias == std::trunc(bias);
  const ValueId shrunk = node.pointwise(Function::shrink, {whole ? x : node.as_real(x)}, {low, high});
  node.set_output(0, node.cast(shrunk, node.dtype(x)));
}

void build_gelu(NodeBuilder& node) {
  const std::string approximate = node.text("approximate", "none");
  const bool tanh = approximate == "tanh";
  if (!tanh && approximate != "none")
    node.fail_model(std::format("approximate '{}' is none of none, tanh", approximate));
  node.set_output(0, node.pointwise(tanh ? Function::gelu_tanh : Function::gelu, {node.input(0)}));
}

ValueId swish(NodeBuilder& node, ValueId value) {
  const float alpha = node.real("alpha", 1.0F);
  if (alpha == 1.0F) return node.pointwise(Function::silu, {value});
  const ValueId scaled = node.pointwise(Function::multiply, {value}, {Immediate::of(alpha)});
  return node.pointwise(Function::multiply, {value, node.pointwise(Function::sigmoid, {scaled})});
}

void build_swish(NodeBuilder& node) { node.set_output(0, swish(node, node.input(0))); }

// Nothing is broadcast.
void build_gated_swish(NodeBuilder& node) {
  const ValueId gate = node.input(0), value = node.input(1);
  require_same_dtype(node);
  const Shape &left = node.shape(gate), &right = node.shape(value);
  bool same = left.size() == right.size();
  for (std::size_t i = 0; same && i < left.size(); ++i) same = node.assumptions().equal(left[i], right[i]);
  if (!same) {
    node.fail_model(std::format("a gate {} for {}", node.fact(gate).to_string(), node.fact(value).to_string()));
  }
  node.set_output(0, node.pointwise(Function::multiply, {swish(node, gate), value}));
}

// The slope broadcasts from the right, in one direction.
void build_prelu(NodeBuilder& node) {
  const ValueId slope = node.opset() >= 7 ? node.input(1) : node.per_channel(node.input(1), node.rank(node.input(0)));
  node.set_output(0, node.pointwise(Function::leaky_relu, {node.input(0), slope}));
}

void build_clip_attributes(NodeBuilder& node) {
  const double low = node.real("min", std::numeric_limits<float>::lowest());
  const double high = node.real("max", std::numeric_limits<float>::max());
  node.set_output(0, node.pointwise(Function::clamp, {node.input(0)}, {Immediate::of(low), Immediate::of(high)}));
}

void build_clip_inputs(NodeBuilder& node) {
  ValueId value = node.input(0);
  if (node.has_input(1)) value = node.pointwise(Function::maximum, {value, node.input(1)});
  if (node.has_input(2)) value = node.pointwise(Function::minimum, {value, node.input(2)});
  node.set_output(0, value);
}

// Powers of integers are exact where exponents are whole, and cut off where they are not.
void build_power(NodeBuilder& node) {
  const ValueId base = node.input(0), exponent = legacy_operand(node);
  const DType dtype = node.dtype(base), given = node.dtype(exponent);
  const ValueId whole = node.cast(exponent, dtype);
  const ValueId power = node.pointwise(Function::power, {base, whole});
  const Tensor& known = node.fact(exponent).constant;
  const double number = known.defined() && known.element_count() == 1 ? Immediate::of_tensor(known).real : 0.5;
  const bool fractions = is_floating_point(given) && number != std::trunc(number);
  if (is_floating_point(dtype) || !fractions) return node.set_output(0, power);
  const ValueId is_whole = node.pointwise(Function::equal, {exponent, node.cast(whole, given)});
  const DType wide = given == DType::float64 ? DType::float64 : DType::float32;
  const ValueId real = node.pointwise(Function::power, {node.cast(base, wide), node.cast(exponent, wide)});
  // 9 to the power of 3.5 is 2187, though some digits of the last places may be missing.
  const double last_places = wide == DType::float64 ? 0x1p-50 : 0x1p-21;
  const ValueId root = node.pointwise(Function::multiply, {real}, {Immediate::of(1 + last_places)});
  node.set_output(0, node.pointwise(Function::select, {is_whole, power, node.cast(root, dtype)}));
}

void build_modulo(NodeBuilder& node) {
  require_same_dtype(node);
  const Function function = node.integer("fmod", 0) != 0 ? Function::remainder : Function::modulo;
  node.set_output(0, node.pointwise(function, {node.input(0), node.input(1)}));
}

void build_bit_shift(NodeBuilder& node) {
  const std::string direction = node.text("direction", "");
  if (direction != "LEFT" && direction != "RIGHT")
    node.fail_model(std::format("direction '{}' is neither LEFT nor RIGHT", direction));
  node.set_output(0, node.pointwise(direction == "LEFT" ? Function::shift_left : Function::shift_right,
                                    {node.input(0), node.input(1)}));
}

void build_is_infinite(NodeBuilder& node) {
  node.set_output(0, node.pointwise(Function::is_infinite, {node.input(0)},
                                    {Immediate::of(static_cast<double>(node.integer("detect_negative", 1))),
                                     Immediate::of(static_cast<double>(node.integer("detect_positive", 1)))}));
}

void build_where(NodeBuilder& node) {
  if (node.dtype(node.input(0)) != DType::boolean) node.fail_model("the condition is not of type bool");
  node.set_output(0, node.pointwise(Function::select, {node.input(0), node.input(1), node.input(2)}));
}

void set_cast_output(NodeBuilder& node, DType to) {
  const ValueId value = node.input(0);
  const Overflow overflow = node.integer("saturate", 1) != 0 ? Overflow::saturate : Overflow::special;
  if (to != DType::float8e8m0) return node.set_output(0, node.cast(value, to, overflow));
  const std::string mode = node.text("round_mode", "up");
  if (mode != "up" && mode != "down" && mode != "nearest")
    node.fail_model(std::format("round_mode '{}' is none of up, down and nearest", mode));
  if (node.dtype(value) == to) return node.set_output(0, value);
  ValueId wide = node.cast(value, DType::float32);
  if (mode == "up") wide = node.pointwise(Function::power_of_two_above, {wide});
  if (mode == "down") wide = node.pointwise(Function::power_of_two_below, {wide});
  node.set_output(0, node.cast(wide, to, overflow));
}

DType target_dtype(NodeBuilder& node) { return read_dtype(checked_cast<std::int32_t>(node.integer("to", 0))); }

void build_cast(NodeBuilder& node) { set_cast_output(node, target_dtype(node)); }

void build_cast_like(NodeBuilder& node) { set_cast_output(node, node.dtype(node.input(1))); }

void build_bit_cast(NodeBuilder& node) {
  const DType to = target_dtype(node);
  const ValueId value = node.input(0);
  node.set_output(0, node.dtype(value) == to ? value : node.add(std::make_shared<BitCast>(to), {value}));
}

constexpr std::array records{
    OperatorRecord{"Abs", 1, build_unary<Function::absolute>, {types::numbers}},
    OperatorRecord{"Acos", 7, build_unary<Function::arccosine>, {types::floats}},
    OperatorRecord{"Acosh", 9, build_unary<Function::inverse_hyperbolic_cosine>, {types::floats}},
    OperatorRecord{"Add", 1, build_binary<Function::add>, {types::numbers}},
    OperatorRecord{"And", 1, build_binary<Function::logical_and>, {types::condition}},
    OperatorRecord{"Asin", 7, build_unary<Function::arcsine>, {types::floats}},
    OperatorRecord{"Asinh", 9, build_unary<Function::inverse_hyperbolic_sine>, {types::floats}},
    OperatorRecord{"Atan", 7, build_unary<Function::arctangent>, {types::floats}},
    OperatorRecord{"Atanh", 9, build_unary<Function::inverse_hyperbolic_tangent>, {types::floats}},
    OperatorRecord{"BitCast", 26, build_bit_cast, {types::plain | types::small}},
    OperatorRecord{"BitShift", 11, build_bit_shift, {types::integers}},
    OperatorRecord{"BitwiseAnd", 18, build_binary<Function::bitwise_and>, {types::integers}},
    OperatorRecord{"BitwiseNot", 18, build_unary<Function::bitwise_not>, {types::integers}},
    OperatorRecord{"BitwiseOr", 18, build_binary<Function::bitwise_or>, {types::integers}},
    OperatorRecord{"BitwiseXor", 18, build_binary<Function::bitwise_xor>, {types::integers}},
    OperatorRecord{"Cast", 6, build_cast, {types::every}},
    OperatorRecord{"CastLike", 15, build_cast_like, {types::all}},
    OperatorRecord{"Ceil", 1, build_unary<Function::ceiling>, {types::floats}},
    OperatorRecord{"Celu", 12, build_celu, {types::floats}},
    OperatorRecord{"Clip", 1, build_clip_attributes, {types::numbers}},
    OperatorRecord{"Clip", 11, build_clip_inputs, {types::numbers}},
    OperatorRecord{"Cos", 7, build_unary<Function::cosine>, {types::floats}},
    OperatorRecord{"Cosh", 9, build_unary<Function::hyperbolic_cosine>, {types::floats}},
    OperatorRecord{"Div", 1, build_binary<Function::divide>, {types::numbers}},
    OperatorRecord{"Elu", 1, build_elu, {types::floats}},
    OperatorRecord{"Equal", 1, build_binary<Function::equal>, {types::tensors}},
    OperatorRecord{"Erf", 9, build_real_unary<Function::error_function>, {types::numbers}},
    OperatorRecord{"Exp", 1, build_unary<Function::exponential>, {types::floats}},
    OperatorRecord{"Floor", 1, build_unary<Function::floor>, {types::floats}},
    OperatorRecord{"Gelu", 20, build_gelu, {types::floats}},
    OperatorRecord{"Greater", 1, build_swapped<Function::less>, {types::numbers}},
    OperatorRecord{"GreaterOrEqual", 12, build_swapped<Function::less_or_equal>, {types::numbers}},
    OperatorRecord{"HardSigmoid", 1, build_hard_sigmoid, {types::floats}},
    OperatorRecord{"HardSwish", 14, build_unary<Function::hard_swish>, {types::floats}},
    OperatorRecord{"Identity", 1, build_identity, {types::all}},
    OperatorRecord{"IsInf", 10, build_is_infinite, {types::floats | types::float8}},
    OperatorRecord{"IsNaN", 9, build_unary<Function::is_nan>, {types::floats | types::float8}},
    OperatorRecord{"LeakyRelu", 1, build_leaky_relu, {types::floats}},
    OperatorRecord{"Less", 1, build_binary<Function::less>, {types::numbers}},
    OperatorRecord{"LessOrEqual", 12, build_binary<Function::less_or_equal>, {types::numbers}},
    OperatorRecord{"Log", 1, build_unary<Function::logarithm>, {types::floats}},
    OperatorRecord{"Max", 1, build_variadic<Function::maximum>, {types::numbers}},
    OperatorRecord{"Mean", 1, build_mean, {types::floats}},
    OperatorRecord{"Min", 1, build_variadic<Function::minimum>, {types::numbers}},
    OperatorRecord{"Mish", 18, build_unary<Function::mish>, {types::floats}},
    OperatorRecord{"Mod", 10, build_modulo, {types::numbers}},
    OperatorRecord{"Mul", 1, build_binary<Function::multiply>, {types::numbers}},
    OperatorRecord{"Neg", 1, build_unary<Function::negate>, {types::floats | types::signed_integers}},
    OperatorRecord{"Not", 1, build_unary<Function::logical_not>, {types::condition}},
    OperatorRecord{"Or", 1, build_binary<Function::logical_or>, {types::condition}},
    OperatorRecord{"PRelu", 1, build_prelu, {types::wide_numbers}},
    OperatorRecord{"Pow", 1, build_power, {types::floats | types::indices, types::numbers}},
    OperatorRecord{"Reciprocal", 1, build_unary<Function::reciprocal>, {types::floats}},
    OperatorRecord{"Relu", 1, build_unary<Function::relu>, {types::floats | types::signed_integers}},
    OperatorRecord{"Round", 11, build_unary<Function::round>, {types::floats}},
    OperatorRecord{"Selu", 1, build_selu, {types::floats}},
    OperatorRecord{"Shrink", 9, build_shrink, {types::numbers}},
    OperatorRecord{"Sigmoid", 1, build_unary<Function::sigmoid>, {types::floats}},
    OperatorRecord{"Sign", 9, build_unary<Function::sign>, {types::numbers}},
    OperatorRecord{"Sin", 7, build_unary<Function::sine>, {types::floats}},
    OperatorRecord{"Sinh", 9, build_unary<Function::hyperbolic_sine>, {types::floats}},
    OperatorRecord{"Softplus", 1, build_unary<Function::softplus>, {types::floats}},
    OperatorRecord{"Softsign", 1, build_unary<Function::softsign>, {types::floats}},
    OperatorRecord{"Sqrt", 1, build_unary<Function::square_root>, {types::floats}},
    OperatorRecord{"Sub", 1, build_binary<Function::subtract>, {types::numbers}},
    OperatorRecord{"Sum", 1, build_variadic<Function::add>, {types::floats}},
    OperatorRecord{"SwiGLU", 28, build_gated_swish, {types::floats}},
    OperatorRecord{"Swish", 24, build_swish, {types::floats}},
    OperatorRecord{"Tan", 7, build_unary<Function::tangent>, {types::floats}},
    OperatorRecord{"Tanh", 1, build_unary<Function::hyperbolic_tangent>, {types::floats}},
    OperatorRecord{"ThresholdedRelu", 10, build_thresholded_relu, {types::floats}},
    OperatorRecord{"Where", 9, build_where, {types::condition, types::tensors}},
    OperatorRecord{"Xor", 1, build_binary<Function::logical_xor>, {types::condition}},
};

}  // namespace

std::span<const OperatorRecord> pointwise_operators() { return records; }

}  // namespace lapilli::onnx
