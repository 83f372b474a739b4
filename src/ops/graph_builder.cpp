#include "ops/graph_builder.h"

#include <algorithm>
#include <array>

#include "ops/movement.h"
#include "ops/range.h"

namespace lapilli {

std::vector<ValueId> GraphBuilder::add_all(OperatorPointer op, std::vector<ValueId> inputs) {
  return graph_.add_node(std::move(op), std::move(inputs), origins_, {}, assumptions_);
}

ValueId GraphBuilder::add(OperatorPointer op, std::vector<ValueId> inputs) {
  return add_all(std::move(op), std::move(inputs))[0];
}

ValueId GraphBuilder::constant(Tensor tensor) { return graph_.add_constant("", std::move(tensor)); }

ValueId GraphBuilder::sizes(std::vector<Dim> elements) {
  const auto count = static_cast<std::int64_t>(elements.size());
  return graph_.add_known("", Fact::of_elements(DType::int64, {count}, std::move(elements)));
}

ValueId GraphBuilder::scalar(DType dtype, double value) {
  const std::array values{value};
  return cast(constant(Tensor::of<double>(DType::float64, {}, values)), dtype);
}

ValueId GraphBuilder::positions(const Dim& count, std::size_t axis, std::size_t rank) {
  const ValueId numbers = add(std::make_shared<Range>(count), {scalar(DType::int32, 0), scalar(DType::int32, 1)});
  Shape wide(rank, Dim(1));
  wide[axis] = count;
  return reshape(numbers, std::move(wide));
}

ValueId GraphBuilder::pointwise(PointwiseFunction function, std::vector<ValueId> inputs,
                                std::vector<Immediate> immediates) {
  const DType type = dtype(inputs[function == PointwiseFunction::select ? 1 : 0]);
  for (Immediate& immediate : immediates) immediate.dtype = type;
  const auto count = static_cast<std::uint8_t>(inputs.size());
  return add(make_pointwise(function, type, count, std::move(immediates)), std::move(inputs));
}

ValueId GraphBuilder::reshape(ValueId value, Shape new_shape) {
  if (shape(value) == new_shape) return value;
  return add(std::make_shared<Reshape>(std::move(new_shape)), {value});
}

ValueId GraphBuilder::cast(ValueId value, DType to, Overflow overflow) {
  if (dtype(value) == to) return value;
  PointwiseChain chain;
  const bool saturates = overflow == Overflow::saturate || !is_small_float(to);
  chain.add(saturates ? PointwiseFunction::cast : PointwiseFunction::cast_unsaturated, to, {0, 0, 0});
  return add(std::make_shared<Pointwise>(std::move(chain), to), {value});
}

ValueId GraphBuilder::as_real(ValueId value) {
  const DType own = dtype(value);
  if (is_floating_point(own)) return value;
  return cast(value, bit_width(own) <= 16 ? DType::float32 : DType::float64);
}

ValueId GraphBuilder::per_channel(ValueId value, std::size_t rank) {
  if (rank < 2) return value;
  Shape wide(rank - 1, Dim(1));
  wide[0] = element_count(shape(value));
  return reshape(value, std::move(wide));
}

ValueId GraphBuilder::unsqueeze(ValueId value, std::span<const int> axes) {
  Shape wide;
  const Shape& narrow = shape(value);
  for (std::size_t i = 0, next = 0; i < narrow.size() + axes.size(); ++i) {
    wide.push_back(std::ranges::contains(axes, static_cast<int>(i)) ? Dim(1) : narrow[next++]);
  }
  return reshape(value, std::move(wide));
}

}  // namespace lapilli
