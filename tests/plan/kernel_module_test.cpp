// Compiled kernels against recorded devices: a module may declare only what the device plan has enabled.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "kernels/kernel_table.h"
#include "lapilli/error.h"
#include "plan/structure.h"
#include "vulkan/device_plan.h"
#include "vulkan/recorded_snapshots.h"

namespace lapilli {
namespace {

constexpr std::uint32_t vulkan_1_3 = 1U << 22U | 3U << 12U;

std::vector<std::uint32_t> capabilities_of(const KernelModule& module) {
  constexpr std::size_t header = 5;
  constexpr std::uint32_t op_capability = 17;
  std::vector<std::uint32_t> capabilities;
  for (std::size_t at = header; (module.spirv[at] & 0xFFFFU) == op_capability; at += 2) {
    capabilities.push_back(module.spirv[at + 1]);
  }
  return capabilities;
}

// The table "Capabilities" of Vulkan's appendix "Vulkan Environment for SPIR-V". Empty: every device has it.
std::string feature_for(std::uint32_t capability) {
  static const std::map<std::uint32_t, std::string> features{
      {1, ""},
      {61, ""},  // GroupNonUniform: basic subgroup operations in compute shaders
      {9, "shaderFloat16"},
      {10, "shaderFloat64"},
      {11, ""},  // src/vulkan/wide_integers.h
      {22, "shaderInt16"},
      {39, "shaderInt8"},
      {4433, "storageBuffer16BitAccess"},
      {4448, "storageBuffer8BitAccess"},
      {5345, "vulkanMemoryModel"},
      {5346, "vulkanMemoryModelDeviceScope"},
      {6022, "cooperativeMatrix"},
  };
  const auto found = features.find(capability);
  return found == features.end() ? "an unknown feature" : found->second;
}

bool is_offered(const KernelModule& module, const DeviceTraits& traits) {
  for (const KernelLevel level : {KernelLevel::narrow, KernelLevel::base, KernelLevel::int64, KernelLevel::float64}) {
    try {
      const std::string_view name = level_name(level, traits);
      if (module.name.ends_with("." + std::string(name))) {
        return !module.name.starts_with("contraction_matrix.") || (traits.cooperative_matrix && traits.float16);
      }
    } catch (const Error&) {
      return false;
    }
  }
  return false;
}

class KernelModules : public ::testing::TestWithParam<std::string> {};

TEST_P(KernelModules, declare_what_the_device_has) {
  const DeviceSnapshot snapshot = recorded_snapshot(GetParam());
  const DevicePlan plan = make_device_plan(snapshot, {});
  const std::uint32_t spirv_1_5 = 0x10500, spirv_1_6 = 0x10600;
  std::size_t offered = 0;
  for (const KernelModule& module : kernel_modules()) {
    if (!is_offered(module, plan.traits)) continue;
    ++offered;
    EXPECT_LE(module.spirv[1], snapshot.api_version >= vulkan_1_3 ? spirv_1_6 : spirv_1_5) << module.name;
    EXPECT_LE(module.push_constant_bytes, plan.traits.max_push_constants) << module.name;
    EXPECT_LE(module.bindings.size(), plan.traits.max_storage_buffers) << module.name;
    for (const std::uint32_t capability : capabilities_of(module)) {
      const std::string feature = feature_for(capability);
      EXPECT_TRUE(feature.empty() || std::ranges::contains(plan.features, feature))
          << module.name << " declares capability " << capability << ", but " << feature << " is not enabled";
    }
  }
  // Every family runs at one level at least.
  EXPECT_GE(offered, 8U);
}

// Vulkan 1.2 without 16-bit integers, 1.3 and 1.4 without double precision, and some that have everything.
INSTANTIATE_TEST_SUITE_P(Recorded, KernelModules,
                         ::testing::Values("amd_r7_200_windows", "amd_rx7800xt_radv", "amd_rx7800xt_windows",
                                           "amd_rx9070xt_radv", "apple_m1_kosmickrisp", "apple_m5_moltenvk",
                                           "intel_arc_a770_anv", "intel_hd620_anv", "llvmpipe_mesa_26_1",
                                           "nvidia_h200", "nvidia_rtx5090"),
                         [](const auto& parameter) { return parameter.param; });

}  // namespace
}  // namespace lapilli
