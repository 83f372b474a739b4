#pragma once

#include "kernels/kernel_table.h"
#include "program/device_traits.h"
#include "program/program.h"

namespace lapilli {

/// The kernel of a pipeline. Throws Error (internal) when there is none, or the specification does not fit it, and
/// (limit_exceeded) when the device cannot take it.
const KernelModule& verify_pipeline(const PipelineSpec& spec, const DeviceTraits& traits);

/// The same for all pipelines of a Program; and each dispatch gives its kernel the buffers and push constants that it
/// declares. For what has passed verify(program, traits), which looks at all but the kernels.
void verify_kernels(const Program& program, const DeviceTraits& traits);

}  // namespace lapilli
