#include <algorithm>
#include <array>
#include <optional>

#include "ops/scan.h"
#include "plan/families.h"
#include "plan/rows.h"

namespace lapilli {
namespace {

struct ScanCall {
  ReductionFunction function = ReductionFunction::sum;
  bool exclusive = false, reverse = false;
  LoopNest outer;  // input 0 is the source
  Dim length;
  Dim source_stride, output_stride;
};

struct Parts {
  std::int64_t count = 1;
  std::optional<Placement> start;  // of each part
  bool stores_totals = false;
};

void emit_parts(const ScanCall& call, const RowSchedule& schedule, const Parts& parts, Emission& emission) {
  const NestOperand &output = call.outer.output, &source = call.outer.inputs[0];
  const DType start = parts.start ? parts.start->dtype : source.dtype;
  SymbolicDispatch dispatch;
  dispatch.kernel = "scan";
  dispatch.capabilities = std::max({level_of(output.dtype), level_of(source.dtype), level_of(start)});
  dispatch.specialization = {schedule.invocations,
                             schedule.lanes,
                             schedule.lanes_adjacent ? 1U : 0U,
                             static_cast<std::uint32_t>(call.function),
                             call.exclusive ? 1U : 0U,
                             call.reverse ? 1U : 0U,
                             parts.stores_totals ? 1U : 0U,
                             parts.start ? 1U : 0U,
                             static_cast<std::uint32_t>(call.outer.sizes.size()),
                             static_cast<std::uint32_t>(source.dtype),
                             static_cast<std::uint32_t>(output.dtype),
                             static_cast<std::uint32_t>(start)};
  dispatch.bindings = {{output.storage, Access::write},
                       {source.storage, Access::read},
                       {parts.start ? parts.start->storage : source.storage, Access::read}};
  const Dim rows = element_count(call.outer.sizes) * Dim(parts.count);
  ParameterWriter parameters;
  parameters.value(rows).divisor(parts.count).value(Dim::ceil_divide(call.length, parts.count)).value(call.length);
  parameters.value(call.output_stride).value(call.source_stride);
  write_operand(output, parameters);
  write_operand(source, parameters);
  write_divisors(call.outer.sizes, parameters);
  dispatch.parameters = parameters.take();
  dispatch.groups = schedule.groups(rows);
  emission.add_dispatch(std::move(dispatch));
}

RowSchedule schedule_of(const ScanCall& call, bool may_cut, Emission& emission) {
  RowNest nest;
  nest.outer = call.outer;
  nest.inner = {{call.length}, {}, {{{}, DType::undefined, 0, {call.source_stride}}}, {}};
  return choose_row_schedule(nest, may_cut, emission);
}

// A row of `length` elements for each of the outer loops, without gaps.
NestOperand row_operand(const Placement& placement, std::span<const Dim> outer, const Dim& length) {
  NestOperand operand{placement.storage, placement.dtype, 0, std::vector<Dim>(outer.size(), Dim(0))};
  Dim stride = length;
  for (std::size_t i = outer.size(); i-- > 0;) {
    operand.strides[i] = stride;
    stride = stride * outer[i];
  }
  return operand;
}

}  // namespace

void emit_scan(const Node& node, Emission& emission) {
  const auto& op = static_cast<const Scan&>(*node.op);
  const Shape& shape = emission.graph().fact(node.inputs[0]).shape;
  const auto axis = static_cast<std::size_t>(op.axis());
  LoopNest nest;
  nest.sizes = shape;
  nest.output = placed_operand(emission.placement(node.outputs[0]));
  nest.inputs = {placed_operand(emission.placement(node.inputs[0]))};
  ScanCall call{op.function(),
                op.exclusive(),
                op.reverse(),
                {},
                shape[axis],
                nest.inputs[0].strides[axis],
                nest.output.strides[axis]};
  std::vector<bool> along(shape.size(), false);
  along[axis] = true;
  call.outer = cut_into_rows(nest, along).outer;
  simplify_loops(call.outer, emission.assumptions().sizes());
  const RowSchedule schedule = schedule_of(call, true, emission);
  if (schedule.parts <= 1) return emit_parts(call, schedule, {}, emission);

  const std::array totals_shape{element_count(call.outer.sizes), Dim(schedule.parts)};
  const DType dtype = register_dtype(call.outer.inputs[0].dtype);
  const Placement totals = emission.add_arena(dtype, totals_shape, Layout::row_major(2));
  const Placement starts = emission.add_arena(dtype, totals_shape, Layout::row_major(2));
  ScanCall first = call;
  first.outer.output = row_operand(totals, call.outer.sizes, schedule.parts);
  emit_parts(first, schedule, {schedule.parts, std::nullopt, true}, emission);
  ScanCall second{op.function(), true, false, call.outer, schedule.parts, 1, 1};
  second.outer.output = row_operand(starts, call.outer.sizes, schedule.parts);
  second.outer.inputs[0] = row_operand(totals, call.outer.sizes, schedule.parts);
  emit_parts(second, schedule_of(second, false, emission), {}, emission);
  emit_parts(call, schedule, {schedule.parts, starts, false}, emission);
}

}  // namespace lapilli
