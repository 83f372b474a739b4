#include <algorithm>

#include "plan/families.h"
#include "plan/rows.h"

namespace lapilli {

void emit_range(const Node& node, Emission& emission) {
  const Placement start = emission.placement(node.inputs[0]), step = emission.placement(node.inputs[1]);
  const Placement output = emission.placement(node.outputs[0]);
  const Dim& count = emission.graph().fact(node.outputs[0]).shape[0];
  const std::uint32_t invocations = choose_invocations(emission.traits());

  SymbolicDispatch dispatch;
  dispatch.kernel = "range";
  dispatch.capabilities = std::max({level_of(start.dtype), level_of(step.dtype), level_of(output.dtype)});
  dispatch.specialization = {invocations, static_cast<std::uint32_t>(output.dtype),
                             static_cast<std::uint32_t>(start.dtype), static_cast<std::uint32_t>(step.dtype)};
  dispatch.bindings = {{output.storage, Access::write}, {start.storage, Access::read}, {step.storage, Access::read}};
  ParameterWriter parameters;
  parameters.value(count).value(output.offset).value(output.strides[0]).value(start.offset).value(step.offset);
  dispatch.parameters = parameters.take();
  dispatch.groups = Dim::ceil_divide(count, std::int64_t{invocations});
  emission.add_dispatch(std::move(dispatch));
}

}  // namespace lapilli
