#include <algorithm>

#include "ops/determinant.h"
#include "plan/families.h"
#include "plan/loop_nest.h"

namespace lapilli {

void emit_determinant(const Node& node, Emission& emission) {
  const Shape& shape = emission.graph().fact(node.inputs[0]).shape;
  const Shape& counts = emission.graph().fact(node.outputs[0]).shape;
  const Placement output = emission.placement(node.outputs[0]);
  const DType dtype = register_dtype(output.dtype);
  // Elimination overwrites the matrices, and computes in more bits than float16 has.
  const Placement matrices = emission.add_arena(dtype, shape, Layout::row_major(shape.size()));
  emit_copy(emission.placement(node.inputs[0]), matrices, shape, emission);
  const bool direct = output.dtype == dtype;
  const Placement results = direct ? output : emission.add_arena(dtype, counts, Layout::row_major(counts.size()));

  SymbolicDispatch dispatch;
  dispatch.kernel = "determinant";
  dispatch.capabilities = level_of(dtype);
  dispatch.specialization = {
      emission.traits().software ? 8U : std::min<std::uint32_t>(64, emission.traits().max_group_invocations)};
  dispatch.bindings = {{results.storage, Access::write}, {matrices.storage, Access::read_write}};
  ParameterWriter parameters;
  parameters.value(element_count(counts)).value(shape.back()).value(results.offset);
  dispatch.parameters = parameters.take();
  dispatch.groups = element_count(counts);
  emission.add_dispatch(std::move(dispatch));
  if (!direct) emit_copy(results, output, counts, emission);
}

}  // namespace lapilli
