#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "program/device_traits.h"
#include "program/program.h"

namespace lapilli {

/// A pair of dispatches that touch the same bytes, one of them writing, with no barrier between them.
struct Hazard {
  std::size_t earlier = 0, later = 0;  ///< indices into Program::steps
  std::uint32_t segment = 0;
  std::uint64_t begin = 0, end = 0;  ///< the shared bytes
};

/// All hazards of a Program, whose bindings lie in its segments. Written apart from the planner, as its judge. Throws
/// Error (limit_exceeded) when steps between two barriers touch the same segments too often to compare them all.
std::vector<Hazard> find_hazards(const Program& program);

/// Throws Error (internal) that names the step when the Program breaks a rule of its own format, reads or writes
/// outside of a segment, writes a constant or an input, or has a hazard, and (limit_exceeded) when it is past a limit
/// of the device. It trusts nothing of the Program, and takes a bounded time.
void verify(const Program& program, const DeviceTraits& traits);

}  // namespace lapilli
