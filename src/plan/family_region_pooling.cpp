#include <algorithm>

#include "ops/region_pooling.h"
#include "plan/epilogue.h"
#include "plan/families.h"
#include "plan/rows.h"

namespace lapilli {
namespace {

// Along the output's axes [regions, channels, rows, columns].
NestOperand along(const Placement& placement, Dim region, Dim channel) {
  return {
      placement.storage, placement.dtype, placement.offset, {std::move(region), std::move(channel), Dim(0), Dim(0)}};
}

// Output, source, epilogue, regions, images, and the numbers of row and column.
LoopNest pooling_nest(const RegionPooling& op, const Node& node, Emission& emission) {
  LoopNest nest;
  nest.sizes = emission.graph().fact(node.outputs[0]).shape;
  nest.output = placed_operand(emission.placement(node.outputs[0]));
  const Placement data = emission.placement(node.inputs[0]), regions = emission.placement(node.inputs[1]);
  const Placement images = emission.placement(node.inputs[2]);
  nest.inputs = {along(data, 0, data.strides[1])};
  for (NestOperand& operand : epilogue_operands(op, node, emission)) nest.inputs.push_back(std::move(operand));
  nest.inputs.push_back(along(regions, regions.strides[0], 0));
  nest.inputs.push_back(along(images, images.strides[0], 0));
  nest.inputs.push_back({{}, DType::undefined, 0, {Dim(0), Dim(0), Dim(1), Dim(0)}});
  nest.inputs.push_back({{}, DType::undefined, 0, {Dim(0), Dim(0), Dim(0), Dim(1)}});
  return nest;
}

void write_rest(const RegionPooling& op, const Node& node, Emission& emission, ParameterWriter& parameters) {
  const RegionPoolingAttributes& attributes = op.pooling();
  const Shape& shape = emission.graph().fact(node.inputs[0]).shape;
  const Placement data = emission.placement(node.inputs[0]);
  parameters.value(attributes.height).value(attributes.width).value(attributes.samples).real(attributes.scale);
  parameters.value(shape[0]).value(data.strides[0]);
  parameters.value(shape[2]).value(data.strides[2]).value(shape[3]).value(data.strides[3]);
  parameters.value(emission.placement(node.inputs[1]).strides[1]);
}

}  // namespace

void emit_region_pooling(const Node& node, Emission& emission) {
  const auto& op = static_cast<const RegionPooling&>(*node.op);
  const DeviceTraits& traits = emission.traits();
  const std::uint32_t invocations = traits.software ? 32 : std::min<std::uint32_t>(64, traits.max_group_invocations);
  ElementDispatch dispatch("region_pooling", pooling_nest(op, node, emission), op, node,
                           emission.graph().fact(node.inputs[0]).dtype, invocations, emission);
  const NestOperand &regions = dispatch.other(0), &images = dispatch.other(1);
  const std::array constants{invocations,
                             dispatch.loops(),
                             static_cast<std::uint32_t>(op.pooling().kind),
                             op.pooling().half_pixel ? 1U : 0U,
                             static_cast<std::uint32_t>(dispatch.source().dtype),
                             static_cast<std::uint32_t>(dispatch.nest().output.dtype),
                             static_cast<std::uint32_t>(regions.dtype),
                             static_cast<std::uint32_t>(images.dtype),
                             dispatch.operand_count(),
                             dispatch.operand_dtypes()};
  dispatch.bind(regions.storage);
  dispatch.bind(images.storage);
  write_rest(op, node, emission, dispatch.parameters_after());
  dispatch.emit(constants);
}

LayoutChoice choose_region_pooling_layouts(const LayoutQuery& query) { return {{}, {query.inputs[0]}}; }

}  // namespace lapilli
