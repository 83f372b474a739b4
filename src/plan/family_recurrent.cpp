#include <algorithm>
#include <array>

#include "base/packed.h"
#include "ops/recurrent.h"
#include "plan/families.h"
#include "plan/loop_nest.h"

namespace lapilli {
namespace {

constexpr std::int64_t state_elements = 6;  // of each hidden unit: itself, its cell, four gates

// Weights with the rows of gates innermost, so that neighbouring invocations read neighbouring elements.
Placement weights_by_unit(const Node& node, Emission& emission) {
  const Fact& fact = emission.graph().fact(node.inputs[1]);
  if (!fact.constant.defined()) return emission.placement(node.inputs[1]);
  const std::vector<std::int64_t>& shape = fact.constant.shape();
  const std::vector<std::int64_t> packed{shape[0], shape[2], shape[1]};
  const Packing packing{emission.stored_dtype(fact.dtype), packed, packed, {shape[1] * shape[2], 1, shape[2]}, 0};
  return {emission.add_constant(fact.constant, packing), packing.dtype, 0, {shape[1] * shape[2], 1, shape[1]}};
}

struct Operands {
  std::vector<Placement> outputs;  // three; the last one twice where there is no cell
  std::vector<Placement> inputs;   // seven; those that are left out repeat the products
  std::uint32_t present = 0;       // a bit for each input from the bias on
};

Operands placed_operands(const Node& node, Emission& emission) {
  Operands operands;
  for (const ValueId output : node.outputs) operands.outputs.push_back(emission.placement(output));
  operands.outputs.resize(3, operands.outputs.back());
  operands.inputs = {emission.placement(node.inputs[0]), weights_by_unit(node, emission)};
  for (std::size_t i = 2; i < node.inputs.size(); ++i) {
    const bool exists = node.inputs[i] != no_value;
    Placement placement = exists ? emission.placement(node.inputs[i]) : operands.inputs[0];
    placement.strides.resize(3, Dim(0));
    operands.inputs.push_back(std::move(placement));
    if (exists) operands.present |= 1U << (i - 2);
  }
  return operands;
}

std::uint32_t packed_activations(const RecurrentAttributes& attributes, std::size_t direction) {
  const std::size_t count = activation_count(attributes.kind);
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < count && direction < attributes.backwards.size(); ++i) {
    word |= static_cast<std::uint32_t>(attributes.activations[direction * count + i].function) << (8 * i);
  }
  return word;
}

std::vector<ParameterWord> recurrent_parameters(const RecurrentAttributes& attributes, const Operands& operands,
                                                const Fact& projected, const Dim& hidden) {
  ParameterWriter parameters;
  const Dim directions = static_cast<std::int64_t>(attributes.backwards.size());
  parameters.value(directions * projected.shape[1]).value(projected.shape[0]).divisor(projected.shape[1]);
  parameters.value(hidden).real(attributes.clip);
  const std::size_t count = activation_count(attributes.kind);
  for (std::size_t i = 0; i < 6; ++i) {
    const std::size_t direction = i / 3, which = i % 3;
    const bool exists = which < count && direction < attributes.backwards.size();
    const ActivationCall call = exists ? attributes.activations[direction * count + which] : ActivationCall{};
    parameters.real(call.alpha).real(call.beta);
  }
  const auto write = [&](const Placement& placement, std::size_t rank) {
    parameters.value(placement.offset);
    for (std::size_t i = 0; i < rank; ++i) parameters.value(placement.strides[i]);
  };
  constexpr std::array output_ranks{4, 3, 3};
  constexpr std::array input_ranks{3, 3, 2, 1, 3, 3, 2};
  for (std::size_t i = 0; i < output_ranks.size(); ++i)
    write(operands.outputs[i], static_cast<std::size_t>(output_ranks[i]));
  for (std::size_t i = 0; i < input_ranks.size(); ++i)
    write(operands.inputs[i], static_cast<std::size_t>(input_ranks[i]));
  return parameters.take();
}

std::uint32_t choose_invocations(std::int64_t rows, const DeviceTraits& traits) {
  if (traits.software) return 32;
  const std::uint32_t most = std::min<std::uint32_t>({traits.max_group_invocations, traits.max_group_size[0], 1024});
  const auto useful = static_cast<std::uint32_t>(std::min<std::int64_t>(rows, most));
  return std::min(most, (useful + 31) / 32 * 32);
}

}  // namespace

void emit_recurrent(const Node& node, Emission& emission) {
  const RecurrentAttributes& attributes = static_cast<const Recurrent&>(*node.op).recurrent();
  const Fact& projected = emission.graph().fact(node.inputs[0]);
  const Dim hidden = emission.graph().fact(node.inputs[1]).shape[2];
  const Dim groups = Dim(static_cast<std::int64_t>(attributes.backwards.size())) * projected.shape[1];
  const std::int64_t units = emission.assumptions().number(hidden);
  const Operands operands = placed_operands(node, emission);
  SymbolicDispatch dispatch;
  dispatch.kernel = "recurrent";
  std::vector<DType> dtypes;
  for (const Placement& output : operands.outputs) {
    dtypes.push_back(output.dtype);
    dispatch.bindings.push_back({output.storage, Access::write});
  }
  for (std::size_t i = 0; i < operands.inputs.size(); ++i) {
    const Placement& input = operands.inputs[i];
    dispatch.bindings.push_back({input.storage, Access::read});
    if (i != 3) dtypes.push_back(input.dtype);
  }
  for (const DType dtype : dtypes) dispatch.capabilities = std::max(dispatch.capabilities, level_of(dtype));
  const DType state = dispatch.capabilities == KernelLevel::float64 ? DType::float64 : DType::float32;
  const std::int64_t elements = std::max<std::int64_t>(state_elements * units, 2);
  const std::int64_t bytes = elements * static_cast<std::int64_t>(device_element_bytes(state));
  const bool shares = bytes <= emission.traits().max_shared_memory;
  if (shares) {
    dispatch.bindings.push_back({operands.inputs[0].storage, Access::read});
  } else {
    const std::array shape{groups, Dim(state_elements) * hidden};
    dispatch.bindings.push_back({emission.add_arena(state, shape, Layout::row_major(2)).storage, Access::write});
  }
  std::uint32_t backwards = 0;
  for (std::size_t i = 0; i < attributes.backwards.size(); ++i) backwards |= (attributes.backwards[i] ? 1U : 0U) << i;
  const std::int64_t rows = gate_count(attributes.kind) * units;
  dispatch.specialization = {choose_invocations(rows, emission.traits()),
                             static_cast<std::uint32_t>(attributes.kind),
                             shares ? static_cast<std::uint32_t>(elements) : 1U,
                             pack_dtypes(std::span(dtypes).first(4)),
                             pack_dtypes(std::span(dtypes).subspan(4, 4)),
                             static_cast<std::uint32_t>(dtypes[8]),
                             operands.present,
                             backwards,
                             attributes.clip > 0 ? 1U : 0U,
                             attributes.input_forget ? 1U : 0U,
                             packed_activations(attributes, 0),
                             packed_activations(attributes, 1)};
  dispatch.parameters = recurrent_parameters(attributes, operands, projected, hidden);
  dispatch.groups = groups;
  emission.add_dispatch(std::move(dispatch));
}

}  // namespace lapilli
