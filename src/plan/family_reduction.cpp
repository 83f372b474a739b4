#include <array>

#include "ops/reduction.h"
#include "plan/epilogue.h"
#include "plan/families.h"
#include "plan/rows.h"
#include "plan/windows.h"

namespace lapilli {
namespace {

struct ReductionCall {
  ReductionFunction function = ReductionFunction::sum;
  Preparation preparation = Preparation::none;
  RowNest nest;  // inputs of the outer loops: the source, then the epilogue's
  PointwiseChain epilogue;
  DType result = DType::undefined;  // what goes into the epilogue
  Dim count;                        // what the mean is divided by
};

struct Parts {
  Dim count = 1;
  Dim length;
};

void emit_rows(const ReductionCall& call, const RowSchedule& schedule, const Parts& parts, Emission& emission) {
  const LoopNest &outer = call.nest.outer, &inner = call.nest.inner;
  const auto operands = std::span(outer.inputs).subspan(1);
  const EncodedChain chain = encode_epilogue(call.epilogue, call.result, operands);

  SymbolicDispatch dispatch;
  dispatch.kernel = "reduction";
  dispatch.capabilities = level_of_all(outer.inputs, std::max(chain.level, level_of(outer.output.dtype)));
  dispatch.specialization = {schedule.invocations,
                             schedule.lanes,
                             schedule.lanes_adjacent ? 1U : 0U,
                             static_cast<std::uint32_t>(call.function),
                             static_cast<std::uint32_t>(call.preparation),
                             static_cast<std::uint32_t>(outer.sizes.size()),
                             static_cast<std::uint32_t>(inner.sizes.size()),
                             static_cast<std::uint32_t>(outer.inputs[0].dtype),
                             static_cast<std::uint32_t>(outer.output.dtype),
                             static_cast<std::uint32_t>(operands.size()),
                             packed_dtypes(operands)};
  dispatch.specialization.insert(dispatch.specialization.end(), chain.constants.begin(), chain.constants.end());
  dispatch.bindings = epilogue_bindings(outer, operands.size());

  ParameterWriter parameters;
  const Dim rows = call.nest.rows() * parts.count;
  parameters.value(rows).divisor(parts.count).value(parts.length).value(call.nest.length()).value(call.count);
  write_operand(outer.output, parameters);
  for (const NestOperand& input : outer.inputs) write_operand(input, parameters);
  write_divisors(outer.sizes, parameters);
  for (const Dim& stride : inner.inputs[0].strides) parameters.value(stride);
  write_divisors(inner.sizes, parameters);
  dispatch.parameters = parameters.take();
  dispatch.parameters.insert(dispatch.parameters.end(), chain.immediates.begin(), chain.immediates.end());
  dispatch.groups = schedule.groups(rows);
  emission.add_dispatch(std::move(dispatch));
}

// The second of two dispatches: along what the first one found for the parts of each row.
ReductionCall over_parts(const ReductionCall& call, const NestOperand& partial, std::int64_t parts) {
  ReductionCall rest = call;
  rest.preparation = Preparation::none;
  rest.nest.outer.inputs[0] = partial;
  rest.nest.inner = {{Dim(parts)}, {}, {{partial.storage, partial.dtype, 0, {Dim(1)}}}, {}};
  return rest;
}

void emit_part(const ReductionCall& call, Emission& emission) {
  const bool may_cut = call.function < ReductionFunction::log_sum_exp;
  const RowSchedule schedule = choose_row_schedule(call.nest, may_cut, emission);
  const Dim length = call.nest.length();
  if (schedule.parts <= 1) return emit_rows(call, schedule, {1, length}, emission);

  const LoopNest& outer = call.nest.outer;
  const std::array shape{call.nest.rows(), Dim(schedule.parts)};
  const DType dtype = register_dtype(outer.inputs[0].dtype);
  const Placement partial = emission.add_arena(dtype, shape, Layout::row_major(2));
  NestOperand operand{partial.storage, dtype, 0, std::vector<Dim>(outer.sizes.size(), Dim(1))};
  Dim stride = schedule.parts;
  for (std::size_t i = outer.sizes.size(); i-- > 0;) {
    operand.strides[i] = stride;
    stride = stride * outer.sizes[i];
  }
  ReductionCall first = call;
  first.epilogue = {};
  first.nest.outer.output = operand;
  first.nest.outer.inputs.resize(1);
  if (call.function == ReductionFunction::mean) first.function = ReductionFunction::sum;
  emit_rows(first, schedule, {schedule.parts, Dim::ceil_divide(length, schedule.parts)}, emission);

  const ReductionCall second = over_parts(call, operand, schedule.parts);
  const RowSchedule rest = choose_row_schedule(second.nest, false, emission);
  emit_rows(second, rest, {1, schedule.parts}, emission);
}

void emit_call(ReductionCall call, Emission& emission) {
  simplify_rows(call.nest, emission.assumptions().sizes());
  for (RowNest& rows : cut_to_bindings(call.nest, false, emission)) {
    ReductionCall part = call;
    part.nest = std::move(rows);
    emit_part(part, emission);
  }
}

std::vector<bool> axes_mask(std::size_t rank, std::span<const int> axes) {
  std::vector<bool> mask(rank, false);
  for (const int axis : axes) mask[static_cast<std::size_t>(axis)] = true;
  return mask;
}

}  // namespace

void emit_reduction(const Node& node, Emission& emission) {
  const auto& op = static_cast<const Reduction&>(*node.op);
  const Fact& fact = emission.graph().fact(node.inputs[0]);
  LoopNest nest;
  nest.sizes = fact.shape;
  nest.output = placed_operand(emission.placement(node.outputs[0]));
  nest.inputs = {placed_operand(emission.placement(node.inputs[0]))};
  const std::vector<NestOperand> operands = epilogue_operands(op, node, emission);
  nest.inputs.insert(nest.inputs.end(), operands.begin(), operands.end());
  RowNest rows = cut_into_rows(nest, axes_mask(fact.shape.size(), op.axes()));
  rows.inner.inputs.resize(1);
  rows.inner.output = rows.inner.inputs[0];
  const Dim count = rows.length();
  emit_call({op.function(), op.preparation(), std::move(rows), op.epilogue(), fact.dtype, count}, emission);
}

void emit_extreme_index(const Node& node, Emission& emission) {
  const auto& op = static_cast<const ExtremeIndex&>(*node.op);
  const Fact& fact = emission.graph().fact(node.inputs[0]);
  LoopNest nest;
  nest.sizes = fact.shape;
  nest.output = placed_operand(emission.placement(node.outputs[0]));
  nest.inputs = {placed_operand(emission.placement(node.inputs[0]))};
  const std::array axes{op.axis()};
  RowNest rows = cut_into_rows(nest, axes_mask(fact.shape.size(), axes));
  rows.inner.output = rows.inner.inputs[0];
  const Dim count = rows.length();
  emit_call({op.function(), Preparation::none, std::move(rows), {}, DType::int64, count}, emission);
}

}  // namespace lapilli
