// Quantization: integers, or floats of few bits, that stand for (element - zero point) * scale.
#include "import/onnx/operators/quantization.h"

#include <array>
#include <format>
#include <memory>

#include "base/checked.h"
#include "import/onnx/operators/node_builder.h"
#include "import/onnx/tensor_reader.h"
#include "ops/movement.h"
#include "ops/reduction.h"

namespace lapilli::onnx {
namespace {

// How the elements of a tensor share scales. Elements, scales and zero points are brought to shapes that broadcast;
// `restore` undoes it.
class Granularity {
 public:
  explicit Granularity(NodeBuilder& node)
      : node_(node), shape_(node.shape(node.input(0))), block_(node.integer("block_size", 0)) {
    if (block_ < 0) node.fail_model(std::format("block_size {}", block_));
    const Shape& scales = node.shape(node.input(1));
    const bool single = scales.empty() || scales == Shape{Dim(1)};
    // An axis is written even for a scalar, which has none.
    if (!single) axis_ = static_cast<std::size_t>(node.axis(node.integer("axis", 1), shape_.size()));
    blocked_ = block_ != 0 && scales.size() == shape_.size() && !single;
    if (!single && !blocked_ && scales.size() != 1) {
      node.fail_model(std::format("scales {} for {}{}", node.fact(node.input(1)).to_string(),
                                  node.fact(node.input(0)).to_string(), block_ == 0 ? " without a block_size" : ""));
    }
    if (!blocked_) return;
    const Dim &size = shape_[axis_], &blocks = scales[axis_];
    if (!node.assumptions().equal(Dim::ceil_divide(size, block_), blocks)) {
      node.fail_model(std::format("{} scales along axis {} for {} elements in blocks of {}", blocks.to_string(),
                                  axis_, size.to_string(), block_));
    }
    even_ = node.assumptions().equal(blocks * Dim(block_), size);
  }

  [[nodiscard]] ValueId elements(ValueId value) const {
    if (!blocked_ || !even_) return value;
    return node_.reshape(value, cut_shape(shape_, Dim(block_)));
  }

  [[nodiscard]] ValueId scales(ValueId value) const {
    const Shape& shape = node_.shape(value);
    if (shape.empty() || shape == Shape{Dim(1)}) return node_.reshape(value, {});
    return blocked_ ? of_blocks(value) : along_axis(value);
  }

  [[nodiscard]] ValueId restore(ValueId value) const { return node_.reshape(value, shape_); }

 private:
  // The axis as blocks and the places in each.
  [[nodiscard]] Shape cut_shape(const Shape& shape, const Dim& places) const {
    Shape cut = shape;
    if (places != Dim(1)) cut[axis_] = Dim::floor_divide(shape[axis_], block_);
    cut.insert(cut.begin() + static_cast<std::ptrdiff_t>(axis_) + 1, places);
    return cut;
  }

  [[nodiscard]] ValueId along_axis(ValueId value) const {
    const Shape& along = node_.shape(value);
    // One scale alone may stand for all elements, and zero points still have to go along an axis that is there.
    if (along.size() != 1 || axis_ >= shape_.size() || !node_.assumptions().equal(along[0], shape_[axis_])) {
      node_.fail_model(std::format("{} for axis {} of {}", node_.fact(value).to_string(), axis_,
                                   node_.fact(node_.input(0)).to_string()));
    }
    Shape wide(shape_.size(), Dim(1));
    wide[axis_] = along[0];
    return node_.reshape(value, std::move(wide));
  }

  [[nodiscard]] ValueId of_blocks(ValueId value) const {
    const Shape scales = node_.shape(value);
    for (std::size_t i = 0; i < scales.size(); ++i) {
      if (i != axis_ && !node_.assumptions().equal(scales[i], shape_[i])) {
        node_.fail_model(std::format("{} and {} differ along axis {}, which has no blocks",
                                     node_.fact(value).to_string(), node_.fact(node_.input(0)).to_string(), i));
      }
    }
    const ValueId cut = node_.reshape(value, cut_shape(scales, Dim(1)));
    if (even_) return cut;
    // The last block is not full: each scale is repeated, and those past the end are left out.
    Shape repeated = cut_shape(scales, Dim(1));
    repeated[axis_ + 1] = Dim(block_);
    Shape joined = scales;
    joined[axis_] = scales[axis_] * Dim(block_);
    const ValueId whole = node_.reshape(node_.add(std::make_shared<Expand>(repeated), {cut}), joined);
    return node_.add(std::make_shared<Slice>(std::vector<Dim>(shape_.size(), Dim(0)), shape_,
                                             std::vector<Dim>(shape_.size(), Dim(1))),
                     {whole});
  }

  NodeBuilder& node_;
  Shape shape_;
  std::int64_t block_;
  std::size_t axis_ = 0;
  bool blocked_ = false, even_ = false;
};

DType attribute_dtype(NodeBuilder& node, std::string_view name, DType otherwise) {
  const std::int64_t number = node.integer(name, 0);
  return number == 0 ? otherwise : read_dtype(checked_cast<std::int32_t>(number));
}

// Scales that are integers or powers of two in 8 bits are divided by as float32.
DType division_dtype(DType scale) { return is_integer(scale) || is_small_float(scale) ? DType::float32 : scale; }

void build_quantize(NodeBuilder& node) {
  const DType target =
      attribute_dtype(node, "output_dtype", node.has_input(2) ? node.dtype(node.input(2)) : DType::uint8);
  if (node.has_input(2) && node.dtype(node.input(2)) != target) {
    node.fail_model(std::format("output_dtype {} and a zero point of {}", to_string(target),
                                to_string(node.dtype(node.input(2)))));
  }
  const Granularity granularity(node);
  const DType precision = attribute_dtype(node, "precision", division_dtype(node.dtype(node.input(1))));
  const DType wide = precision == DType::float64 ? DType::float64 : DType::float32;
  std::vector<ValueId> inputs{granularity.elements(node.input(0)), granularity.scales(node.input(1))};
  if (node.has_input(2)) inputs.push_back(granularity.scales(node.input(2)));
  const std::optional<std::uint8_t> zero_point = node.has_input(2) ? std::optional(std::uint8_t{2}) : std::nullopt;
  StepBuilder steps(node, std::move(inputs));
  const QuantizedRange range(steps, target);
  const auto operand = [&](std::uint8_t input) { return steps.cast(steps.cast(input, precision), wide); };
  std::uint8_t value = steps.add(PointwiseFunction::divide, operand(0), operand(1));
  value = steps.cast(steps.cast(value, precision), wide);
  if (is_integer(target)) {
    range.quantize(value, zero_point);
  } else {
    if (zero_point) value = steps.add(PointwiseFunction::add, value, steps.cast(*zero_point, wide));
    steps.cast(value, target, node.integer("saturate", 1) != 0 ? Overflow::saturate : Overflow::special);
  }
  node.set_output(0, granularity.restore(steps.finish()));
}

void build_dequantize(NodeBuilder& node) {
  const Granularity granularity(node);
  const DType element = node.dtype(node.input(0)), scale = node.dtype(node.input(1));
  std::vector<ValueId> inputs{granularity.elements(node.input(0)), granularity.scales(node.input(1))};
  if (node.has_input(2)) inputs.push_back(granularity.scales(node.input(2)));
  StepBuilder steps(node, std::move(inputs));
  std::uint8_t value = 0;
  if (node.has_input(2)) {
    // Exact in integers, and in float32 for floats of few bits.
    const DType exact = is_integer(element) ? DType::int32 : DType::float32;
    value = steps.add(PointwiseFunction::subtract, steps.cast(0, exact), steps.cast(2, exact));
  }
  const DType wide = scale == DType::float64 ? DType::float64 : DType::float32;
  value = steps.add(PointwiseFunction::multiply, steps.cast(value, wide), steps.cast(1, wide));
  steps.cast(value, attribute_dtype(node, "output_dtype", scale));
  node.set_output(0, granularity.restore(steps.finish()));
}

ValueId quantized(NodeBuilder& node, ValueId value, std::optional<ValueId> zero_point) {
  std::vector<ValueId> inputs{value};
  if (zero_point) inputs.push_back(*zero_point);
  StepBuilder steps(node, std::move(inputs));
  const QuantizedRange range(steps, DType::uint8);
  range.quantize(0, zero_point ? std::optional(std::uint8_t{1}) : std::nullopt);
  return steps.finish();
}

// The range of the elements, with 0 in it, becomes 0 to 255.
void build_dynamic_quantize(NodeBuilder& node) {
  const ValueId x = node.input(0);
  std::vector<int> axes;
  for (std::size_t i = 0; i < node.rank(x); ++i) axes.push_back(static_cast<int>(i));
  const auto extreme = [&](ReductionFunction reduction, PointwiseFunction function) {
    const ValueId found = node.add(std::make_shared<Reduction>(reduction, Preparation::none, axes), {x});
    return node.pointwise(function, {node.reshape(found, {})}, {Immediate::of(0)});
  };
  const ValueId highest = extreme(ReductionFunction::maximum, PointwiseFunction::maximum);
  const ValueId lowest = extreme(ReductionFunction::minimum, PointwiseFunction::minimum);
  const ValueId range = node.pointwise(PointwiseFunction::subtract, {highest, lowest});
  // Where all elements are 0, any scale will do.
  const ValueId empty = node.pointwise(PointwiseFunction::equal, {range}, {Immediate::of(0)});
  constexpr std::array<float, 1> one{1};
  const ValueId whole = node.constant(Tensor::of<float>(DType::float32, {}, one));
  const ValueId width = node.pointwise(PointwiseFunction::select, {empty, whole, range});
  const ValueId scale = node.pointwise(PointwiseFunction::divide, {width}, {Immediate::of(255)});
  const ValueId distance = node.pointwise(PointwiseFunction::divide, {lowest, scale});
  const ValueId zero_point = quantized(node, node.pointwise(PointwiseFunction::negate, {distance}), std::nullopt);
  const ValueId quotient = node.pointwise(PointwiseFunction::divide, {x, scale});
  node.set_output(0, quantized(node, quotient, zero_point));
  node.set_output(1, scale);
  node.set_output(2, zero_point);
}

constexpr std::array records{
    OperatorRecord{"DequantizeLinear",
                   10,
                   build_dequantize,
                   {types::quantized | types::lengths, types::up_to_single | types::exponents,
                    types::quantized | types::lengths}},
    OperatorRecord{"DynamicQuantizeLinear", 11, build_dynamic_quantize, {types::single}},
    OperatorRecord{"QuantizeLinear",
                   10,
                   build_quantize,
                   {types::up_to_single | types::lengths, types::up_to_single | types::exponents | types::lengths,
                    types::quantized}},
};

}  // namespace

StepBuilder::StepBuilder(NodeBuilder& node, std::vector<ValueId> inputs) : node_(node), inputs_(std::move(inputs)) {
  chain_.input_count = static_cast<std::uint8_t>(inputs_.size());
  for (const ValueId input : inputs_) dtypes_.push_back(node.dtype(input));
}

std::uint8_t StepBuilder::number(double value) {
  dtypes_.push_back(DType::float32);
  return chain_.add(Immediate::of(value));
}

std::uint8_t StepBuilder::add(PointwiseFunction function, std::uint8_t first, std::uint8_t second,
                              std::uint8_t third) {
  const DType dtype = dtypes_[first];
  dtypes_.push_back(dtype);
  return chain_.add(function, dtype, {first, second, third});
}

std::uint8_t StepBuilder::cast(std::uint8_t value, DType to, Overflow overflow) {
  if (dtypes_[value] == to) return value;
  const bool saturates = overflow == Overflow::saturate || !is_small_float(to);
  dtypes_.push_back(to);
  return chain_.add(saturates ? PointwiseFunction::cast : PointwiseFunction::cast_unsaturated, to, {value, 0, 0});
}

ValueId StepBuilder::finish() {
  const DType result = dtypes_.back();
  return node_.add(std::make_shared<Pointwise>(std::move(chain_), result), std::move(inputs_));
}

QuantizedRange::QuantizedRange(StepBuilder& steps, DType target) : steps_(steps), target_(target) {
  if (!is_integer(target)) return;
  if (bit_width(target) > 16)
    fail(ErrorCode::invalid_model, "quantization to {}, which has more than 16 bits", to_string(target));
  const auto values = static_cast<double>(1U << bit_width(target));
  const double lowest = is_signed_integer(target) ? -values / 2 : 0;
  low_ = steps.number(lowest);
  high_ = steps.number(lowest + values - 1);
}

void QuantizedRange::quantize(std::uint8_t value, std::optional<std::uint8_t> zero_point) const {
  value = steps_.add(PointwiseFunction::round, steps_.cast(value, DType::float32));
  if (zero_point) value = steps_.add(PointwiseFunction::add, value, steps_.cast(*zero_point, DType::float32));
  steps_.cast(steps_.add(PointwiseFunction::clamp, value, low_, high_), target_);
}

std::span<const OperatorRecord> quantization_operators() { return records; }

}  // namespace lapilli::onnx
