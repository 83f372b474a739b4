#include <algorithm>

#include "ops/region_pooling.h"
#include "plan/families.h"
#include "plan/rows.h"

namespace lapilli {
namespace {

constexpr std::size_t most_operands = 3;  // of the epilogue, beside the result (src/kernels/include/source.glsl)

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
  LoopNest nest = pooling_nest(op, node, emission);
  const Dim count = element_count(nest.sizes);
  simplify_loops(nest, emission.assumptions().sizes());

  const std::size_t operand_count = node.inputs.size() - op.own_input_count();
  const auto bound = std::span(nest.inputs).first(3 + operand_count), operands = bound.subspan(1, operand_count);
  const NestOperand &regions = bound[1 + operand_count], &images = bound[2 + operand_count];
  std::vector<DType> chain_inputs{emission.graph().fact(node.inputs[0]).dtype};
  for (const NestOperand& operand : operands) chain_inputs.push_back(operand.dtype);
  const EncodedChain chain = encode_chain(op.epilogue(), chain_inputs, epilogue_limits.steps);
  const DeviceTraits& traits = emission.traits();
  const std::uint32_t invocations = traits.software ? 32 : std::min<std::uint32_t>(64, traits.max_group_invocations);

  SymbolicDispatch dispatch;
  dispatch.kernel = "region_pooling";
  dispatch.capabilities = level_of_all(bound, std::max(chain.level, level_of(nest.output.dtype)));
  dispatch.specialization = {invocations,
                             static_cast<std::uint32_t>(nest.sizes.size()),
                             static_cast<std::uint32_t>(op.pooling().kind),
                             op.pooling().half_pixel ? 1U : 0U,
                             static_cast<std::uint32_t>(bound[0].dtype),
                             static_cast<std::uint32_t>(nest.output.dtype),
                             static_cast<std::uint32_t>(regions.dtype),
                             static_cast<std::uint32_t>(images.dtype),
                             static_cast<std::uint32_t>(operand_count),
                             packed_dtypes(operands)};
  dispatch.specialization.insert(dispatch.specialization.end(), chain.constants.begin(), chain.constants.end());
  dispatch.bindings.push_back({nest.output.storage, Access::write});
  for (const NestOperand& input : bound.first(1 + operand_count)) {
    dispatch.bindings.push_back({input.storage, Access::read});
  }
  dispatch.bindings.resize(2 + most_operands, dispatch.bindings.back());
  dispatch.bindings.push_back({regions.storage, Access::read});
  dispatch.bindings.push_back({images.storage, Access::read});

  ParameterWriter parameters;
  parameters.value(count);
  write_operand(nest.output, parameters);
  for (const NestOperand& input : nest.inputs) write_operand(input, parameters);
  write_rest(op, node, emission, parameters);
  write_divisors(nest.sizes, parameters);
  dispatch.parameters = parameters.take();
  dispatch.parameters.insert(dispatch.parameters.end(), chain.immediates.begin(), chain.immediates.end());
  dispatch.groups = Dim::ceil_divide(count, std::int64_t{invocations});
  emission.add_dispatch(std::move(dispatch));
}

LayoutChoice choose_region_pooling_layouts(const LayoutQuery& query) { return {{}, {query.inputs[0]}}; }

}  // namespace lapilli
