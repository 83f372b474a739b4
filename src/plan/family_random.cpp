#include <bit>
#include <utility>

#include "ops/random.h"
#include "plan/families.h"
#include "plan/rows.h"

namespace lapilli {
namespace {

void write_number(double value, ParameterWriter& parameters) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  parameters.real(static_cast<float>(value));
  parameters.literal(static_cast<std::uint32_t>(bits)).literal(static_cast<std::uint32_t>(bits >> 32U));
}

}  // namespace

// An element's number decides what it is, so loops keep the order of the axes.
void emit_random(const Node& node, Emission& emission) {
  const RandomAttributes& random = static_cast<const Random&>(*node.op).random();
  LoopNest nest;
  nest.sizes = random.shape;
  nest.output = placed_operand(emission.placement(node.outputs[0]));
  const Dim count = element_count(nest.sizes);
  nest.inputs = {{{}, DType::undefined, 0, Layout::row_major(nest.sizes.size()).strides(nest.sizes)}};
  std::swap(nest.output, nest.inputs[0]);
  simplify_loops(nest, emission.assumptions().sizes());
  const NestOperand& output = nest.inputs[0];
  const std::uint32_t invocations = choose_invocations(emission.traits());

  SymbolicDispatch dispatch;
  dispatch.kernel = "random";
  dispatch.capabilities = level_of(output.dtype);
  dispatch.specialization = {invocations, static_cast<std::uint32_t>(random.distribution),
                             static_cast<std::uint32_t>(nest.sizes.size()), static_cast<std::uint32_t>(output.dtype)};
  dispatch.bindings = {{output.storage, Access::write}};
  ParameterWriter parameters;
  parameters.value(count);
  parameters.literal(static_cast<std::uint32_t>(random.seed))
      .literal(static_cast<std::uint32_t>(random.seed >> 32U))
      .literal(random.stream);
  write_number(random.first, parameters);
  write_number(random.second, parameters);
  write_operand(output, parameters);
  write_divisors(nest.sizes, parameters);
  dispatch.parameters = parameters.take();
  dispatch.groups = Dim::ceil_divide(count, std::int64_t{invocations});
  emission.add_dispatch(std::move(dispatch));
}

}  // namespace lapilli
