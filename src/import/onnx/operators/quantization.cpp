// Quantization: integers that stand for (integer - zero point) * scale.
#include <array>
#include <format>
#include <memory>

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

// A chain over the input, the scale and, where there is one, the zero point. One node, so that what lies between its
// steps is not rounded to float16 when intermediate results are.
class QuantizationChain {
 public:
  explicit QuantizationChain(NodeBuilder& node) : node_(node) {
    inputs_ = {node.input(0), along_axis(node, node.input(1))};
    if (node.has_input(2)) inputs_.push_back(along_axis(node, node.input(2)));
    chain_.input_count = static_cast<std::uint8_t>(inputs_.size());
  }

  [[nodiscard]] DType dtype() const { return node_.dtype(inputs_[1]); }
  [[nodiscard]] bool has_zero_point() const { return inputs_.size() == 3; }
  std::uint8_t number(double value) { return chain_.add(Immediate{dtype(), value, 0}); }
  std::uint8_t step(PointwiseFunction function, std::array<std::uint8_t, 3> arguments) {
    return chain_.add(function, dtype(), arguments);
  }
  /// Input `index` in the type of the scale.
  std::uint8_t input(std::uint8_t index) {
    return node_.dtype(inputs_[index]) == dtype() ? index : step(PointwiseFunction::cast, {index, 0, 0});
  }
  void finish(DType target) {
    const auto last = static_cast<std::uint8_t>(chain_.first_step() + chain_.steps.size() - 1);
    if (target != dtype()) chain_.add(PointwiseFunction::cast, target, {last, 0, 0});
    node_.set_output(0, node_.add(std::make_shared<Pointwise>(std::move(chain_), target), std::move(inputs_)));
  }

 private:
  NodeBuilder& node_;
  std::vector<ValueId> inputs_;
  PointwiseChain chain_;
};

void build_quantize(NodeBuilder& node) {
  const DType target = node.has_input(2) ? node.dtype(node.input(2)) : DType::uint8;
  const Range range = range_of(node, target);
  QuantizationChain chain(node);
  const std::uint8_t low = chain.number(range.low), high = chain.number(range.high);
  std::uint8_t value = chain.step(PointwiseFunction::divide, {chain.input(0), 1, 0});
  value = chain.step(PointwiseFunction::round, {value, 0, 0});
  if (chain.has_zero_point()) value = chain.step(PointwiseFunction::add, {value, chain.input(2), 0});
  chain.step(PointwiseFunction::clamp, {value, low, high});
  chain.finish(target);
}

void build_dequantize(NodeBuilder& node) {
  QuantizationChain chain(node);
  std::uint8_t value = chain.input(0);
  if (chain.has_zero_point()) value = chain.step(PointwiseFunction::subtract, {value, chain.input(2), 0});
  chain.step(PointwiseFunction::multiply, {value, 1, 0});
  chain.finish(chain.dtype());
}

constexpr std::array records{
    OperatorRecord{"DequantizeLinear", 10, build_dequantize},
    OperatorRecord{"QuantizeLinear", 10, build_quantize},
};

}  // namespace

std::span<const OperatorRecord> quantization_operators() { return records; }

}  // namespace lapilli::onnx
