#include <algorithm>
#include <array>

#include "base/checked.h"
#include "ops/window.h"
#include "plan/epilogue.h"
#include "plan/families.h"
#include "plan/rows.h"
#include "plan/windows.h"

namespace lapilli {
namespace {

constexpr std::size_t most_window_axes = 4;  // src/kernels/window.comp

// An operand that only finds a number: no memory belongs to it.
NestOperand counting_operand(const Dim& offset, std::vector<Dim> strides) {
  return {{}, DType::undefined, offset, std::move(strides)};
}

// The numbers of elements by axis as an index output has them.
std::vector<Dim> index_strides(const WindowAttributes& window, std::span<const Dim> shape) {
  std::vector<Dim> strides = Layout::row_major(shape.size()).strides(shape);
  if (window.index_order == IndexOrder::row_major) return strides;
  Dim stride = 1;
  for (const WindowAxis& axis : window.axes) {
    strides[static_cast<std::size_t>(axis.axis)] = stride;
    stride = stride * shape[static_cast<std::size_t>(axis.axis)];
  }
  return strides;
}

// Loops over all windows: output, source, epilogue, begins, and where there are indices, their output and the number
// of the element before which no axis begins.
LoopNest window_nest(const Window& op, const Node& node, Emission& emission) {
  const WindowAttributes& window = op.window();
  const Shape& shape = emission.graph().fact(node.outputs[0]).shape;
  LoopNest nest;
  nest.sizes = shape;
  nest.output = placed_operand(emission.placement(node.outputs[0]));
  NestOperand source = placed_operand(emission.placement(node.inputs[0]));
  std::vector<NestOperand> begins;
  std::vector<Dim> numbers = index_strides(window, emission.graph().fact(node.inputs[0]).shape);
  for (const WindowAxis& axis : window.axes) {
    const auto at = static_cast<std::size_t>(axis.axis);
    source.offset = source.offset - axis.pad_begin * source.strides[at];
    source.strides[at] = source.strides[at] * Dim(axis.stride);
    begins.push_back(counting_operand(Dim(0) - axis.pad_begin, std::vector<Dim>(shape.size(), Dim(0))));
    begins.back().strides[at] = axis.stride;
    numbers[at] = 0;
  }
  nest.inputs = {source};
  const std::vector<NestOperand> operands = epilogue_operands(op, node, emission);
  nest.inputs.insert(nest.inputs.end(), operands.begin(), operands.end());
  nest.inputs.insert(nest.inputs.end(), begins.begin(), begins.end());
  if (window.indices) {
    nest.inputs.push_back(placed_operand(emission.placement(node.outputs[1])));
    nest.inputs.push_back(counting_operand(0, numbers));
  }
  return nest;
}

void write_axes(const Window& op, const Node& node, Emission& emission, ParameterWriter& parameters) {
  const Shape& shape = emission.graph().fact(node.inputs[0]).shape;
  const std::vector<Dim> numbers = index_strides(op.window(), shape);
  const Placement& source = emission.placement(node.inputs[0]);
  for (const WindowAxis& axis : op.window().axes) {
    const auto at = static_cast<std::size_t>(axis.axis);
    parameters.value(shape[at]).value(shape[at] + axis.pad_end).value(axis.dilation);
    parameters.value(source.strides[at]).value(numbers[at]);
  }
}

// How far above its first element a window reaches.
std::int64_t beyond_first(const Window& op, const Node& node, Emission& emission) {
  const Placement& source = emission.placement(node.inputs[0]);
  std::int64_t beyond = 0;
  for (const WindowAxis& axis : op.window().axes) {
    const std::int64_t stride = emission.assumptions().number(source.strides[static_cast<std::size_t>(axis.axis)]);
    beyond = checked_add(beyond, checked_multiply(stride, checked_multiply(axis.size - 1, axis.dilation)));
  }
  return beyond;
}

void emit_part(const LoopNest& nest, const Node& node, Emission& emission) {
  const auto& op = static_cast<const Window&>(*node.op);
  const WindowAttributes& window = op.window();
  const DeviceTraits& traits = emission.traits();
  const std::uint32_t invocations = traits.software ? 32 : std::min<std::uint32_t>(128, traits.max_group_invocations);
  ElementDispatch dispatch("window", nest, op, node, emission.graph().fact(node.inputs[0]).dtype, invocations,
                           emission);
  std::vector<std::uint32_t> constants{invocations, static_cast<std::uint32_t>(window.function),
                                       static_cast<std::uint32_t>(window.preparation), dispatch.loops(),
                                       static_cast<std::uint32_t>(window.axes.size())};
  for (std::size_t i = 0; i < most_window_axes; ++i) {
    constants.push_back(i < window.axes.size() ? static_cast<std::uint32_t>(window.axes[i].size) : 1);
  }
  const std::array rest{window.count_padding ? 1U : 0U,
                        window.indices ? 1U : 0U,
                        static_cast<std::uint32_t>(dispatch.source().dtype),
                        static_cast<std::uint32_t>(dispatch.nest().output.dtype),
                        dispatch.operand_count(),
                        dispatch.operand_dtypes()};
  for (const std::uint32_t constant : rest) constants.push_back(constant);
  if (window.indices) {
    dispatch.bind(emission.placement(node.outputs[1]).storage, Access::write);
  } else {
    dispatch.bind_nothing();
  }
  dispatch.parameters_before().real(static_cast<float>(window.exponent));
  write_axes(op, node, emission, dispatch.parameters_after());
  std::int64_t taps = 1;
  for (const WindowAxis& axis : window.axes) taps = checked_multiply(taps, axis.size);
  dispatch.set_work_of_element(taps);
  dispatch.emit(constants);
}

}  // namespace

void emit_window(const Node& node, Emission& emission) {
  const auto& op = static_cast<const Window&>(*node.op);
  LoopNest nest = window_nest(op, node, emission);
  simplify_loops(nest, emission.assumptions().sizes());
  const std::size_t bound = 1 + node.inputs.size() - op.own_input_count();
  const std::array sources{nest.inputs[0].storage};
  const std::int64_t beyond = exceeds_bindings(sources, emission) ? beyond_first(op, node, emission) : 0;
  const NestCut cut{bound, nest.sizes.size(), beyond};
  for (const LoopNest& part : cut_to_bindings(std::move(nest), cut, emission)) emit_part(part, node, emission);
}

}  // namespace lapilli
