#include "ops/pair_coupling.h"
#include "plan/families.h"
#include "plan/rows.h"

namespace lapilli {

// Many small steps, so in float32 whatever the precision is.
LayoutChoice choose_pair_coupling_layouts(const LayoutQuery& query) {
  LayoutChoice choice = require_row_major(query);
  choice.inputs[0].dtype = DType::float32;
  return choice;
}

void emit_pair_coupling(const Node& node, Emission& emission) {
  const Shape& pairs_shape = emission.graph().fact(node.inputs[0]).shape;
  const Shape& shape = emission.graph().fact(node.outputs[0]).shape;
  const Placement pairs = emission.placement(node.inputs[0]), output = emission.placement(node.outputs[0]);
  const bool direct = output.dtype == DType::float32;
  const Layout layout = Layout::row_major(2);
  const Placement shares = direct ? output : emission.add_arena(DType::float32, shape, layout);
  const Placement products = emission.add_arena(DType::float32, shape, layout);

  SymbolicDispatch dispatch;
  dispatch.kernel = "pair_coupling";
  const std::uint32_t invocations = choose_invocations(emission.traits());
  dispatch.specialization = {invocations};
  dispatch.bindings = {
      {shares.storage, Access::read_write}, {pairs.storage, Access::read}, {products.storage, Access::read_write}};
  ParameterWriter parameters;
  parameters.value(shape[0]).value(shape[1]).value(pairs_shape[1]);
  parameters.value(shares.offset).value(pairs.offset).value(products.offset);
  dispatch.parameters = parameters.take();
  dispatch.groups = Dim::ceil_divide(shape[0], invocations);
  emission.add_dispatch(std::move(dispatch));
  if (!direct) emit_copy(shares, output, shape, emission);
}

}  // namespace lapilli
