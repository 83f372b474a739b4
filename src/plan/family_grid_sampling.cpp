#include <algorithm>

#include "ops/grid_sampling.h"
#include "plan/families.h"
#include "plan/rows.h"

namespace lapilli {
namespace {

constexpr std::size_t most_operands = 3;  // of the epilogue, beside the result (src/kernels/include/source.glsl)

// Output, source, epilogue, grid, and the bases of coordinates in elements.
LoopNest grid_nest(const GridSampling& op, const Node& node, Emission& emission) {
  LoopNest nest;
  nest.sizes = emission.graph().fact(node.outputs[0]).shape;
  const std::size_t rank = nest.sizes.size();
  nest.output = placed_operand(emission.placement(node.outputs[0]));
  const Placement data = emission.placement(node.inputs[0]), grid = emission.placement(node.inputs[1]);
  NestOperand source{data.storage, data.dtype, data.offset, std::vector<Dim>(rank, Dim(0))};
  source.strides[0] = data.strides[0];
  source.strides[1] = data.strides[1];
  nest.inputs = {std::move(source)};
  for (NestOperand& operand : epilogue_operands(op, node, emission)) nest.inputs.push_back(std::move(operand));
  NestOperand places{grid.storage, grid.dtype, grid.offset, {grid.strides[0], Dim(0)}};
  places.strides.insert(places.strides.end(), grid.strides.begin() + 1, grid.strides.end() - 1);
  nest.inputs.push_back(std::move(places));
  for (const GridBase& base : op.grid().base) {
    NestOperand counted{{}, DType::undefined, base.offset, {Dim(0), Dim(0)}};
    for (const std::int64_t step : base.steps) counted.strides.emplace_back(step);
    nest.inputs.push_back(std::move(counted));
  }
  return nest;
}

void write_axes(const GridSampling& op, const Node& node, Emission& emission, ParameterWriter& parameters) {
  const Shape& shape = emission.graph().fact(node.inputs[0]).shape;
  const Placement data = emission.placement(node.inputs[0]);
  const Dim tuple_stride = emission.placement(node.inputs[1]).strides.back();
  const std::size_t axes = shape.size() - 2;
  for (std::size_t i = 0; i < axes; ++i) {
    const std::size_t place = op.grid().last_axis_first ? axes - 1 - i : i;
    parameters.value(shape[i + 2]).value(data.strides[i + 2]);
    parameters.value(Dim(static_cast<std::int64_t>(place)) * tuple_stride);
  }
}

std::uint32_t tap_constant(SamplingKernel kernel) {
  return kernel == SamplingKernel::nearest ? 1 : kernel == SamplingKernel::linear ? 2 : 4;
}

}  // namespace

void emit_grid_sampling(const Node& node, Emission& emission) {
  const auto& op = static_cast<const GridSampling&>(*node.op);
  const GridAttributes& attributes = op.grid();
  LoopNest nest = grid_nest(op, node, emission);
  const Dim count = element_count(nest.sizes);
  simplify_loops(nest, emission.assumptions().sizes());

  const Fact& data = emission.graph().fact(node.inputs[0]);
  const std::size_t operand_count = node.inputs.size() - op.own_input_count();
  const auto bound = std::span(nest.inputs).first(2 + operand_count), operands = bound.subspan(1, operand_count);
  std::vector<DType> chain_inputs{data.dtype};
  for (const NestOperand& operand : operands) chain_inputs.push_back(operand.dtype);
  const EncodedChain chain = encode_chain(op.epilogue(), chain_inputs, epilogue_limits.steps);
  const DeviceTraits& traits = emission.traits();
  const std::uint32_t invocations = traits.software ? 32 : std::min<std::uint32_t>(128, traits.max_group_invocations);

  SymbolicDispatch dispatch;
  dispatch.kernel = "grid_sampling";
  dispatch.capabilities = level_of_all(bound, std::max(chain.level, level_of(nest.output.dtype)));
  dispatch.specialization = {invocations,
                             static_cast<std::uint32_t>(nest.sizes.size()),
                             static_cast<std::uint32_t>(data.rank() - 2),
                             tap_constant(attributes.kernel),
                             static_cast<std::uint32_t>(attributes.padding),
                             attributes.align_corners ? 1U : 0U,
                             attributes.in_elements ? 1U : 0U,
                             static_cast<std::uint32_t>(bound.front().dtype),
                             static_cast<std::uint32_t>(nest.output.dtype),
                             static_cast<std::uint32_t>(bound.back().dtype),
                             static_cast<std::uint32_t>(operand_count),
                             packed_dtypes(operands)};
  dispatch.specialization.insert(dispatch.specialization.end(), chain.constants.begin(), chain.constants.end());
  dispatch.bindings.push_back({nest.output.storage, Access::write});
  for (const NestOperand& input : bound.first(1 + operand_count)) {
    dispatch.bindings.push_back({input.storage, Access::read});
  }
  dispatch.bindings.resize(2 + most_operands, dispatch.bindings.back());
  dispatch.bindings.push_back({bound.back().storage, Access::read});

  ParameterWriter parameters;
  parameters.value(count);
  write_operand(nest.output, parameters);
  for (const NestOperand& input : nest.inputs) write_operand(input, parameters);
  write_axes(op, node, emission, parameters);
  write_divisors(nest.sizes, parameters);
  dispatch.parameters = parameters.take();
  dispatch.parameters.insert(dispatch.parameters.end(), chain.immediates.begin(), chain.immediates.end());
  dispatch.groups = Dim::ceil_divide(count, std::int64_t{invocations});
  emission.add_dispatch(std::move(dispatch));
}

// The output lies as the data do where it has their rank.
LayoutChoice choose_grid_sampling_layouts(const LayoutQuery& query) {
  const std::size_t rank = query.graph.fact(query.node.outputs[0]).shape.size();
  return {{}, {query.inputs[0].rank() == rank ? query.inputs[0] : Layout::row_major(rank)}};
}

}  // namespace lapilli
