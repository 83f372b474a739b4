#include "plan/windows.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <utility>

#include "base/checked.h"
#include "base/packed.h"

namespace lapilli {
namespace {

// Into how many a dispatch is cut: a model cannot ask for work without end.
constexpr std::int64_t most_parts = 4096;

// What kernels load at once is within one such block.
constexpr std::int64_t block_bytes = 16;

struct Elements {
  std::int64_t first = 0, last = 0;
};

std::int64_t length_of(std::int64_t stride, std::int64_t size) {
  return checked_multiply(stride, std::max<std::int64_t>(size, 1) - 1);
}

Elements touched(const CutOperand& operand, const LoopPart& part) {
  Elements elements{operand.offset - operand.before, operand.offset + operand.after};
  for (std::size_t i = 0; i < part.sizes.size(); ++i) {
    const std::int64_t start = checked_multiply(operand.strides[i], part.starts[i]);
    const std::int64_t along = length_of(operand.strides[i], part.sizes[i]);
    elements.first += start + std::min<std::int64_t>(along, 0);
    elements.last += start + std::max<std::int64_t>(along, 0);
  }
  // What lies outside of the storage is padding, which no kernel reads.
  const std::int64_t count = operand.storage / operand.width;
  elements.first = std::clamp<std::int64_t>(elements.first, 0, std::max<std::int64_t>(count - 1, 0));
  elements.last = std::clamp<std::int64_t>(elements.last, elements.first, std::max<std::int64_t>(count - 1, 0));
  return elements;
}

bool fits(const CutOperand& operand, const LoopPart& part, const BindingLimits& limits) {
  return window_of(operand, part, limits).bytes <= limits.range;
}

// The loop that moves the operand farthest, and may be cut.
std::optional<std::size_t> widest_loop(const CutOperand& operand, const LoopPart& part,
                                       const std::vector<bool>& fixed) {
  std::optional<std::size_t> widest;
  std::int64_t farthest = 0;
  for (std::size_t i = 0; i < part.sizes.size(); ++i) {
    const std::int64_t along = std::abs(length_of(operand.strides[i], part.sizes[i]));
    if (fixed[i] || along <= farthest) continue;
    widest = i;
    farthest = along;
  }
  return widest;
}

// How many steps of the loop one part takes: as many as fit, or half of them where other loops are too wide as well.
std::int64_t steps_of_part(const CutOperand& operand, const LoopPart& part, std::size_t loop,
                           const BindingLimits& limits) {
  const std::int64_t size = part.sizes[loop], stride = std::abs(operand.strides[loop]);
  LoopPart thin = part;
  thin.sizes[loop] = 1;
  const Elements rest = touched(operand, thin);
  const std::int64_t room = (limits.range - limits.alignment - block_bytes) / operand.width;
  const std::int64_t left = room - (rest.last - rest.first + 1);
  if (left < 0) return (size + 1) / 2;
  const std::int64_t most = std::clamp<std::int64_t>(left / stride + 1, 1, size - 1);
  const std::int64_t parts = divide_up(size, most);
  return divide_up(size, parts);
}

CutOperand cut_operand(const NestOperand& operand, Emission& emission) {
  Assumptions& assumptions = emission.assumptions();
  return {assumptions.number(operand.offset),
          numbers(operand.strides, assumptions),
          0,
          0,
          static_cast<std::int64_t>(device_element_bytes(operand.dtype)),
          assumptions.number(emission.storage_bytes(operand.storage))};
}

}  // namespace

void CutOperand::reach(std::int64_t stride, std::int64_t steps) {
  const std::int64_t distance = checked_multiply(stride, std::max<std::int64_t>(steps, 0));
  (distance < 0 ? before : after) += std::abs(distance);
}

BindingLimits binding_limits(const DeviceTraits& traits) {
  constexpr std::uint64_t most = std::uint64_t{1} << 62U;
  return {static_cast<std::int64_t>(std::min(traits.max_storage_range, most)),
          static_cast<std::int64_t>(std::max<std::uint64_t>(traits.storage_alignment, block_bytes))};
}

StorageWindow window_of(const CutOperand& operand, const LoopPart& part, const BindingLimits& limits) {
  const Elements elements = touched(operand, part);
  const std::int64_t begin = elements.first * operand.width / limits.alignment * limits.alignment;
  const std::int64_t storage = align_up(std::max<std::int64_t>(operand.storage, 4), std::int64_t{4});
  const std::int64_t end = std::min(align_up((elements.last + 1) * operand.width, block_bytes), storage);
  return {begin, std::max<std::int64_t>(end - begin, 4)};
}

std::vector<LoopPart> cut_loops(std::span<const std::int64_t> sizes, const std::vector<bool>& fixed,
                                std::span<const CutOperand> operands, const BindingLimits& limits) {
  std::vector<LoopPart> waiting{{std::vector<std::int64_t>(sizes.size(), 0), {sizes.begin(), sizes.end()}}};
  std::vector<LoopPart> done;
  while (!waiting.empty()) {
    LoopPart part = std::move(waiting.back());
    waiting.pop_back();
    const auto large =
        std::ranges::find_if(operands, [&](const auto& operand) { return !fits(operand, part, limits); });
    if (large == operands.end()) {
      done.push_back(std::move(part));
      continue;
    }
    const auto loop = widest_loop(*large, part, fixed);
    if (!loop) {
      fail(ErrorCode::limit_exceeded, "{} bytes of a tensor of {} are needed at once, but the device binds {}",
           window_of(*large, part, limits).bytes, large->storage, limits.range);
    }
    const std::int64_t steps = steps_of_part(*large, part, *loop, limits);
    const std::int64_t pieces = divide_up(part.sizes[*loop], steps);
    if (pieces > most_parts || std::cmp_greater(waiting.size() + done.size(), most_parts - pieces)) {
      fail(ErrorCode::limit_exceeded, "more than {} dispatches are needed, since the device binds {} bytes at once",
           most_parts, limits.range);
    }
    // The last part is taken from `waiting` first, so that the results are in order.
    for (std::int64_t start = (part.sizes[*loop] - 1) / steps * steps; start >= 0; start -= steps) {
      LoopPart piece = part;
      piece.starts[*loop] += start;
      piece.sizes[*loop] = std::min(steps, part.sizes[*loop] - start);
      waiting.push_back(std::move(piece));
    }
  }
  return done;
}

bool exceeds_bindings(std::span<const StorageId> storages, Emission& emission) {
  const Dim range = binding_limits(emission.traits()).range;
  constexpr std::uint64_t most = std::uint64_t{1} << 62U;
  const Dim allocation = static_cast<std::int64_t>(std::min(emission.traits().max_allocation, most));
  bool exceeds = false;
  for (const StorageId storage : storages) {
    // No use in parts: it cannot be had at all, and instantiate says so.
    if (emission.assumptions().less(allocation, emission.storage_bytes(storage))) return false;
    exceeds = emission.assumptions().less(range, emission.storage_bytes(storage)) || exceeds;
  }
  return exceeds;
}

namespace {

// The part of a nest, with the windows that its operands have there.
LoopNest nest_part(const LoopNest& nest, const LoopPart& part, std::span<const CutOperand> operands,
                   const BindingLimits& limits) {
  LoopNest piece = nest;
  const auto move = [&](NestOperand& operand) {
    for (std::size_t loop = 0; loop < part.starts.size(); ++loop) {
      if (part.starts[loop] != 0) operand.offset = operand.offset + operand.strides[loop] * Dim(part.starts[loop]);
    }
  };
  for (std::size_t loop = 0; loop < part.sizes.size(); ++loop) piece.sizes[loop] = part.sizes[loop];
  move(piece.output);
  std::ranges::for_each(piece.inputs, move);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    NestOperand& operand = i == 0 ? piece.output : piece.inputs[i - 1];
    operand.window = window_of(operands[i], part, limits);
    operand.offset = operand.offset - Dim(operand.window->begin / operands[i].width);
  }
  return piece;
}

}  // namespace

UnrolledLoop loop_to_unroll(std::span<const Dim> sizes, std::size_t most, std::size_t parts, Emission& emission) {
  const std::vector<std::int64_t> steps = numbers(sizes, emission.assumptions());
  const auto shortest = std::ranges::min_element(steps);
  if (std::cmp_greater(checked_multiply(static_cast<std::int64_t>(parts), *shortest), most_parts)) {
    fail(ErrorCode::limit_exceeded,
         "{} nested loops are left where kernels have {}, and step by step they take more than {} dispatches",
         sizes.size(), most, most_parts);
  }
  return {static_cast<std::size_t>(shortest - steps.begin()), *shortest};
}

std::vector<LoopNest> cut_to_kernel_loops(LoopNest nest, std::size_t loops, Emission& emission) {
  std::vector<LoopNest> parts;
  parts.push_back(std::move(nest));
  const auto without = [](LoopNest whole, std::size_t loop, std::int64_t step) {
    const auto drop = [&](NestOperand& operand) {
      operand.offset = operand.offset + operand.strides[loop] * Dim(step);
      operand.strides.erase(operand.strides.begin() + static_cast<std::ptrdiff_t>(loop));
    };
    whole.sizes.erase(whole.sizes.begin() + static_cast<std::ptrdiff_t>(loop));
    drop(whole.output);
    std::ranges::for_each(whole.inputs, drop);
    return whole;
  };
  for (std::size_t left = loops; left > most_loops && !parts.empty(); --left) {
    const auto [loop, steps] =
        loop_to_unroll(std::span(parts.front().sizes).first(left), most_loops, parts.size(), emission);
    std::vector<LoopNest> cut;
    for (const LoopNest& part : parts) {
      for (std::int64_t step = 0; step < steps; ++step) cut.push_back(without(part, loop, step));
    }
    parts = std::move(cut);
  }
  return parts;
}

namespace {

std::vector<LoopNest> cut_operands(LoopNest nest, const NestCut& cut, Emission& emission) {
  std::vector<StorageId> storages{nest.output.storage};
  for (std::size_t i = 0; i < cut.bound; ++i) storages.push_back(nest.inputs[i].storage);
  std::vector<LoopNest> nests;
  const bool exceeds = exceeds_bindings(storages, emission);
  const std::vector<std::int64_t> sizes =
      exceeds ? numbers(nest.sizes, emission.assumptions()) : std::vector<std::int64_t>();
  if (!exceeds || std::ranges::contains(sizes, 0)) {
    nests.push_back(std::move(nest));
    return nests;
  }
  std::vector<CutOperand> operands{cut_operand(nest.output, emission)};
  for (std::size_t i = 0; i < cut.bound; ++i) operands.push_back(cut_operand(nest.inputs[i], emission));
  if (cut.bound != 0) operands[1].after += cut.beyond;
  std::vector<bool> fixed(sizes.size(), false);
  for (std::size_t loop = cut.loops; loop < sizes.size(); ++loop) fixed[loop] = true;
  const BindingLimits limits = binding_limits(emission.traits());
  for (const LoopPart& part : cut_loops(sizes, fixed, operands, limits)) {
    nests.push_back(nest_part(nest, part, operands, limits));
  }
  return nests;
}

}  // namespace

std::vector<LoopNest> cut_to_bindings(LoopNest nest, const NestCut& cut, Emission& emission) {
  if (cut.loops <= most_loops) return cut_operands(std::move(nest), cut, emission);
  std::vector<LoopNest> nests;
  for (LoopNest& part : cut_to_kernel_loops(std::move(nest), cut.loops, emission)) {
    std::ranges::move(cut_operands(std::move(part), {cut.bound, most_loops, cut.beyond}, emission),
                      std::back_inserter(nests));
  }
  return nests;
}

std::vector<RowNest> cut_to_bindings(const RowNest& nest, bool output_has_rows, Emission& emission) {
  LoopNest whole = nest.outer;
  whole.sizes.insert(whole.sizes.end(), nest.inner.sizes.begin(), nest.inner.sizes.end());
  const auto append = [&](NestOperand& operand, const NestOperand* inner) {
    std::vector<Dim> strides = inner != nullptr ? inner->strides : std::vector<Dim>(nest.inner.sizes.size(), Dim(0));
    operand.strides.insert(operand.strides.end(), strides.begin(), strides.end());
  };
  append(whole.output, output_has_rows ? &nest.inner.output : nullptr);
  for (std::size_t i = 0; i < whole.inputs.size(); ++i) {
    append(whole.inputs[i], i < nest.inner.inputs.size() ? &nest.inner.inputs[i] : nullptr);
  }
  const std::size_t loops = nest.outer.sizes.size();
  std::vector<RowNest> rows;
  for (LoopNest& piece : cut_to_bindings(std::move(whole), {nest.outer.inputs.size(), loops, 0}, emission)) {
    const std::size_t left = piece.sizes.size() - nest.inner.sizes.size();
    piece.sizes.resize(left);
    piece.output.strides.resize(left);
    for (NestOperand& input : piece.inputs) input.strides.resize(left);
    rows.push_back({std::move(piece), nest.inner});
  }
  return rows;
}

std::vector<std::int64_t> numbers(std::span<const Dim> dims, Assumptions& assumptions) {
  std::vector<std::int64_t> values;
  for (const Dim& dim : dims) values.push_back(assumptions.number(dim));
  return values;
}

StorageAccess access_of(const NestOperand& operand, Access access) {
  return {operand.storage, access, operand.window};
}

}  // namespace lapilli
