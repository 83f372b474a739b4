#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plan/emission.h"
#include "plan/loop_nest.h"
#include "plan/rows.h"

namespace lapilli {

/// An operand of loops whose sizes and strides are numbers, in elements. Around the element that the loops point at,
/// kernels touch `before` elements below and `after` above it, as far as the storage reaches.
struct CutOperand {
  std::int64_t offset = 0;
  std::vector<std::int64_t> strides;  ///< one a loop
  std::int64_t before = 0, after = 0;
  std::int64_t width = 1;    ///< bytes of an element
  std::int64_t storage = 0;  ///< bytes of the whole storage

  /// Takes in elements as far away as `steps` steps of `stride`.
  void reach(std::int64_t stride, std::int64_t steps);
};

/// A part of nested loops.
struct LoopPart {
  std::vector<std::int64_t> starts, sizes;
};

/// What a binding may take: bytes at once, and where it may begin.
struct BindingLimits {
  std::int64_t range = 0, alignment = 1;
};
BindingLimits binding_limits(const DeviceTraits& traits);

/// The bytes of its storage that the operand touches in this part, widened to what can be bound.
StorageWindow window_of(const CutOperand& operand, const LoopPart& part, const BindingLimits& limits);

/// Cuts loops, those marked `fixed` excepted, until each operand's window is small enough to be bound. One part when
/// all are. Throws Error (limit_exceeded) that names the size and the limit where no cut helps.
std::vector<LoopPart> cut_loops(std::span<const std::int64_t> sizes, const std::vector<bool>& fixed,
                                std::span<const CutOperand> operands, const BindingLimits& limits);

/// Whether any of these storages is larger than a binding may be, at the sizes at hand; the structure then serves
/// only sizes for which it stays so.
bool exceeds_bindings(std::span<const StorageId> storages, Emission& emission);

struct NestCut {
  std::size_t bound = 0;    ///< so many of the inputs, the first ones, have memory
  std::size_t loops = 0;    ///< so many of the loops, the outermost ones, may be cut
  std::int64_t beyond = 0;  ///< elements that kernels touch above those that loops point at, of input 0
};
/// A loop that is taken one step at a time, a part each.
struct UnrolledLoop {
  std::size_t loop = 0;
  std::int64_t steps = 0;
};
/// The shortest of the loops, where a kernel has `most` and there are `parts` already. Throws Error (limit_exceeded)
/// where that takes too many dispatches.
UnrolledLoop loop_to_unroll(std::span<const Dim> sizes, std::size_t most, std::size_t parts, Emission& emission);

/// The nest in parts with no more loops than kernels have: of the `loops` outermost ones, those with the fewest steps
/// are taken one step at a time (loop_to_unroll). The parts have equal sizes, and there is none where there are no
/// elements.
std::vector<LoopNest> cut_to_kernel_loops(LoopNest nest, std::size_t loops, Emission& emission);

/// The nest in parts that kernels have loops for and whose operands can be bound.
std::vector<LoopNest> cut_to_bindings(LoopNest nest, const NestCut& cut, Emission& emission);

/// The same for rows, which stay whole: outer loops are cut. All inputs of the outer nest are bound; those that the
/// inner one has too are the first ones. `output_has_rows`: or one element a row.
std::vector<RowNest> cut_to_bindings(const RowNest& nest, bool output_has_rows, Emission& emission);

/// How a dispatch accesses an operand.
StorageAccess access_of(const NestOperand& operand, Access access);

/// The numbers that dimensions have now.
std::vector<std::int64_t> numbers(std::span<const Dim> dims, Assumptions& assumptions);

}  // namespace lapilli
