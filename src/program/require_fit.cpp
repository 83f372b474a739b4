#include <algorithm>
#include <array>
#include <format>
#include <set>

#include "base/failure.h"
#include "base/text.h"
#include "kernels/kernel_table.h"
#include "program/program_file.h"
#include "program/verify.h"
#include "program/verify_kernels.h"

namespace lapilli {
namespace {

// What a module declares as a number of SPIR-V, and the feature of the device that it takes. 64-bit integers are
// written in other words where a device has none (src/vulkan/wide_integers.h).
struct NeededFeature {
  std::uint32_t capability;
  std::string_view name;
  bool DeviceTraits::* feature;
};

constexpr std::uint32_t matrix_capability = 6022, subgroup_capability = 61;
constexpr std::array<NeededFeature, 7> needed_features{{
    {9, "16-bit floating-point arithmetic", &DeviceTraits::float16},
    {10, "double precision", &DeviceTraits::float64},
    {22, "16-bit integers", &DeviceTraits::int16},
    {39, "8-bit integers", &DeviceTraits::int8},
    {4433, "16-bit storage", &DeviceTraits::storage_16bit},
    {4448, "8-bit storage", &DeviceTraits::storage_8bit},
    {matrix_capability, "matrix units", &DeviceTraits::cooperative_matrix},
}};

// How kernels were specialized follows from these, and a kernel does not say for which of them it was.
void compare_counted_on(const CompiledProgram& compiled, const DeviceTraits& device, const PipelineSpec& spec,
                        const KernelModule& kernel, std::set<std::string>& lacks) {
  const DeviceTraits& planned = compiled.traits;
  if (kernel.shares_memory && device.max_shared_memory < planned.max_shared_memory) {
    lacks.insert(std::format("shared memory of {}, but of {}", byte_text(planned.max_shared_memory),
                             byte_text(device.max_shared_memory)));
  }
  if (std::ranges::contains(kernel.capabilities, subgroup_capability) && spec.subgroup_size == 0 &&
      device.subgroup_size != planned.subgroup_size) {
    lacks.insert(std::format("subgroups of {}, but of {}", planned.subgroup_size, device.subgroup_size));
  }
  if (!std::ranges::contains(kernel.capabilities, matrix_capability)) return;
  for (const MatrixShape& shape : planned.matrix_shapes) {
    if (std::ranges::contains(device.matrix_shapes, shape)) continue;
    lacks.insert(std::format("matrices of {}x{}x{} from {} to {}", shape.m, shape.n, shape.k, to_string(shape.a),
                             to_string(shape.accumulator)));
  }
}

std::set<std::string> find_lacks(const CompiledProgram& compiled, const DeviceTraits& device) {
  std::set<std::string> lacks;
  for (const PipelineSpec& spec : compiled.program.pipelines) {
    const KernelModule* kernel = find_kernel(spec.kernel);
    if (kernel == nullptr) fail(ErrorCode::internal, "there is no kernel named {}", spec.kernel);
    for (const NeededFeature& needed : needed_features) {
      if (std::ranges::contains(kernel->capabilities, needed.capability) && !(device.*needed.feature)) {
        lacks.insert(std::string(needed.name));
      }
    }
    compare_counted_on(compiled, device, spec, *kernel, lacks);
  }
  return lacks;
}

}  // namespace

void require_fit(const CompiledProgram& compiled, const DeviceTraits& device) {
  const auto refuse = [&](const std::string& difference) {
    fail(ErrorCode::unsupported, "it was compiled for '{}', but '{}' {}: compile the model again for this device",
         compiled.traits.name, device.name, difference);
  };
  const std::set<std::string> lacks = find_lacks(compiled, device);
  if (!lacks.empty()) refuse(std::format("has no {}", join(std::vector(lacks.begin(), lacks.end()), ", no ")));
  try {
    verify(compiled.program, device);
    verify_kernels(compiled.program, device);
  } catch (const Error& error) {
    refuse(std::format("has other limits ({})", error.what()));
  }
}

}  // namespace lapilli
