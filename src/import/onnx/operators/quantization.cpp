// Quantization: integers that stand for (integer - zero point) * scale.
#include <array>
#include <format>

#include "import/onnx/operators/node_builder.h"

namespace lapilli::onnx {
namespace {

struct Range {
  double low, high;
};

Range range_of(NodeBuilder& node, DType dtype) {
  switch (dtype) {
    case DType::int8: return {-128, 127};
    case DType::uint8: return {0, 255};
    case DType::int16: return {-32768, 32767};
    case DType::uint16: return {0, 65535};
    default: node.fail_unsupported(std::format("quantization to {}", to_string(dtype)));
  }
}

// Scales and zero points of one axis, as a shape that broadcasts along it.
ValueId along_axis(NodeBuilder& node, ValueId value) {
  const std::size_t rank = node.rank(node.input(0));
  if (node.rank(value) == 0 || node.shape(value) == Shape{Dim(1)}) return node.reshape(value, {});
  if (node.integer("block_size", 0) != 0 || node.rank(value) != 1) node.fail_unsupported("quantization by blocks");
  Shape shape(rank, Dim(1));
  const auto axis = static_cast<std::size_t>(node.axis(node.integer("axis", 1), rank));
  shape[axis] = node.shape(value)[0];
  if (!node.assumptions().equal(shape[axis], node.shape(node.input(0))[axis])) {
    node.fail_model(std::format("{} scales for axis {} of {}", shape[axis].to_string(), axis,
                                node.fact(node.input(0)).to_string()));
  }
  return node.reshape(value, std::move(shape));
}

void build_quantize(NodeBuilder& node) {
  const DType target = node.has_input(2) ? node.dtype(node.input(2)) : DType::uint8;
  const Range range = range_of(node, target);
  const ValueId scale = along_axis(node, node.input(1));
  ValueId value = node.pointwise(PointwiseFunction::divide, {node.cast(node.input(0), node.dtype(scale)), scale});
  value = node.pointwise(PointwiseFunction::round, {value});
  if (node.has_input(2)) {
    const ValueId zero_point = node.cast(along_axis(node, node.input(2)), node.dtype(value));
    value = node.pointwise(PointwiseFunction::add, {value, zero_point});
  }
  value = node.pointwise(PointwiseFunction::clamp, {value}, {Immediate::of(range.low), Immediate::of(range.high)});
  node.set_output(0, node.cast(value, target));
}

void build_dequantize(NodeBuilder& node) {
  const ValueId scale = along_axis(node, node.input(1));
  ValueId value = node.cast(node.input(0), node.dtype(scale));
  if (node.has_input(2)) {
    const ValueId zero_point = node.cast(along_axis(node, node.input(2)), node.dtype(scale));
    value = node.pointwise(PointwiseFunction::subtract, {value, zero_point});
  }
  node.set_output(0, node.pointwise(PointwiseFunction::multiply, {value, scale}));
}

constexpr std::array records{
    OperatorRecord{"DequantizeLinear", 10, build_dequantize},
    OperatorRecord{"QuantizeLinear", 10, build_quantize},
};

}  // namespace

std::span<const OperatorRecord> quantization_operators() { return records; }

}  // namespace lapilli::onnx
