#pragma once

#include "plan/structure.h"
#include "program/device_traits.h"
#include "program/plan_report.h"
#include "program/program.h"

namespace lapilli {

struct InstantiatedProgram {
  Program program;
  PlanReport report;
};

/// Puts numbers into a structure: sizes, places in the arena, parameters, group counts, and the barriers that hazards
/// need. Throws Error (limit_exceeded) that names the node, the size and the limit of the device.
InstantiatedProgram instantiate(const Structure& structure, const SymbolValues& sizes, const DeviceTraits& traits);

}  // namespace lapilli
