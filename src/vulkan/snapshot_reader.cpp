#include "vulkan/snapshot_reader.h"

#include <algorithm>
#include <format>

#include "vulkan/feature_chain.h"

namespace lapilli {
namespace {

std::string hexadecimal(const vk::ArrayWrapper1D<std::uint8_t, VK_UUID_SIZE>& bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes) text += std::format("{:02x}", byte);
  return text;
}

DeviceType device_type_of(vk::PhysicalDeviceType type) {
  switch (type) {
    case vk::PhysicalDeviceType::eIntegratedGpu: return DeviceType::integrated_gpu;
    case vk::PhysicalDeviceType::eDiscreteGpu: return DeviceType::discrete_gpu;
    case vk::PhysicalDeviceType::eVirtualGpu: return DeviceType::virtual_gpu;
    case vk::PhysicalDeviceType::eCpu: return DeviceType::cpu;
    default: return DeviceType::other;
  }
}

DType component_dtype(vk::ComponentTypeKHR type) {
  constexpr auto bfloat16 = static_cast<vk::ComponentTypeKHR>(1000141000);  // newer than Debian 13's headers
  switch (type) {
    case vk::ComponentTypeKHR::eFloat16: return DType::float16;
    case vk::ComponentTypeKHR::eFloat32: return DType::float32;
    case vk::ComponentTypeKHR::eFloat64: return DType::float64;
    case vk::ComponentTypeKHR::eSint8: return DType::int8;
    case vk::ComponentTypeKHR::eSint16: return DType::int16;
    case vk::ComponentTypeKHR::eSint32: return DType::int32;
    case vk::ComponentTypeKHR::eSint64: return DType::int64;
    case vk::ComponentTypeKHR::eUint8: return DType::uint8;
    case vk::ComponentTypeKHR::eUint16: return DType::uint16;
    case vk::ComponentTypeKHR::eUint32: return DType::uint32;
    case vk::ComponentTypeKHR::eUint64: return DType::uint64;
    default: return type == bfloat16 ? DType::bfloat16 : DType::undefined;
  }
}

std::vector<std::string> subgroup_operations(vk::SubgroupFeatureFlags flags) {
  using Bit = vk::SubgroupFeatureFlagBits;
  std::vector<std::string> names;
  const auto add = [&](Bit bit, const char* name) {
    if (flags & bit) names.emplace_back(name);
  };
  add(Bit::eBasic, "basic");
  add(Bit::eVote, "vote");
  add(Bit::eArithmetic, "arithmetic");
  add(Bit::eBallot, "ballot");
  add(Bit::eShuffle, "shuffle");
  add(Bit::eShuffleRelative, "shuffle_relative");
  add(Bit::eClustered, "clustered");
  add(Bit::eQuad, "quad");
  return names;
}

/// The property structures to read, linked as the device understands them.
struct PropertyChain {
  explicit PropertyChain(const DeviceSnapshot& device) {
    void** tail = &core.pNext;
    const auto link = [&tail](auto& structure) {
      *tail = &structure;
      tail = &structure.pNext;
    };
    if (device.api_version < VK_API_VERSION_1_2) return;
    link(vulkan11);
    link(vulkan12);
    const bool core_1_3 = device.api_version >= VK_API_VERSION_1_3;
    if (core_1_3 || device.has_extension(VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME)) link(subgroup_size);
    if (core_1_3 || device.has_extension(VK_KHR_MAINTENANCE_4_EXTENSION_NAME)) link(maintenance4);
    if (device.has_extension(VK_NV_SHADER_SM_BUILTINS_EXTENSION_NAME)) link(nvidia);
    if (device.has_extension(VK_AMD_SHADER_CORE_PROPERTIES_2_EXTENSION_NAME)) link(amd);
    if (device.has_extension(VK_ARM_SHADER_CORE_BUILTINS_EXTENSION_NAME)) link(arm);
  }

  vk::PhysicalDeviceProperties2 core;
  vk::PhysicalDeviceVulkan11Properties vulkan11;
  vk::PhysicalDeviceVulkan12Properties vulkan12;
  vk::PhysicalDeviceSubgroupSizeControlProperties subgroup_size;
  vk::PhysicalDeviceMaintenance4Properties maintenance4;
  vk::PhysicalDeviceShaderSMBuiltinsPropertiesNV nvidia;
  vk::PhysicalDeviceShaderCoreProperties2AMD amd;
  vk::PhysicalDeviceShaderCoreBuiltinsPropertiesARM arm;
};

void read_limits(const PropertyChain& chain, DeviceLimits& limits) {
  const vk::PhysicalDeviceLimits& from = chain.core.properties.limits;
  std::ranges::copy(from.maxComputeWorkGroupCount, limits.max_groups.begin());
  std::ranges::copy(from.maxComputeWorkGroupSize, limits.max_group_size.begin());
  limits.max_group_invocations = from.maxComputeWorkGroupInvocations;
  limits.max_shared_memory = from.maxComputeSharedMemorySize;
  limits.max_push_constants = from.maxPushConstantsSize;
  limits.max_storage_buffers_per_stage = from.maxPerStageDescriptorStorageBuffers;
  limits.max_storage_buffers_per_set = from.maxDescriptorSetStorageBuffers;
  limits.max_resources_per_stage = from.maxPerStageResources;
  limits.max_storage_range = from.maxStorageBufferRange;
  limits.max_uniform_range = from.maxUniformBufferRange;
  limits.storage_alignment = from.minStorageBufferOffsetAlignment;
  limits.uniform_alignment = from.minUniformBufferOffsetAlignment;
  limits.timestamp_period = static_cast<double>(from.timestampPeriod);
  if (chain.vulkan11.maxMemoryAllocationSize != 0) limits.max_allocation = chain.vulkan11.maxMemoryAllocationSize;
  limits.max_buffer_size = chain.maintenance4.maxBufferSize;
}

void read_properties(const vk::raii::PhysicalDevice& physical_device, DeviceSnapshot& snapshot) {
  PropertyChain chain(snapshot);
  physical_device.getDispatcher()->vkGetPhysicalDeviceProperties2(
      *physical_device, reinterpret_cast<VkPhysicalDeviceProperties2*>(&chain.core));
  read_limits(chain, snapshot.limits);
  snapshot.device_uuid = hexadecimal(chain.vulkan11.deviceUUID);
  snapshot.driver_id = static_cast<std::uint32_t>(chain.vulkan12.driverID);
  snapshot.driver_name = chain.vulkan12.driverName.data();
  snapshot.driver_info = chain.vulkan12.driverInfo.data();
  SubgroupProperties& subgroup = snapshot.subgroup;
  subgroup.size = chain.vulkan11.subgroupSize;
  if (chain.vulkan11.subgroupSupportedStages & vk::ShaderStageFlagBits::eCompute) {
    subgroup.operations = subgroup_operations(chain.vulkan11.subgroupSupportedOperations);
  }
  subgroup.min_size = chain.subgroup_size.minSubgroupSize;
  subgroup.max_size = chain.subgroup_size.maxSubgroupSize;
  subgroup.max_per_group = chain.subgroup_size.maxComputeWorkgroupSubgroups;
  subgroup.required_size_in_compute =
      static_cast<bool>(chain.subgroup_size.requiredSubgroupSizeStages & vk::ShaderStageFlagBits::eCompute);
  snapshot.compute_units =
      std::max({chain.nvidia.shaderSMCount, chain.amd.activeComputeUnitCount, chain.arm.shaderCoreCount});
}

void read_memory(const vk::raii::PhysicalDevice& physical_device, DeviceSnapshot& snapshot) {
  const vk::PhysicalDeviceMemoryProperties memory = physical_device.getMemoryProperties();
  for (std::uint32_t i = 0; i < memory.memoryHeapCount; ++i) {
    const vk::MemoryHeap& heap = memory.memoryHeaps[i];
    snapshot.memory_heaps.push_back(
        {heap.size, static_cast<bool>(heap.flags & vk::MemoryHeapFlagBits::eDeviceLocal)});
  }
  using Bit = vk::MemoryPropertyFlagBits;
  for (std::uint32_t i = 0; i < memory.memoryTypeCount; ++i) {
    const vk::MemoryType& type = memory.memoryTypes[i];
    const auto has = [&](Bit bit) { return static_cast<bool>(type.propertyFlags & bit); };
    snapshot.memory_types.push_back({type.heapIndex, has(Bit::eDeviceLocal), has(Bit::eHostVisible),
                                     has(Bit::eHostCoherent), has(Bit::eHostCached)});
  }
}

void read_queue_families(const vk::raii::PhysicalDevice& physical_device, DeviceSnapshot& snapshot) {
  for (const vk::QueueFamilyProperties& family : physical_device.getQueueFamilyProperties()) {
    const auto has = [&](vk::QueueFlagBits bit) { return static_cast<bool>(family.queueFlags & bit); };
    snapshot.queue_families.push_back({family.queueCount, has(vk::QueueFlagBits::eGraphics),
                                       has(vk::QueueFlagBits::eCompute), has(vk::QueueFlagBits::eTransfer),
                                       family.timestampValidBits});
  }
}

void read_cooperative_matrices(const vk::raii::PhysicalDevice& physical_device, DeviceSnapshot& snapshot) {
  if (!snapshot.has_feature("cooperativeMatrix")) return;
  for (const vk::CooperativeMatrixPropertiesKHR& from : physical_device.getCooperativeMatrixPropertiesKHR()) {
    snapshot.cooperative_matrices.push_back(
        {from.MSize, from.NSize, from.KSize, component_dtype(from.AType), component_dtype(from.BType),
         component_dtype(from.CType), component_dtype(from.ResultType), from.saturatingAccumulation != VK_FALSE,
         from.scope == vk::ScopeKHR::eSubgroup});
  }
}

}  // namespace

DeviceSnapshot read_snapshot(const vk::raii::PhysicalDevice& physical_device) {
  DeviceSnapshot snapshot;
  const vk::PhysicalDeviceProperties properties = physical_device.getProperties();
  snapshot.name = properties.deviceName.data();
  snapshot.type = device_type_of(properties.deviceType);
  snapshot.vendor_id = properties.vendorID;
  snapshot.device_id = properties.deviceID;
  snapshot.api_version = properties.apiVersion;
  snapshot.driver_version = properties.driverVersion;
  snapshot.pipeline_cache_uuid = hexadecimal(properties.pipelineCacheUUID);
  for (const vk::ExtensionProperties& extension : physical_device.enumerateDeviceExtensionProperties()) {
    snapshot.extensions.emplace_back(extension.extensionName.data());
  }
  std::ranges::sort(snapshot.extensions);
  if (snapshot.api_version >= VK_API_VERSION_1_1) {
    read_properties(physical_device, snapshot);
    FeatureChain features(snapshot);
    physical_device.getDispatcher()->vkGetPhysicalDeviceFeatures2(
        *physical_device, reinterpret_cast<VkPhysicalDeviceFeatures2*>(&features.head()));
    snapshot.features = features.enabled_names();
  }
  read_memory(physical_device, snapshot);
  read_queue_families(physical_device, snapshot);
  read_cooperative_matrices(physical_device, snapshot);
  return snapshot;
}

}  // namespace lapilli
