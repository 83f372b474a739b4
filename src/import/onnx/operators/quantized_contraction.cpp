// Matrix products and convolutions of quantized tensors. Integers are summed exactly in int32.
#include <array>
#include <format>

#include "import/onnx/operators/contraction.h"
#include "import/onnx/operators/quantization.h"

namespace lapilli::onnx {
namespace {

using Function = PointwiseFunction;

// Elements without their zero point: int32, or float32 for floats of few bits.
ValueId without_zero_point(NodeBuilder& node, ValueId value, std::optional<ValueId> zero_point) {
  const DType wide = is_integer(node.dtype(value)) ? DType::int32 : DType::float32;
  if (zero_point && node.dtype(*zero_point) != node.dtype(value)) {
    node.fail_model(
        std::format("a zero point of {} for {}", to_string(node.dtype(*zero_point)), node.fact(value).to_string()));
  }
  value = node.cast(value, wide);
  return zero_point ? node.pointwise(Function::subtract, {value, node.cast(*zero_point, wide)}) : value;
}

// A scale or zero point of one element as a scalar; a vector along `axis` of a tensor of this rank.
ValueId vector_along(NodeBuilder& node, ValueId value, std::size_t rank, std::size_t axis) {
  const Shape& shape = node.shape(value);
  if (shape == Shape{Dim(1)}) return node.reshape(value, {});
  if (shape.size() != 1 || rank < 2) return value;
  Shape wide(rank, Dim(1));
  wide[axis] = shape[0];
  return node.reshape(value, std::move(wide));
}

// Of the left factor: one for each row.
ValueId of_rows(NodeBuilder& node, std::size_t operand, std::size_t index) {
  const std::size_t rank = node.rank(node.input(operand));
  return vector_along(node, node.input(index), rank, rank < 2 ? 0 : rank - 2);
}

// Of the right factor: one for each column.
ValueId of_columns(NodeBuilder& node, std::size_t operand, std::size_t index) {
  const std::size_t rank = node.rank(node.input(operand));
  return vector_along(node, node.input(index), rank, rank < 2 ? 0 : rank - 1);
}

// Of weights: one for each channel of the output, which is `axis` of a tensor of the rank of the weights.
ValueId of_channels(NodeBuilder& node, std::size_t operand, std::size_t index, std::size_t axis) {
  return vector_along(node, node.input(index), node.rank(node.input(operand)), axis);
}

template <class Find>
std::optional<ValueId> optional(NodeBuilder& node, std::size_t index, Find&& find) {
  return node.has_input(index) ? std::optional(find()) : std::nullopt;
}

void build_matmul_integer(NodeBuilder& node) {
  const auto row_zero = optional(node, 2, [&] { return of_rows(node, 0, 2); });
  const auto column_zero = optional(node, 3, [&] { return of_columns(node, 1, 3); });
  node.set_output(0, matrix_product(node, without_zero_point(node, node.input(0), row_zero),
                                    without_zero_point(node, node.input(1), column_zero)));
}

void build_convolution_integer(NodeBuilder& node) {
  const auto zero = optional(node, 2, [&] { return vector_along(node, node.input(2), 0, 0); });
  const auto weight_zero = optional(node, 3, [&] { return of_channels(node, 1, 3, 0); });
  node.set_output(0, convolution(node, without_zero_point(node, node.input(0), zero),
                                 without_zero_point(node, node.input(1), weight_zero)));
}

// The factor that brings products to the scale of the result.
ValueId rescaling(NodeBuilder& node, ValueId left, ValueId right, ValueId result) {
  StepBuilder steps(node, {left, right, result});
  const auto wide = [&](std::uint8_t input) { return steps.cast(input, DType::float32); };
  const std::uint8_t product = steps.add(Function::multiply, wide(0), wide(1));
  steps.add(Function::divide, product, wide(2));
  return steps.finish();
}

ValueId requantized(NodeBuilder& node, ValueId sums, ValueId factor, std::optional<ValueId> zero_point,
                    DType target) {
  std::vector<ValueId> inputs{sums, factor};
  if (zero_point) inputs.push_back(*zero_point);
  StepBuilder steps(node, std::move(inputs));
  const QuantizedRange range(steps, target);
  std::uint8_t value = steps.add(Function::multiply, steps.cast(0, DType::float32), 1);
  if (is_integer(target)) {
    range.quantize(value, zero_point ? std::optional(std::uint8_t{2}) : std::nullopt);
  } else {
    if (zero_point) value = steps.add(Function::add, value, steps.cast(2, DType::float32));
    steps.cast(value, target);
  }
  return steps.finish();
}

// Inputs: a, its scale and zero point, b, its scale and zero point, scale and zero point of the result.
void build_quantized_matmul(NodeBuilder& node) {
  const auto row_zero = optional(node, 2, [&] { return of_rows(node, 0, 2); });
  const auto column_zero = optional(node, 5, [&] { return of_columns(node, 3, 5); });
  const auto zero = optional(node, 7, [&] { return of_columns(node, 3, 7); });
  const ValueId factor = rescaling(node, of_rows(node, 0, 1), of_columns(node, 3, 4), of_columns(node, 3, 6));
  const ValueId sums = matrix_product(node, without_zero_point(node, node.input(0), row_zero),
                                      without_zero_point(node, node.input(3), column_zero));
  const DType target = node.dtype(node.has_input(7) ? node.input(7) : node.input(0));
  node.set_output(0, requantized(node, sums, factor, zero, target));
}

// Inputs: x, its scale and zero point, w, its scale and zero point, scale and zero point of the result, bias.
void build_quantized_convolution(NodeBuilder& node) {
  const auto scalar = [&](std::size_t index) { return vector_along(node, node.input(index), 0, 0); };
  const auto zero = optional(node, 2, [&] { return scalar(2); });
  const auto weight_zero = optional(node, 5, [&] { return of_channels(node, 3, 5, 0); });
  const auto result_zero = optional(node, 7, [&] { return scalar(7); });
  ValueId sums = convolution(node, without_zero_point(node, node.input(0), zero),
                             without_zero_point(node, node.input(3), weight_zero));
  if (node.has_input(8)) {
    sums = node.pointwise(Function::add, {sums, node.per_channel(node.input(8), node.rank(sums))});
  }
  const ValueId factor = rescaling(node, scalar(1), of_channels(node, 3, 4, 1), scalar(6));
  const DType target = node.dtype(node.has_input(7) ? node.input(7) : node.input(0));
  node.set_output(0, requantized(node, sums, factor, result_zero, target));
}

constexpr std::array records{
    OperatorRecord{"ConvInteger", 10, build_convolution_integer, {types::bytes}},
    OperatorRecord{"MatMulInteger", 10, build_matmul_integer, {types::bytes}},
    OperatorRecord{"QLinearConv",
                   10,
                   build_quantized_convolution,
                   {types::bytes, types::single, types::bytes, types::bytes, types::single, types::bytes,
                    types::single, types::bytes, types::lengths}},
    OperatorRecord{"QLinearMatMul",
                   10,
                   build_quantized_matmul,
                   {types::bytes | types::float8, types::up_to_single, types::bytes | types::float8,
                    types::bytes | types::float8, types::up_to_single, types::bytes | types::float8,
                    types::up_to_single, types::bytes | types::float8}},
};

}  // namespace

std::span<const OperatorRecord> quantized_contraction_operators() { return records; }

}  // namespace lapilli::onnx
