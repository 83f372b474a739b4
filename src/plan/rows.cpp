#include "plan/rows.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <limits>

namespace lapilli {
namespace {

std::vector<Dim> pick(std::span<const Dim> all, const std::vector<bool>& chosen, bool value) {
  std::vector<Dim> picked;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (chosen[i] == value) picked.push_back(all[i]);
  }
  return picked;
}

NestOperand pick(const NestOperand& operand, const std::vector<bool>& chosen, bool value) {
  return {operand.storage, operand.dtype, operand.offset, pick(std::span(operand.strides), chosen, value)};
}

LoopNest pick(const LoopNest& nest, const std::vector<bool>& chosen, bool value) {
  LoopNest result;
  result.sizes = pick(std::span(nest.sizes), chosen, value);
  result.output = pick(nest.output, chosen, value);
  for (const NestOperand& input : nest.inputs) result.inputs.push_back(pick(input, chosen, value));
  return result;
}

// The least distance in memory that a loop moves the source.
std::int64_t smallest_step(const LoopNest& nest, const SymbolValues& sizes) {
  std::int64_t smallest = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < nest.sizes.size(); ++i) {
    if (nest.sizes[i].evaluate(sizes) <= 1) continue;
    smallest = std::min(smallest, std::abs(nest.inputs[0].strides[i].evaluate(sizes)));
  }
  return smallest;
}

std::uint32_t power_of_two(std::int64_t value, std::uint32_t most) {
  const auto positive = static_cast<std::uint64_t>(std::max<std::int64_t>(value, 1));
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(std::bit_ceil(positive), most));
}

}  // namespace

RowNest cut_into_rows(const LoopNest& nest, const std::vector<bool>& is_inner) {
  return {pick(nest, is_inner, false), pick(nest, is_inner, true)};
}

void simplify_rows(RowNest& nest, const SymbolValues& sizes) {
  merge_loops(nest.outer, sizes);
  std::swap(nest.inner.output, nest.inner.inputs[0]);
  simplify_loops(nest.inner, sizes);
  std::swap(nest.inner.output, nest.inner.inputs[0]);
}

RowSchedule choose_row_schedule(const RowNest& nest, bool may_cut, Emission& emission) {
  const SymbolValues& sizes = emission.assumptions().sizes();
  const DeviceTraits& traits = emission.traits();
  const std::int64_t rows = std::max<std::int64_t>(nest.rows().evaluate(sizes), 1);
  const std::int64_t length = std::max<std::int64_t>(nest.length().evaluate(sizes), 1);
  RowSchedule schedule;
  const std::uint32_t most = std::bit_floor(std::min<std::uint32_t>(traits.max_group_invocations, 256));
  schedule.invocations = traits.software ? std::min<std::uint32_t>(32, most) : most;
  // What keeps a whole device busy, and what makes one invocation worth its start.
  const std::int64_t enough_invocations = traits.software ? 256 : 1 << 16U;
  const std::int64_t enough_elements = traits.software ? 256 : 4;
  schedule.lanes_adjacent = smallest_step(nest.inner, sizes) <= smallest_step(nest.outer, sizes);
  const std::uint32_t useful = power_of_two((length + enough_elements - 1) / enough_elements, schedule.invocations);
  if (schedule.lanes_adjacent && !traits.software) {
    schedule.lanes = useful;
  } else {
    // Rows side by side read neighbouring elements: they keep the workgroup unless there are too few.
    const std::uint32_t wanted = power_of_two(enough_invocations / rows, schedule.invocations);
    schedule.lanes = std::min(useful, wanted);
    if (!schedule.lanes_adjacent && rows >= 16) schedule.lanes = std::min(schedule.lanes, schedule.invocations / 16);
  }
  const std::int64_t busy = rows * schedule.lanes;
  if (may_cut && busy < enough_invocations) {
    const std::int64_t useful_parts = length / (std::int64_t{schedule.lanes} * enough_elements * 8);
    schedule.parts = std::clamp<std::int64_t>(std::min(useful_parts, enough_invocations / busy), 1, 1024);
  }
  return schedule;
}

NestOperand placed_operand(const Placement& placement) {
  return {placement.storage, placement.dtype, placement.offset, placement.strides};
}

std::uint32_t choose_invocations(const DeviceTraits& traits) {
  return traits.software ? 32 : std::min<std::uint32_t>(256, traits.max_group_invocations);
}

KernelLevel level_of_all(std::span<const NestOperand> operands, KernelLevel level) {
  for (const NestOperand& operand : operands) level = std::max(level, level_of(operand.dtype));
  return level;
}

std::uint32_t packed_dtypes(std::span<const NestOperand> operands) {
  std::vector<DType> dtypes;
  for (const NestOperand& operand : operands) dtypes.push_back(operand.dtype);
  return pack_dtypes(dtypes);
}

}  // namespace lapilli
