#include "vulkan/device_plan.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/checked.h"
#include "base/failure.h"
#include "vulkan/driver_defects.h"

namespace lapilli {
namespace {

constexpr std::uint32_t version(std::uint32_t major, std::uint32_t minor) { return major << 22U | minor << 12U; }

constexpr std::array<std::string_view, 2> required_features{"timelineSemaphore", "synchronization2"};

constexpr std::array<std::string_view, 16> optional_features{
    "storageBuffer8BitAccess",
    "storageBuffer16BitAccess",
    "shaderFloat16",
    "shaderInt8",
    "shaderInt16",
    "shaderInt64",
    "shaderFloat64",
    "subgroupSizeControl",
    "computeFullSubgroups",
    "maintenance4",
    "scalarBlockLayout",
    "shaderSubgroupExtendedTypes",
    "shaderIntegerDotProduct",
    "vulkanMemoryModel",
    "vulkanMemoryModelDeviceScope",
    "cooperativeMatrix",
};

struct Extension {
  std::string_view name;
  std::uint32_t core_since;  ///< needs no enabling from this version on; 0 for never
};

constexpr std::array<Extension, 7> useful_extensions{{
    {"VK_KHR_synchronization2", version(1, 3)},
    {"VK_EXT_subgroup_size_control", version(1, 3)},
    {"VK_KHR_maintenance4", version(1, 3)},
    {"VK_KHR_shader_integer_dot_product", version(1, 3)},
    {"VK_KHR_cooperative_matrix", 0},
    {"VK_EXT_memory_budget", 0},
    {"VK_KHR_portability_subset", 0},  // must be enabled where it is offered
}};

/// The snapshot without what the application that lends the device has not enabled.
DeviceSnapshot as_lent(DeviceSnapshot snapshot, const LentDevice& lent) {
  snapshot.api_version = std::min(snapshot.api_version, lent.api_version);
  std::erase_if(snapshot.extensions, [&](const auto& name) { return !std::ranges::contains(lent.extensions, name); });
  std::erase_if(snapshot.features, [&](const auto& name) { return !std::ranges::contains(lent.features, name); });
  return snapshot;
}

std::vector<std::string_view> withheld_features(const DeviceRestrictions& restrictions) {
  std::vector<std::string_view> names;
  const auto withhold = [&](bool when, std::string_view name) {
    if (when) names.push_back(name);
  };
  withhold(restrictions.no_storage_8bit, "storageBuffer8BitAccess");
  withhold(restrictions.no_storage_16bit, "storageBuffer16BitAccess");
  withhold(restrictions.no_float16, "shaderFloat16");
  withhold(restrictions.no_int8, "shaderInt8");
  withhold(restrictions.no_int16, "shaderInt16");
  withhold(restrictions.no_int64, "shaderInt64");
  withhold(restrictions.no_float64, "shaderFloat64");
  withhold(restrictions.no_subgroup_size_control, "subgroupSizeControl");
  withhold(restrictions.no_cooperative_matrix, "cooperativeMatrix");
  return names;
}

void require_baseline(const DeviceSnapshot& snapshot) {
  if (snapshot.api_version < version(1, 2)) {
    fail(ErrorCode::no_device, "{} has Vulkan {}, but Lapilli needs 1.2 or newer; a newer driver may help",
         snapshot.name, version_text(snapshot.api_version));
  }
  for (const std::string_view feature : required_features) {
    if (!snapshot.has_feature(feature)) {
      fail(ErrorCode::no_device,
           "{} (driver {} {}) lacks the feature {}, which Lapilli needs; a newer driver may help", snapshot.name,
           snapshot.driver_name, snapshot.driver_info, feature);
    }
  }
}

std::uint32_t choose_queue_family(const DeviceSnapshot& snapshot) {
  const auto usable = [](const QueueFamily& family) { return family.compute && family.queues != 0; };
  const auto& families = snapshot.queue_families;
  auto found = std::ranges::find_if(families, [&](const auto& family) { return usable(family) && !family.graphics; });
  if (found == families.end()) found = std::ranges::find_if(families, usable);
  if (found == families.end()) fail(ErrorCode::no_device, "{} has no queue for compute work", snapshot.name);
  return static_cast<std::uint32_t>(found - families.begin());
}

void plan_features(const DeviceSnapshot& snapshot, const DeviceRestrictions& restrictions, DevicePlan& plan) {
  std::vector<std::string_view> withheld = withheld_features(restrictions);
  for (const DriverDefect* defect : driver_defects(snapshot)) {
    plan.defects.emplace_back(defect->name);
    withheld.insert(withheld.end(), defect->unusable_features.begin(), defect->unusable_features.end());
  }
  for (const std::string_view feature : required_features) plan.features.emplace_back(feature);
  for (const std::string_view feature : optional_features) {
    if (snapshot.has_feature(feature) && !std::ranges::contains(withheld, feature))
      plan.features.emplace_back(feature);
  }
  std::ranges::sort(plan.features);
  for (const Extension& extension : useful_extensions) {
    const bool in_core = extension.core_since != 0 && snapshot.api_version >= extension.core_since;
    if (!in_core && snapshot.has_extension(extension.name)) plan.extensions.emplace_back(extension.name);
  }
}

std::uint64_t lowered(std::uint64_t limit, const std::optional<std::uint64_t>& restriction) {
  return restriction ? std::min(limit, *restriction) : limit;
}

std::uint32_t lowered(std::uint32_t limit, const std::optional<std::uint32_t>& restriction) {
  return restriction ? std::min(limit, *restriction) : limit;
}

void plan_limits(const DeviceSnapshot& snapshot, const DeviceRestrictions& restrictions, DeviceTraits& traits) {
  const DeviceLimits& limits = snapshot.limits;
  traits.max_groups = limits.max_groups;
  for (std::uint32_t& count : traits.max_groups) count = lowered(count, restrictions.max_groups);
  traits.max_group_size = limits.max_group_size;
  traits.max_group_invocations = lowered(limits.max_group_invocations, restrictions.max_group_invocations);
  for (std::uint32_t& size : traits.max_group_size) size = std::min(size, traits.max_group_invocations);
  traits.max_shared_memory = lowered(limits.max_shared_memory, restrictions.max_shared_memory);
  traits.max_push_constants = lowered(limits.max_push_constants, restrictions.max_push_constants);
  traits.max_storage_buffers = std::min(
      {limits.max_storage_buffers_per_stage, limits.max_storage_buffers_per_set, limits.max_resources_per_stage});
  traits.max_storage_range = lowered(limits.max_storage_range, restrictions.max_storage_range);
  traits.max_uniform_range = limits.max_uniform_range;
  std::uint64_t allocation = limits.max_allocation;
  if (limits.max_buffer_size != 0) allocation = std::min(allocation, limits.max_buffer_size);
  traits.max_allocation = lowered(allocation, restrictions.max_allocation);
  traits.storage_alignment = std::max<std::uint64_t>(limits.storage_alignment, 16);  // vector loads of 16 bytes
  traits.uniform_alignment = limits.uniform_alignment;
}

void plan_matrices(const DeviceSnapshot& snapshot, const DevicePlan& plan, DeviceTraits& traits) {
  // Kernels that use matrices declare the memory model too.
  for (const std::string_view feature : {"cooperativeMatrix", "vulkanMemoryModel"}) {
    if (!std::ranges::contains(plan.features, feature)) return;
  }
  for (const CooperativeMatrix& matrix : snapshot.cooperative_matrices) {
    const bool known = matrix.a != DType::undefined && matrix.b != DType::undefined && matrix.c != DType::undefined;
    if (!known || matrix.c != matrix.result || matrix.saturating || !matrix.subgroup_scope) continue;
    traits.matrix_shapes.push_back({matrix.m, matrix.n, matrix.k, matrix.a, matrix.b, matrix.c});
  }
  traits.cooperative_matrix = !traits.matrix_shapes.empty();
}

void plan_traits(const DeviceSnapshot& snapshot, const DeviceRestrictions& restrictions, DevicePlan& plan) {
  DeviceTraits& traits = plan.traits;
  const auto enabled = [&](std::string_view feature) { return std::ranges::contains(plan.features, feature); };
  traits.name = snapshot.name;
  traits.software = snapshot.type == DeviceType::cpu;
  traits.storage_8bit = enabled("storageBuffer8BitAccess");
  traits.storage_16bit = enabled("storageBuffer16BitAccess");
  traits.float16 = enabled("shaderFloat16");
  traits.int8 = enabled("shaderInt8");
  traits.int16 = enabled("shaderInt16");
  traits.int64 = enabled("shaderInt64");
  traits.float64 = enabled("shaderFloat64");
  const SubgroupProperties& subgroup = snapshot.subgroup;
  traits.subgroup_size = subgroup.size;
  traits.subgroup_size_control = enabled("subgroupSizeControl") && subgroup.required_size_in_compute;
  traits.min_subgroup_size = traits.subgroup_size_control ? subgroup.min_size : subgroup.size;
  traits.max_subgroup_size = traits.subgroup_size_control ? subgroup.max_size : subgroup.size;
  traits.subgroup_arithmetic = std::ranges::contains(subgroup.operations, "arithmetic");
  traits.subgroup_shuffle = std::ranges::contains(subgroup.operations, "shuffle");
  traits.compute_units = snapshot.compute_units;
  plan_limits(snapshot, restrictions, traits);
  plan_matrices(snapshot, plan, traits);
}

void plan_memory(const DeviceSnapshot& snapshot, const DeviceRestrictions& restrictions, DevicePlan& plan) {
  if (restrictions.no_host_visible_device_memory) return;
  std::uint64_t largest = 0;
  for (const MemoryHeap& heap : snapshot.memory_heaps) {
    if (heap.device_local) largest = std::max(largest, heap.size);
  }
  for (const MemoryType& type : snapshot.memory_types) {
    if (!type.device_local || !type.host_visible || type.heap >= snapshot.memory_heaps.size()) continue;
    // Without resizable BAR the window is 256 MiB of a larger memory: too scarce to put weights there.
    if (snapshot.memory_heaps[type.heap].size < largest) continue;
    plan.write_to_device_memory = true;
    plan.read_from_device_memory = plan.read_from_device_memory || type.host_cached;
  }
}

}  // namespace

DevicePlan make_device_plan(const DeviceSnapshot& device, const DeviceRestrictions& restrictions,
                            const LentDevice* lent) {
  const DeviceSnapshot snapshot = lent != nullptr ? as_lent(device, *lent) : device;
  require_baseline(snapshot);
  DevicePlan plan;
  plan.queue_family = lent != nullptr ? lent->queue_family : choose_queue_family(snapshot);
  if (plan.queue_family >= snapshot.queue_families.size() || !snapshot.queue_families[plan.queue_family].compute) {
    fail(ErrorCode::invalid_argument, "queue family {} of {} cannot do compute work", plan.queue_family,
         snapshot.name);
  }
  plan.timestamps = snapshot.queue_families[plan.queue_family].timestamp_bits != 0;
  plan_features(snapshot, restrictions, plan);
  plan_traits(snapshot, restrictions, plan);
  plan_memory(snapshot, restrictions, plan);
  return plan;
}

std::uint64_t work_of(std::chrono::milliseconds time, const DeviceTraits& traits) {
  // Operations in a millisecond of the slowest devices that are known, at what kernels reach there: llvmpipe on two
  // processors, and a small GPU without a count of its multiprocessors.
  constexpr std::uint64_t of_software = 1'000'000, of_unit = 5'000'000, fewest_units = 2;
  if (time.count() <= 0) return 0;
  const std::uint64_t speed =
      traits.software ? of_software : of_unit * std::max<std::uint64_t>(traits.compute_units, fewest_units);
  return checked_multiply(static_cast<std::uint64_t>(time.count()), speed);
}

}  // namespace lapilli
