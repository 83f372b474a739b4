#include "plan/loop_nest.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/failure.h"
#include "base/small_float.h"
#include "plan/windows.h"

namespace lapilli {
namespace {

constexpr std::uint8_t first_immediate_register = 8, first_step_register = 16;

template <class Action>
void for_each_operand(LoopNest& nest, Action&& action) {
  action(nest.output);
  std::ranges::for_each(nest.inputs, action);
}

void keep_loops(LoopNest& nest, const std::vector<std::size_t>& loops) {
  const auto pick = [&](const std::vector<Dim>& all) {
    std::vector<Dim> picked;
    for (const std::size_t loop : loops) picked.push_back(all[loop]);
    return picked;
  };
  nest.sizes = pick(nest.sizes);
  for_each_operand(nest, [&](NestOperand& operand) { operand.strides = pick(operand.strides); });
}

// Outermost first by the output's strides, so that neighbouring invocations write neighbouring elements. Any order is
// right, so the sizes at hand decide without becoming an assumption.
void order_loops(LoopNest& nest, const SymbolValues& sizes) {
  std::vector<std::size_t> loops;
  for (std::size_t i = 0; i < nest.sizes.size(); ++i) {
    if (nest.sizes[i] != Dim(1)) loops.push_back(i);
  }
  std::vector<std::int64_t> strides;
  for (const Dim& stride : nest.output.strides) strides.push_back(std::abs(stride.evaluate(sizes)));
  std::ranges::stable_sort(loops, [&](std::size_t a, std::size_t b) { return strides[a] > strides[b]; });
  keep_loops(nest, loops);
}

void join_loops(LoopNest& nest) {
  for (std::size_t i = nest.sizes.size(); i-- > 1;) {
    bool mergeable = true;
    for_each_operand(nest, [&](const NestOperand& operand) {
      mergeable = mergeable && operand.strides[i - 1] == operand.strides[i] * nest.sizes[i];
    });
    if (!mergeable) continue;
    nest.sizes[i - 1] = nest.sizes[i - 1] * nest.sizes[i];
    nest.sizes.erase(nest.sizes.begin() + static_cast<std::ptrdiff_t>(i));
    for_each_operand(nest, [&](NestOperand& operand) {
      operand.strides.erase(operand.strides.begin() + static_cast<std::ptrdiff_t>(i - 1));
    });
  }
  if (nest.sizes.empty()) {
    nest.sizes.emplace_back(1);
    for_each_operand(nest, [](NestOperand& operand) { operand.strides.emplace_back(0); });
  }
}

std::uint32_t encode_step(const PointwiseStep& step, DType source, std::span<const std::uint8_t> registers) {
  const auto argument = [&](std::size_t i) { return std::uint32_t{registers[step.arguments[i]]}; };
  const std::uint32_t third = is_cast(step.function) ? static_cast<std::uint32_t>(source) : argument(2);
  return static_cast<std::uint32_t>(step.function) | static_cast<std::uint32_t>(step.dtype) << 8U |
         argument(0) << 14U | argument(1) << 20U | third << 26U;
}

void append_immediate(const Immediate& immediate, std::vector<ParameterWord>& words) {
  std::uint64_t bits = static_cast<std::uint64_t>(immediate.integer);
  if (immediate.dtype == DType::float64) {
    bits = std::bit_cast<std::uint64_t>(immediate.real);
  } else if (is_floating_point(immediate.dtype)) {
    bits = std::bit_cast<std::uint32_t>(static_cast<float>(immediate.real));
  }
  words.push_back({ParameterWord::Kind::literal, static_cast<std::uint32_t>(bits), {}});
  words.push_back({ParameterWord::Kind::literal, static_cast<std::uint32_t>(bits >> 32U), {}});
}

struct GroupShape {
  std::uint32_t invocations, elements;
};

GroupShape choose_group(const Dim& count, const DeviceTraits& traits, const SymbolValues& sizes) {
  if (traits.software) return {32, 8};
  const std::uint32_t invocations = std::min<std::uint32_t>(256, traits.max_group_invocations);
  // Enough groups for every multiprocessor first, then more elements for each invocation.
  constexpr std::int64_t enough_groups = 2048;
  const std::int64_t groups = count.evaluate(sizes) / invocations;
  return {invocations, groups > 4 * enough_groups ? 4U : groups > 2 * enough_groups ? 2U : 1U};
}

}  // namespace

void merge_loops(LoopNest& nest, const SymbolValues& sizes) {
  order_loops(nest, sizes);
  join_loops(nest);
}

void simplify_loops(LoopNest& nest, const SymbolValues& sizes) {
  merge_loops(nest, sizes);
  if (nest.sizes.size() > most_loops) {
    fail(ErrorCode::unsupported, "{} nested loops are left where kernels have {}", nest.sizes.size(), most_loops);
  }
}

void write_operand(const NestOperand& operand, ParameterWriter& parameters) {
  parameters.value(operand.offset);
  for (const Dim& stride : operand.strides) parameters.value(stride);
}

void write_divisors(std::span<const Dim> sizes, ParameterWriter& parameters) {
  for (std::size_t i = 1; i < sizes.size(); ++i) parameters.divisor(sizes[i]);
}

DType register_dtype(DType dtype) noexcept {
  return is_floating_point(dtype) && dtype != DType::float64 ? DType::float32 : dtype;
}

std::uint32_t pack_dtypes(std::span<const DType> dtypes) {
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < dtypes.size() && i < 4; ++i) word |= static_cast<std::uint32_t>(dtypes[i]) << (8 * i);
  return word;
}

EncodedChain encode_chain(const PointwiseChain& chain, std::span<const DType> input_dtypes,
                          std::size_t step_capacity) {
  EncodedChain encoded;
  std::vector<std::uint8_t> registers;
  std::vector<DType> dtypes(input_dtypes.begin(), input_dtypes.end());
  for (std::uint8_t i = 0; i < chain.input_count; ++i) registers.push_back(i);
  std::vector<DType> immediate_dtypes;
  for (std::size_t i = 0; i < chain.immediates.size(); ++i) {
    registers.push_back(static_cast<std::uint8_t>(first_immediate_register + i));
    immediate_dtypes.push_back(register_dtype(chain.immediates[i].dtype));
    append_immediate(chain.immediates[i], encoded.immediates);
  }
  dtypes.insert(dtypes.end(), immediate_dtypes.begin(), immediate_dtypes.end());
  std::vector<std::uint32_t> steps(step_capacity, 0);
  for (std::size_t i = 0; i < chain.steps.size(); ++i) {
    const PointwiseStep& step = chain.steps[i];
    steps[i] = encode_step(step, dtypes[step.arguments[0]], registers);
    registers.push_back(static_cast<std::uint8_t>(first_step_register + i));
    dtypes.push_back(result_dtype(step));
  }
  for (const DType dtype : dtypes) {
    const DType held = register_dtype(dtype);
    // Registers of integers and of bool are 32 bits wide at every level, so narrow types cost nothing here.
    if (bit_width(held) == 64 || is_small_float(dtype)) encoded.level = std::max(encoded.level, level_of(dtype));
  }
  const std::size_t result = chain.empty() ? 0 : registers.size() - 1;
  // What float16 overflows to is infinite; float32 that is only stored as float16 is not.
  const DType result_type = dtypes[result] == DType::float16 ? DType::float16 : register_dtype(dtypes[result]);
  const auto low = std::span(immediate_dtypes).first(std::min<std::size_t>(4, immediate_dtypes.size()));
  const auto high = std::span(immediate_dtypes).subspan(low.size());
  encoded.constants = {
      static_cast<std::uint32_t>(chain.steps.size()),      registers[result], static_cast<std::uint32_t>(result_type),
      static_cast<std::uint32_t>(chain.immediates.size()), pack_dtypes(low),  pack_dtypes(high)};
  encoded.constants.insert(encoded.constants.end(), steps.begin(), steps.end());
  return encoded;
}

NestOperand broadcast_operand(const Placement& placement, std::span<const Dim> shape, std::span<const Dim> target,
                              Assumptions& assumptions) {
  NestOperand operand{placement.storage, placement.dtype, placement.offset, std::vector<Dim>(target.size(), Dim(0))};
  const std::size_t added = target.size() - shape.size();
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const bool repeated = shape[i] != target[added + i] && assumptions.equal(shape[i], 1);
    operand.strides[added + i] = repeated || shape[i] == Dim(1) ? Dim(0) : placement.strides[i];
  }
  return operand;
}

DType moved_dtype(DType dtype) noexcept {
  if (dtype == DType::bfloat16) return DType::uint16;
  return is_small_float(dtype) ? DType::uint8 : dtype;
}

namespace {

std::uint32_t emit_part(LoopNest& nest, Emission& emission, const std::vector<std::uint32_t>& after) {
  const Dim count = element_count(nest.sizes);
  const SymbolValues& sizes = emission.assumptions().sizes();
  std::vector<DType> dtypes;
  for (const NestOperand& input : nest.inputs) dtypes.push_back(input.dtype);
  const EncodedChain chain = encode_chain(nest.chain, dtypes, pointwise_limits.steps);

  SymbolicDispatch dispatch;
  dispatch.kernel = "pointwise";
  dispatch.capabilities = std::max(chain.level, level_of(nest.output.dtype));
  for (const DType dtype : dtypes) dispatch.capabilities = std::max(dispatch.capabilities, level_of(dtype));
  const GroupShape group = choose_group(count, emission.traits(), sizes);
  const auto low = std::span(dtypes).first(std::min<std::size_t>(4, dtypes.size()));
  dispatch.specialization = {group.invocations,
                             group.elements,
                             static_cast<std::uint32_t>(nest.sizes.size()),
                             static_cast<std::uint32_t>(nest.inputs.size()),
                             static_cast<std::uint32_t>(nest.output.dtype),
                             pack_dtypes(low),
                             pack_dtypes(std::span(dtypes).subspan(low.size()))};
  dispatch.specialization.insert(dispatch.specialization.end(), chain.constants.begin(), chain.constants.end());
  dispatch.bindings.push_back(access_of(nest.output, Access::write));
  for (const NestOperand& input : nest.inputs) dispatch.bindings.push_back(access_of(input, Access::read));
  // Bindings that the kernel declares but this variant never touches repeat the last one.
  dispatch.bindings.resize(1 + pointwise_limits.inputs, dispatch.bindings.back());

  ParameterWriter parameters;
  parameters.value(count);
  for_each_operand(nest, [&](const NestOperand& operand) { write_operand(operand, parameters); });
  write_divisors(nest.sizes, parameters);
  dispatch.parameters = parameters.take();
  dispatch.parameters.insert(dispatch.parameters.end(), chain.immediates.begin(), chain.immediates.end());
  dispatch.groups = Dim::ceil_divide(count, static_cast<std::int64_t>(group.invocations) * group.elements);
  dispatch.after = after;
  return emission.add_dispatch(std::move(dispatch));
}

}  // namespace

std::vector<std::uint32_t> emit_loop_nest(LoopNest nest, Emission& emission,
                                          const std::vector<std::uint32_t>& after) {
  const bool moves = nest.chain.empty() && nest.inputs.size() == 1 && nest.inputs[0].dtype == nest.output.dtype;
  if (moves) nest.inputs[0].dtype = nest.output.dtype = moved_dtype(nest.output.dtype);
  merge_loops(nest, emission.assumptions().sizes());
  const NestCut cut{nest.inputs.size(), nest.sizes.size(), 0};
  std::vector<std::uint32_t> dispatches;
  for (LoopNest& part : cut_to_bindings(std::move(nest), cut, emission)) {
    dispatches.push_back(emit_part(part, emission, after));
  }
  return dispatches;
}

}  // namespace lapilli
