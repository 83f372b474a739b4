#include <algorithm>

#include "ops/suppression.h"
#include "plan/families.h"
#include "plan/rows.h"

namespace lapilli {

void emit_suppression(const Node& node, Emission& emission) {
  const auto& op = static_cast<const Suppression&>(*node.op);
  const Shape& shape = emission.graph().fact(node.inputs[1]).shape;
  const bool has_least_score = node.inputs[5] != no_value;
  std::vector<Placement> inputs;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    inputs.push_back(emission.placement(node.inputs[i == 5 && !has_least_score ? 4 : i]));
  }
  const Placement output = emission.placement(node.outputs[0]);
  const Dim rows = shape[0] * shape[1];

  SymbolicDispatch dispatch;
  dispatch.kernel = "suppression";
  for (const Placement& input : inputs) {
    dispatch.capabilities = std::max(dispatch.capabilities, level_of(input.dtype));
  }
  dispatch.specialization = {choose_invocations(emission.traits()),
                             op.centred() ? 1U : 0U,
                             has_least_score ? 1U : 0U,
                             static_cast<std::uint32_t>(inputs[0].dtype),
                             static_cast<std::uint32_t>(inputs[1].dtype),
                             static_cast<std::uint32_t>(inputs[4].dtype),
                             static_cast<std::uint32_t>(inputs[5].dtype)};
  dispatch.bindings = {{output.storage, Access::read_write}};
  for (const Placement& input : inputs) dispatch.bindings.push_back({input.storage, Access::read});
  ParameterWriter parameters;
  parameters.value(rows).divisor(shape[1]).value(shape[2]).value(output.offset);
  for (const Placement& input : inputs) parameters.value(input.offset);
  dispatch.parameters = parameters.take();
  dispatch.groups = rows;
  emission.add_dispatch(std::move(dispatch));
}

}  // namespace lapilli
