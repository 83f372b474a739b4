#include <algorithm>
#include <array>

#include "base/checked.h"
#include "ops/window.h"
#include "plan/families.h"
#include "plan/rows.h"
#include "plan/windows.h"

namespace lapilli {
namespace {

constexpr std::size_t most_operands = 3;     // of the epilogue, beside the result (src/kernels/include/source.glsl)
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
  const Dim count = element_count(nest.sizes);

  const std::size_t operand_count = node.inputs.size() - op.own_input_count();
  const auto bound = std::span(nest.inputs).first(1 + operand_count), operands = bound.subspan(1);
  std::vector<DType> chain_inputs{emission.graph().fact(node.inputs[0]).dtype};
  for (const NestOperand& operand : operands) chain_inputs.push_back(operand.dtype);
  const EncodedChain chain = encode_chain(op.epilogue(), chain_inputs, epilogue_limits.steps);

  const DeviceTraits& traits = emission.traits();
  const std::uint32_t invocations = traits.software ? 32 : std::min<std::uint32_t>(128, traits.max_group_invocations);
  SymbolicDispatch dispatch;
  dispatch.kernel = "window";
  dispatch.capabilities = level_of_all(bound, std::max(chain.level, level_of(nest.output.dtype)));
  if (window.indices) dispatch.capabilities = std::max(dispatch.capabilities, KernelLevel::int64);
  dispatch.specialization = {
      invocations, static_cast<std::uint32_t>(window.function), static_cast<std::uint32_t>(window.preparation),
      static_cast<std::uint32_t>(nest.sizes.size()), static_cast<std::uint32_t>(window.axes.size())};
  for (std::size_t i = 0; i < most_window_axes; ++i) {
    dispatch.specialization.push_back(i < window.axes.size() ? static_cast<std::uint32_t>(window.axes[i].size) : 1);
  }
  const std::array rest{window.count_padding ? 1U : 0U,
                        window.indices ? 1U : 0U,
                        static_cast<std::uint32_t>(nest.inputs[0].dtype),
                        static_cast<std::uint32_t>(nest.output.dtype),
                        static_cast<std::uint32_t>(operand_count),
                        packed_dtypes(operands)};
  dispatch.specialization.insert(dispatch.specialization.end(), rest.begin(), rest.end());
  dispatch.specialization.insert(dispatch.specialization.end(), chain.constants.begin(), chain.constants.end());
  dispatch.bindings.push_back(access_of(nest.output, Access::write));
  for (const NestOperand& input : bound) dispatch.bindings.push_back(access_of(input, Access::read));
  dispatch.bindings.resize(2 + most_operands, dispatch.bindings.back());
  if (window.indices) {
    dispatch.bindings.push_back({emission.placement(node.outputs[1]).storage, Access::write});
  } else {
    dispatch.bindings.push_back(dispatch.bindings.back());
  }

  ParameterWriter parameters;
  parameters.value(count).real(static_cast<float>(window.exponent));
  write_operand(nest.output, parameters);
  for (const NestOperand& input : nest.inputs) write_operand(input, parameters);
  write_axes(op, node, emission, parameters);
  write_divisors(nest.sizes, parameters);
  dispatch.parameters = parameters.take();
  dispatch.parameters.insert(dispatch.parameters.end(), chain.immediates.begin(), chain.immediates.end());
  dispatch.groups = Dim::ceil_divide(count, std::int64_t{invocations});
  dispatch.work = count;
  for (const WindowAxis& axis : window.axes) dispatch.work = dispatch.work * Dim(axis.size);
  emission.add_dispatch(std::move(dispatch));
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
