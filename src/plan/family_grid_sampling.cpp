#include <algorithm>

#include "ops/grid_sampling.h"
#include "plan/epilogue.h"
#include "plan/families.h"
#include "plan/rows.h"

namespace lapilli {
namespace {

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
  const Fact& data = emission.graph().fact(node.inputs[0]);
  const DeviceTraits& traits = emission.traits();
  const std::uint32_t invocations = traits.software ? 32 : std::min<std::uint32_t>(128, traits.max_group_invocations);
  ElementDispatch dispatch("grid_sampling", grid_nest(op, node, emission), op, node, data.dtype, invocations,
                           emission);
  if (attributes.kernel != SamplingKernel::nearest && needs_double(data.dtype, traits)) dispatch.compute_in_double();
  const NestOperand& grid = dispatch.other(0);
  const std::array constants{invocations,
                             dispatch.loops(),
                             static_cast<std::uint32_t>(data.rank() - 2),
                             tap_constant(attributes.kernel),
                             static_cast<std::uint32_t>(attributes.padding),
                             attributes.align_corners ? 1U : 0U,
                             attributes.in_elements ? 1U : 0U,
                             static_cast<std::uint32_t>(dispatch.source().dtype),
                             static_cast<std::uint32_t>(dispatch.nest().output.dtype),
                             static_cast<std::uint32_t>(grid.dtype),
                             dispatch.operand_count(),
                             dispatch.operand_dtypes()};
  dispatch.bind(grid.storage);
  write_axes(op, node, emission, dispatch.parameters_after());
  dispatch.emit(constants);
}

// The output lies as the data do where it has their rank.
LayoutChoice choose_grid_sampling_layouts(const LayoutQuery& query) {
  const std::size_t rank = query.graph.fact(query.node.outputs[0]).shape.size();
  return {{}, {query.inputs[0].rank() == rank ? query.inputs[0] : Layout::row_major(rank)}};
}

}  // namespace lapilli
