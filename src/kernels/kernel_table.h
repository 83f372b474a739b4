#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace lapilli {

enum class KernelBindingKind : std::uint8_t { storage_buffer, uniform_buffer };

/// Invocations of a workgroup along one axis.
struct GroupSize {
  std::uint32_t size = 1;
  std::optional<std::uint32_t> constant_id{};  ///< of the specialization constant that may say another size
};

/// A compiled shader module with what reflection of its SPIR-V says. Tables of these are made by the build.
struct KernelModule {
  std::string_view name;  ///< "family.level", such as "pointwise.base"
  std::span<const std::uint32_t> spirv;
  std::span<const KernelBindingKind> bindings;  ///< by binding number, without holes
  std::uint32_t push_constant_bytes = 0;
  std::uint32_t specialization_constants = 0;  ///< their ids are 0 to this number - 1
  std::array<GroupSize, 3> group_size{};
  std::span<const std::uint32_t> capabilities;  ///< that it declares, numbers of SPIR-V
  bool shares_memory = false;                   ///< has variables that a workgroup shares
};

/// All modules, ordered by name.
std::span<const KernelModule> kernel_modules() noexcept;

/// The module with this name, or nullptr.
const KernelModule* find_kernel(std::string_view name) noexcept;

/// Of all modules. What was planned or compiled for others does not fit these.
std::uint64_t kernels_hash() noexcept;

}  // namespace lapilli
