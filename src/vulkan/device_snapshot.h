#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lapilli/dtype.h"

namespace lapilli {

enum class DeviceType : std::uint8_t { other, integrated_gpu, discrete_gpu, virtual_gpu, cpu };

struct QueueFamily {
  std::uint32_t queues = 0;
  bool graphics = false, compute = false, transfer = false;
  std::uint32_t timestamp_bits = 0;  ///< 0: no timestamps
  friend bool operator==(const QueueFamily&, const QueueFamily&) = default;
};

struct MemoryHeap {
  std::uint64_t size = 0;
  bool device_local = false;
  friend bool operator==(const MemoryHeap&, const MemoryHeap&) = default;
};

struct MemoryType {
  std::uint32_t heap = 0;
  bool device_local = false, host_visible = false, host_coherent = false, host_cached = false;
  friend bool operator==(const MemoryType&, const MemoryType&) = default;
};

/// An entry of vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR. A component type that DType lacks is undefined.
struct CooperativeMatrix {
  std::uint32_t m = 0, n = 0, k = 0;
  DType a = DType::undefined, b = DType::undefined, c = DType::undefined, result = DType::undefined;
  bool saturating = false;
  bool subgroup_scope = false;
  friend bool operator==(const CooperativeMatrix&, const CooperativeMatrix&) = default;
};

/// Limits of Vulkan that Lapilli reads. Sizes in bytes.
struct DeviceLimits {
  std::array<std::uint32_t, 3> max_groups{65535, 65535, 65535};
  std::array<std::uint32_t, 3> max_group_size{128, 128, 64};
  std::uint32_t max_group_invocations = 128;
  std::uint32_t max_shared_memory = 16384;
  std::uint32_t max_push_constants = 128;
  std::uint32_t max_storage_buffers_per_stage = 4;
  std::uint32_t max_storage_buffers_per_set = 24;
  std::uint32_t max_resources_per_stage = 128;
  std::uint64_t max_storage_range = std::uint64_t{1} << 27U;
  std::uint64_t max_uniform_range = 16384;
  std::uint64_t max_allocation = std::uint64_t{1} << 30U;
  std::uint64_t max_buffer_size = 0;  ///< 0: not told
  std::uint64_t storage_alignment = 256;
  std::uint64_t uniform_alignment = 256;
  double timestamp_period = 1.0;  ///< nanoseconds of one tick
  friend bool operator==(const DeviceLimits&, const DeviceLimits&) = default;
};

struct SubgroupProperties {
  std::uint32_t size = 0;
  std::uint32_t min_size = 0, max_size = 0;  ///< 0: the device has no subgroup size control
  std::uint32_t max_per_group = 0;           ///< with a required size
  bool required_size_in_compute = false;
  std::vector<std::string> operations;  ///< "basic", "vote", "arithmetic", "ballot", "shuffle", ...
  friend bool operator==(const SubgroupProperties&, const SubgroupProperties&) = default;
};

/// All that Lapilli reads of a physical device: a plain value, so that what follows from it (device_plan.h) is tested
/// without that device. Recorded ones live in tests/vulkan/snapshots.
struct DeviceSnapshot {
  std::string source;  ///< where the values come from, when they were not read here
  std::string name;
  DeviceType type = DeviceType::other;
  std::uint32_t vendor_id = 0, device_id = 0;
  std::uint32_t api_version = 0;  ///< as Vulkan packs it
  std::string device_uuid;        ///< 32 lower-case hexadecimal digits
  std::string pipeline_cache_uuid;
  std::uint32_t driver_id = 0;  ///< VkDriverId
  std::uint32_t driver_version = 0;
  std::string driver_name, driver_info;
  std::vector<std::string> extensions;  ///< sorted
  std::vector<std::string> features;    ///< sorted; Vulkan's names of those that are true, such as "shaderFloat16"
  DeviceLimits limits;
  SubgroupProperties subgroup;
  std::vector<QueueFamily> queue_families;
  std::vector<MemoryHeap> memory_heaps;
  std::vector<MemoryType> memory_types;
  std::vector<CooperativeMatrix> cooperative_matrices;
  std::uint32_t compute_units = 0;  ///< 0 where no extension tells

  [[nodiscard]] bool has_extension(std::string_view extension) const noexcept;
  [[nodiscard]] bool has_feature(std::string_view feature) const noexcept;
  friend bool operator==(const DeviceSnapshot&, const DeviceSnapshot&) = default;
};

/// The snapshot as JSON text, indented, ending with a line feed.
std::string snapshot_to_json(const DeviceSnapshot& snapshot);

/// Reads what snapshot_to_json writes; keys that are missing keep their defaults and unknown ones are ignored.
/// Throws Error (invalid_argument) for text that is no JSON or has a value of another type.
DeviceSnapshot snapshot_from_json(std::string_view text);

/// "1.4.309"
std::string version_text(std::uint32_t packed);

std::string_view to_string(DeviceType type) noexcept;

}  // namespace lapilli
