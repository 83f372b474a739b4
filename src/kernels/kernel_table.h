#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace lapilli {

enum class KernelBindingKind : std::uint8_t { storage_buffer, uniform_buffer };

/// A compiled shader module with what reflection of its SPIR-V says. Tables of these are made by the build.
struct KernelModule {
  std::string_view name;  ///< "family.level", such as "pointwise.base"
  std::span<const std::uint32_t> spirv;
  std::span<const KernelBindingKind> bindings;  ///< by binding number, without holes
  std::uint32_t push_constant_bytes = 0;
  std::uint32_t specialization_constants = 0;  ///< their ids are 0 to this number - 1
  std::uint64_t content_hash = 0;              ///< of the SPIR-V words
};

/// All modules, ordered by name.
std::span<const KernelModule> kernel_modules() noexcept;

/// The module with this name, or nullptr.
const KernelModule* find_kernel(std::string_view name) noexcept;

}  // namespace lapilli
