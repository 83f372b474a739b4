#include "vulkan/device_plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "lapilli/error.h"
#include "vulkan/recorded_snapshots.h"

namespace lapilli {
namespace {

bool enables(const DevicePlan& plan, std::string_view feature) {
  return std::ranges::find(plan.features, feature) != plan.features.end();
}

std::string refusal(const DeviceSnapshot& snapshot) {
  try {
    (void)make_device_plan(snapshot, {});
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::no_device);
    return error.what();
  }
  return "";
}

TEST(DevicePlan, H200) {
  const DevicePlan plan = make_device_plan(recorded_snapshot("nvidia_h200"), {});
  EXPECT_EQ(plan.queue_family, 2U);  // compute only
  EXPECT_TRUE(plan.timestamps);
  EXPECT_TRUE(plan.write_to_device_memory);
  EXPECT_FALSE(plan.read_from_device_memory);  // visible, but not cached by the host
  EXPECT_TRUE(plan.traits.cooperative_matrix);
  const MatrixShape half{16, 16, 16, DType::float16, DType::float16, DType::float32};
  EXPECT_NE(std::ranges::find(plan.traits.matrix_shapes, half), plan.traits.matrix_shapes.end());
  EXPECT_EQ(plan.traits.matrix_shapes.size(), 11U);
  EXPECT_EQ(plan.traits.max_shared_memory, 49152U);
  EXPECT_EQ(plan.traits.compute_units, 132U);
  EXPECT_TRUE(plan.defects.empty());
  EXPECT_FALSE(plan.traits.software);
}

TEST(DevicePlan, Llvmpipe) {
  const DevicePlan plan = make_device_plan(recorded_snapshot("llvmpipe_mesa_26_1"), {});
  EXPECT_TRUE(plan.traits.software);
  EXPECT_EQ(plan.traits.max_storage_range, std::uint64_t{128} << 20U);
  EXPECT_EQ(plan.traits.subgroup_size, 8U);
  EXPECT_TRUE(plan.read_from_device_memory);
  const MatrixShape half{8, 8, 8, DType::float16, DType::float16, DType::float32};
  EXPECT_NE(std::ranges::find(plan.traits.matrix_shapes, half), plan.traits.matrix_shapes.end());
}

TEST(DevicePlan, Rdna3TakesTheComputeQueueAndBothSubgroupSizes) {
  for (const char* name : {"amd_rx7800xt_radv", "amd_rx7800xt_windows", "amd_rx9070xt_radv"}) {
    const DevicePlan plan = make_device_plan(recorded_snapshot(name), {});
    EXPECT_EQ(plan.queue_family, 1U) << name;
    EXPECT_TRUE(plan.traits.subgroup_size_control) << name;
    EXPECT_EQ(plan.traits.min_subgroup_size, 32U) << name;
    EXPECT_EQ(plan.traits.max_subgroup_size, 64U) << name;
    EXPECT_TRUE(enables(plan, "cooperativeMatrix")) << name;
    EXPECT_FALSE(plan.traits.cooperative_matrix) << name;  // no shapes are in the report
  }
  EXPECT_EQ(make_device_plan(recorded_snapshot("amd_rx7800xt_windows"), {}).traits.max_push_constants, 128U);
  EXPECT_EQ(make_device_plan(recorded_snapshot("amd_rx7800xt_windows"), {}).traits.compute_units, 60U);
}

TEST(DevicePlan, Intel) {
  const DevicePlan arc = make_device_plan(recorded_snapshot("intel_arc_a770_anv"), {});
  EXPECT_EQ(arc.queue_family, 0U);
  EXPECT_FALSE(arc.traits.float64);
  EXPECT_EQ(arc.traits.min_subgroup_size, 8U);
  EXPECT_EQ(arc.traits.max_subgroup_size, 32U);
  const DevicePlan gen9 = make_device_plan(recorded_snapshot("intel_hd620_anv"), {});
  EXPECT_TRUE(gen9.traits.float64);
  EXPECT_FALSE(enables(gen9, "cooperativeMatrix"));
}

TEST(DevicePlan, AppleHasNoChoiceOfSubgroupSize) {
  for (const char* name : {"apple_m1_kosmickrisp", "apple_m5_moltenvk"}) {
    const DevicePlan plan = make_device_plan(recorded_snapshot(name), {});
    EXPECT_FALSE(plan.traits.subgroup_size_control) << name;
    EXPECT_EQ(plan.traits.min_subgroup_size, 32U) << name;
    EXPECT_EQ(plan.traits.max_subgroup_size, 32U) << name;
    EXPECT_FALSE(plan.traits.float64) << name;
    EXPECT_TRUE(plan.traits.int64) << name;
  }
  // MoltenVK is a subset of Vulkan and wants that to be acknowledged.
  const DevicePlan plan = make_device_plan(recorded_snapshot("apple_m5_moltenvk"), {});
  EXPECT_NE(std::ranges::find(plan.extensions, "VK_KHR_portability_subset"), plan.extensions.end());
}

TEST(DevicePlan, Rtx5090) {
  const DevicePlan plan = make_device_plan(recorded_snapshot("nvidia_rtx5090"), {});
  EXPECT_EQ(plan.queue_family, 2U);
  EXPECT_EQ(plan.traits.compute_units, 170U);
  EXPECT_TRUE(plan.traits.float64);
}

TEST(DevicePlan, ExtensionsOfANewerVersionAreEnabledByNameBefore) {
  DeviceSnapshot snapshot = recorded_snapshot("nvidia_rtx5090");
  EXPECT_EQ(std::ranges::count(make_device_plan(snapshot, {}).extensions, "VK_KHR_synchronization2"), 0);
  snapshot.api_version = 1U << 22U | 2U << 12U;
  EXPECT_EQ(std::ranges::count(make_device_plan(snapshot, {}).extensions, "VK_KHR_synchronization2"), 1);
}

TEST(DevicePlan, OldDrivers) {
  const DevicePlan amd = make_device_plan(recorded_snapshot("amd_r7_200_windows"), {});  // Vulkan 1.2
  EXPECT_EQ(std::ranges::count(amd.extensions, "VK_KHR_synchronization2"), 1);
  EXPECT_TRUE(enables(amd, "synchronization2"));
  EXPECT_NE(refusal(recorded_snapshot("intel_uhd630_moltenvk_1_2")).find("synchronization2"), std::string::npos);
}

TEST(DevicePlan, RefusalsNameDeviceAndFeature) {
  DeviceSnapshot snapshot = recorded_snapshot("intel_hd620_anv");
  std::erase(snapshot.features, "synchronization2");
  EXPECT_NE(refusal(snapshot).find("Intel(R) HD Graphics 620 (KBL GT2)"), std::string::npos);
  EXPECT_NE(refusal(snapshot).find("synchronization2"), std::string::npos);
  snapshot = recorded_snapshot("intel_hd620_anv");
  std::erase(snapshot.features, "timelineSemaphore");
  EXPECT_NE(refusal(snapshot).find("timelineSemaphore"), std::string::npos);
  snapshot.api_version = 1U << 22U | 1U << 12U | 5U;
  EXPECT_NE(refusal(snapshot).find("Vulkan 1.1.5"), std::string::npos);
  snapshot = recorded_snapshot("intel_hd620_anv");
  for (QueueFamily& family : snapshot.queue_families) family.compute = false;
  EXPECT_NE(refusal(snapshot).find("no queue for compute"), std::string::npos);
}

TEST(DevicePlan, DefectsSwitchFeaturesOff) {
  DeviceSnapshot snapshot = recorded_snapshot("intel_hd620_anv");
  snapshot.vendor_id = 0x5143;  // Adreno 640
  snapshot.device_id = 0x06040001;
  const DevicePlan plan = make_device_plan(snapshot, {});
  EXPECT_EQ(plan.defects, std::vector<std::string>{"adreno_implicit_float16"});
  EXPECT_FALSE(plan.traits.float16);
  EXPECT_FALSE(enables(plan, "shaderFloat16"));
  EXPECT_TRUE(plan.traits.storage_16bit);
}

TEST(DevicePlan, RestrictionsTakeAway) {
  DeviceRestrictions restrictions;
  restrictions.no_float16 = restrictions.no_int64 = restrictions.no_cooperative_matrix = true;
  restrictions.no_subgroup_size_control = restrictions.no_host_visible_device_memory = true;
  restrictions.max_groups = 7;
  restrictions.max_storage_range = 1000;
  restrictions.max_shared_memory = 1U << 30U;  // cannot be raised
  restrictions.max_group_invocations = 64;
  const DevicePlan plan = make_device_plan(recorded_snapshot("nvidia_h200"), restrictions);
  EXPECT_FALSE(plan.traits.float16 || plan.traits.int64 || plan.traits.cooperative_matrix);
  EXPECT_FALSE(plan.traits.subgroup_size_control || plan.write_to_device_memory);
  EXPECT_EQ(plan.traits.max_groups, (std::array<std::uint32_t, 3>{7, 7, 7}));
  EXPECT_EQ(plan.traits.max_group_size, (std::array<std::uint32_t, 3>{64, 64, 64}));
  EXPECT_EQ(plan.traits.max_storage_range, 1000U);
  EXPECT_EQ(plan.traits.max_shared_memory, 49152U);
}

TEST(DevicePlan, ASmallBarWindowIsNotUsed) {
  DeviceSnapshot snapshot = recorded_snapshot("nvidia_h200");
  snapshot.memory_heaps.push_back({std::uint64_t{256} << 20U, true});
  snapshot.memory_types.back().heap = 2;
  EXPECT_FALSE(make_device_plan(snapshot, {}).write_to_device_memory);
}

TEST(DevicePlan, ALentDeviceHasOnlyWhatItsOwnerEnabled) {
  const DeviceSnapshot snapshot = recorded_snapshot("nvidia_h200");
  LentDevice lent;
  lent.api_version = 1U << 22U | 3U << 12U;
  lent.queue_family = 0;
  lent.features = {"timelineSemaphore", "synchronization2", "shaderInt64", "notAFeatureOfThisDevice"};
  const DevicePlan plan = make_device_plan(snapshot, {}, &lent);
  EXPECT_EQ(plan.queue_family, 0U);
  EXPECT_TRUE(plan.traits.int64);
  EXPECT_FALSE(plan.traits.float16 || plan.traits.cooperative_matrix);
  lent.features = {"timelineSemaphore"};
  EXPECT_THROW((void)make_device_plan(snapshot, {}, &lent), Error);
  lent.features = {"timelineSemaphore", "synchronization2"};
  lent.queue_family = 1;  // transfer only
  EXPECT_THROW((void)make_device_plan(snapshot, {}, &lent), Error);
}

}  // namespace
}  // namespace lapilli
