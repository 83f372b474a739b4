#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "lapilli/precision.h"
#include "program/device_traits.h"
#include "program/plan_report.h"
#include "program/program.h"

namespace lapilli {

/// A Program, and what its user has to know that is not in it.
struct CompiledProgram {
  Program program;
  PlanReport report;
  DeviceTraits traits;                                     ///< of the device that it was planned for
  std::map<std::string, std::int64_t, std::less<>> sizes;  ///< that it depends on, as they were when it was planned
  Precision precision = Precision::float32;
  std::string model;  ///< what it was made from, such as "ONNX, opset 17"
};

/// Writes the Program with its constants as they lie on the device, so that nothing is left to convert. The file is
/// there as a whole or not at all. Throws Error (input_output) that names it.
void write_program_file(const std::filesystem::path& path, const CompiledProgram& compiled);

/// Whether a file begins like a program file.
bool is_program_file(std::span<const std::byte> bytes) noexcept;

/// The other way. Constants are views of `bytes`, which `owner` keeps and which begin at a multiple of
/// program_file_alignment; nothing is read of them, and no hash covers them.
///
/// The file is not trusted: its description is checked by its hash, by the verifier of FlatBuffers, field by field,
/// and then by `verify` and `verify_kernels`, in bounded time and memory. So whatever the file holds, the host reads
/// and writes nothing outside of it, and the device is only told to bind memory that belongs to the Program. What a
/// kernel then does with wrong parameters or specialization constants cannot be checked here: it may compute
/// nonsense, run for long, or reach past the end of what it is bound to, as far as the device does not prevent that.
/// Take program files from those from whom you would take shaders.
///
/// Throws Error (invalid_model) for what is damaged, and (unsupported) for what another version of Lapilli wrote.
CompiledProgram read_program_file(std::span<const std::byte> bytes, const std::shared_ptr<const void>& owner);

/// Throws Error (unsupported) that lists what this device lacks of what the Program needs.
void require_fit(const CompiledProgram& compiled, const DeviceTraits& device);

}  // namespace lapilli
