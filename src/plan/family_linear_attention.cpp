#include <algorithm>
#include <array>
#include <bit>

#include "ops/linear_attention.h"
#include "plan/families.h"
#include "plan/loop_nest.h"

namespace lapilli {
namespace {

// How a workgroup shares the columns of a state.
struct Columns {
  std::uint32_t count = 1;  // a power of two, as lanes are
  std::uint32_t lanes = 1;
  bool shares = true;  // the state lies in shared memory
};

Columns choose_columns(std::int64_t keys, std::int64_t values, const DeviceTraits& traits) {
  Columns columns;
  // Lanes wait for each other twice a sum, which takes long on a CPU.
  columns.lanes = keys >= (traits.software ? 512 : 64) ? 4 : 1;
  const std::uint32_t most = std::min({traits.max_group_invocations, traits.max_group_size[0], 128U}) / columns.lanes;
  const auto useful = static_cast<std::uint32_t>(std::clamp<std::int64_t>(values, 1, 32));
  columns.count = std::min(std::bit_ceil(useful), std::bit_floor(std::max(most, 1U)));
  const auto bytes = [&] { return 4 * (keys * columns.count + std::int64_t{columns.count} * columns.lanes + 2); };
  while (columns.count > 8 && bytes() > traits.max_shared_memory) columns.count /= 2;
  columns.shares = bytes() <= traits.max_shared_memory;
  return columns;
}

// Those that are left out repeat the queries, and have a bit of zero in `present`.
std::uint32_t add_inputs(const Node& node, Emission& emission, std::vector<Placement>& operands) {
  std::uint32_t present = 0;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const bool exists = node.inputs[i] != no_value;
    operands.push_back(emission.placement(exists ? node.inputs[i] : node.inputs[0]));
    if (exists && i >= 3) present |= 1U << (i - 3);
  }
  return present;
}

// Strides for heads and keys, of decay and beta, which may be the same for all keys or for all heads.
void spread_gates(const Node& node, std::int64_t heads, std::int64_t keys, Emission& emission,
                  std::vector<Placement>& operands) {
  const auto width = [&](std::size_t input) {
    const ValueId value = node.inputs[input];
    return value == no_value ? 0 : emission.assumptions().number(emission.graph().fact(value).shape[2]);
  };
  const auto spread = [](Placement& placement, bool by_head, std::int64_t each) {
    const Dim stride = placement.strides[2];
    placement.strides.resize(4, Dim(0));
    placement.strides[2] = by_head ? stride * Dim(each) : Dim(0);
    placement.strides[3] = by_head && each > 1 ? stride : Dim(0);
  };
  constexpr std::size_t outputs = 2;
  spread(operands[outputs + 4], true, width(4) == heads ? 1 : keys);
  spread(operands[outputs + 5], width(5) == heads, 1);
}

}  // namespace

void emit_linear_attention(const Node& node, Emission& emission) {
  const LinearAttentionAttributes& attributes = static_cast<const LinearAttention&>(*node.op).linear_attention();
  const Shape state = emission.graph().fact(node.outputs[1]).shape;
  const std::int64_t keys = emission.assumptions().number(state[2]), values = emission.assumptions().number(state[3]);
  const Columns columns = choose_columns(keys, values, emission.traits());
  std::vector<Placement> operands{emission.placement(node.outputs[0]), emission.placement(node.outputs[1])};
  const std::uint32_t present = add_inputs(node, emission, operands);
  spread_gates(node, attributes.key_heads, keys, emission, operands);
  operands[5].strides.resize(4, Dim(0));

  SymbolicDispatch dispatch;
  dispatch.kernel = "linear_attention";
  std::vector<DType> dtypes;
  for (const Placement& operand : operands) {
    const Access access = dtypes.size() < 2 ? Access::write : Access::read;
    dispatch.bindings.push_back({operand.storage, access});
    dtypes.push_back(operand.dtype);
    dispatch.capabilities = std::max(dispatch.capabilities, level_of(operand.dtype));
  }
  const std::int64_t blocks = std::max<std::int64_t>((values + columns.count - 1) / columns.count, 1);
  const Dim groups = state[0] * state[1] * Dim(blocks);
  StorageAccess scratch{operands[2].storage, Access::read};
  if (!columns.shares) {
    const std::array shape{groups, Dim(keys * columns.count)};
    scratch = {emission.add_arena(DType::float32, shape, Layout::row_major(2)).storage, Access::write};
  }
  dispatch.bindings.push_back(scratch);
  const std::uint32_t invocations = columns.count * columns.lanes;
  const auto shared_words = static_cast<std::uint32_t>(std::max<std::int64_t>(keys * columns.count, 2));
  dispatch.specialization = {invocations,
                             columns.lanes,
                             columns.shares ? shared_words : 1U,
                             columns.lanes > 1 ? invocations : 1U,
                             pack_dtypes(std::span(dtypes).first(4)),
                             pack_dtypes(std::span(dtypes).subspan(4)),
                             present};
  ParameterWriter parameters;
  parameters.value(groups).divisor(blocks).divisor(attributes.key_heads);
  parameters.value(emission.graph().fact(node.inputs[0]).shape[1]).value(keys).value(values);
  parameters.value(attributes.query_heads / attributes.key_heads).real(attributes.scale);
  constexpr std::array<std::size_t, 8> ranks{3, 4, 3, 3, 3, 4, 4, 3};
  for (std::size_t i = 0; i < operands.size(); ++i) {
    parameters.value(operands[i].offset);
    for (std::size_t axis = 0; axis < ranks[i]; ++axis) parameters.value(operands[i].strides[axis]);
  }
  dispatch.parameters = parameters.take();
  dispatch.groups = groups;
  emission.add_dispatch(std::move(dispatch));
}

}  // namespace lapilli
