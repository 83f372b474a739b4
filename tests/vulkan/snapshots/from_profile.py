#!/usr/bin/env python3
"""Makes a device snapshot from a gpuinfo.org report that Khronos publishes as a profile.

    from_profile.py PROFILE.json PATH_IN_REPOSITORY > snapshot.json

The reports are in github.com/KhronosGroup/Vulkan-Profiles, profiles/LunarG/*/vp_gpuinfo_*.json. They hold neither
memory heaps nor matrix shapes, so a snapshot made from one has none.
"""
import json
import re
import sys

TYPES = {"VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU": "integrated_gpu", "VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU": "discrete_gpu",
         "VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU": "virtual_gpu", "VK_PHYSICAL_DEVICE_TYPE_CPU": "cpu"}
FEATURES = set("""shaderFloat64 shaderInt64 shaderInt16 storageBuffer16BitAccess uniformAndStorageBuffer16BitAccess
storageBuffer8BitAccess uniformAndStorageBuffer8BitAccess shaderFloat16 shaderInt8 timelineSemaphore scalarBlockLayout
bufferDeviceAddress vulkanMemoryModel vulkanMemoryModelDeviceScope shaderSubgroupExtendedTypes synchronization2
subgroupSizeControl computeFullSubgroups maintenance4 shaderIntegerDotProduct cooperativeMatrix""".split())
VENDOR_TYPES = {0x1002: "discrete_gpu", 0x10DE: "discrete_gpu", 0x106B: "integrated_gpu"}


def main():
    with open(sys.argv[1]) as file:
        report = json.load(file)
    (profile,) = report["profiles"].values()
    device = report["capabilities"]["device"]
    properties = {}
    for block in device["properties"].values():
        properties.update(block)
    limits = properties["limits"]
    label, driver, system = re.fullmatch(r"(.*) driver (\S+) on (.*)", profile["label"]).groups()
    shown = {name for block in device["features"].values() for name, value in block.items() if value is True}
    arc = "Arc" in label and "140T" not in label
    snapshot = {
        "source": f"gpuinfo.org report of {profile['history'][0]['date']}, driver {driver} on {system}, exported as "
                  f"{sys.argv[2]} in github.com/KhronosGroup/Vulkan-Profiles; type by vendor; without memory and matrices",
        "name": label,
        "type": "discrete_gpu" if arc else VENDOR_TYPES.get(properties["vendorID"], "integrated_gpu"),
        "vendor_id": properties["vendorID"],
        "device_id": properties.get("deviceID", 0),
        "api_version": properties["apiVersion"],
        "driver_name": str(properties.get("driverName", "")),
        "driver_info": str(properties.get("driverInfo", driver)),
        "compute_units": properties.get("shaderSMCount", properties.get("activeComputeUnitCount", 0)),
        "limits": {
            "max_groups": limits["maxComputeWorkGroupCount"],
            "max_group_size": limits["maxComputeWorkGroupSize"],
            "max_group_invocations": limits["maxComputeWorkGroupInvocations"],
            "max_shared_memory": limits["maxComputeSharedMemorySize"],
            "max_push_constants": limits["maxPushConstantsSize"],
            "max_storage_buffers_per_stage": limits["maxPerStageDescriptorStorageBuffers"],
            "max_storage_buffers_per_set": limits["maxDescriptorSetStorageBuffers"],
            "max_resources_per_stage": limits["maxPerStageResources"],
            "max_storage_range": limits["maxStorageBufferRange"],
            "max_uniform_range": limits["maxUniformBufferRange"],
            "max_allocation": properties["maxMemoryAllocationSize"],
            "max_buffer_size": properties.get("maxBufferSize", 0),
            "storage_alignment": limits["minStorageBufferOffsetAlignment"],
            "uniform_alignment": limits["minUniformBufferOffsetAlignment"],
            "timestamp_period": limits["timestampPeriod"],
        },
        "subgroup": {
            "size": properties["subgroupSize"],
            "min_size": properties.get("minSubgroupSize", 0),
            "max_size": properties.get("maxSubgroupSize", 0),
            "max_per_group": properties.get("maxComputeWorkgroupSubgroups", 0),
            "required_size_in_compute": "VK_SHADER_STAGE_COMPUTE_BIT" in properties.get("requiredSubgroupSizeStages", []),
            "operations": [name[len("VK_SUBGROUP_FEATURE_"):].replace("_BIT", "").lower()
                           for name in properties.get("subgroupSupportedOperations", [])],
        },
        "queue_families": [{
            "queues": family["queueCount"],
            "graphics": "VK_QUEUE_GRAPHICS_BIT" in family["queueFlags"],
            "compute": "VK_QUEUE_COMPUTE_BIT" in family["queueFlags"],
            "transfer": "VK_QUEUE_TRANSFER_BIT" in family["queueFlags"],
            "timestamp_bits": family["timestampValidBits"],
        } for family in (entry["VkQueueFamilyProperties"] for entry in device["queueFamiliesProperties"])],
        "features": sorted(shown & FEATURES),
        "extensions": sorted(device["extensions"]),
    }
    print(json.dumps(snapshot, indent=1))


main()
