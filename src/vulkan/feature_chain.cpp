#include "vulkan/feature_chain.h"

#include <algorithm>
#include <array>

#include "base/failure.h"

namespace lapilli {

FeatureChain::FeatureChain(const DeviceSnapshot& device) : core_1_3_(device.api_version >= VK_API_VERSION_1_3) {
  void** tail = &core_.pNext;
  const auto link = [&tail](auto& structure) {
    *tail = &structure;
    tail = &structure.pNext;
  };
  if (device.api_version < VK_API_VERSION_1_2) return;
  link(vulkan11_);
  link(vulkan12_);
  if (core_1_3_) {
    link(vulkan13_);
  } else {
    if (device.has_extension(VK_KHR_SYNCHRONIZATION_2_EXTENSION_NAME)) link(synchronization2_);
    if (device.has_extension(VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME)) link(subgroup_size_control_);
    if (device.has_extension(VK_KHR_MAINTENANCE_4_EXTENSION_NAME)) link(maintenance4_);
    if (device.has_extension(VK_KHR_SHADER_INTEGER_DOT_PRODUCT_EXTENSION_NAME)) link(integer_dot_product_);
  }
  if (device.has_extension(VK_KHR_COOPERATIVE_MATRIX_EXTENSION_NAME)) link(cooperative_matrix_);
  if (device.has_extension(VK_NV_COOPERATIVE_MATRIX_2_EXTENSION_NAME)) link(cooperative_matrix2_);
}

std::span<const FeatureChain::Field> FeatureChain::fields() {
  using C = FeatureChain;
  static constexpr std::array list{
      Field{"shaderFloat64", [](C& c) -> vk::Bool32& { return c.core_.features.shaderFloat64; }},
      Field{"shaderInt64", [](C& c) -> vk::Bool32& { return c.core_.features.shaderInt64; }},
      Field{"shaderInt16", [](C& c) -> vk::Bool32& { return c.core_.features.shaderInt16; }},
      Field{"storageBuffer16BitAccess", [](C& c) -> vk::Bool32& { return c.vulkan11_.storageBuffer16BitAccess; }},
      Field{"uniformAndStorageBuffer16BitAccess",
            [](C& c) -> vk::Bool32& { return c.vulkan11_.uniformAndStorageBuffer16BitAccess; }},
      Field{"storageBuffer8BitAccess", [](C& c) -> vk::Bool32& { return c.vulkan12_.storageBuffer8BitAccess; }},
      Field{"uniformAndStorageBuffer8BitAccess",
            [](C& c) -> vk::Bool32& { return c.vulkan12_.uniformAndStorageBuffer8BitAccess; }},
      Field{"shaderFloat16", [](C& c) -> vk::Bool32& { return c.vulkan12_.shaderFloat16; }},
      Field{"shaderInt8", [](C& c) -> vk::Bool32& { return c.vulkan12_.shaderInt8; }},
      Field{"timelineSemaphore", [](C& c) -> vk::Bool32& { return c.vulkan12_.timelineSemaphore; }},
      Field{"scalarBlockLayout", [](C& c) -> vk::Bool32& { return c.vulkan12_.scalarBlockLayout; }},
      Field{"bufferDeviceAddress", [](C& c) -> vk::Bool32& { return c.vulkan12_.bufferDeviceAddress; }},
      Field{"vulkanMemoryModel", [](C& c) -> vk::Bool32& { return c.vulkan12_.vulkanMemoryModel; }},
      Field{"vulkanMemoryModelDeviceScope",
            [](C& c) -> vk::Bool32& { return c.vulkan12_.vulkanMemoryModelDeviceScope; }},
      Field{"shaderSubgroupExtendedTypes",
            [](C& c) -> vk::Bool32& { return c.vulkan12_.shaderSubgroupExtendedTypes; }},
      Field{"synchronization2",
            [](C& c) -> vk::Bool32& {
              return c.core_1_3_ ? c.vulkan13_.synchronization2 : c.synchronization2_.synchronization2;
            }},
      Field{"subgroupSizeControl",
            [](C& c) -> vk::Bool32& {
              return c.core_1_3_ ? c.vulkan13_.subgroupSizeControl : c.subgroup_size_control_.subgroupSizeControl;
            }},
      Field{"computeFullSubgroups",
            [](C& c) -> vk::Bool32& {
              return c.core_1_3_ ? c.vulkan13_.computeFullSubgroups : c.subgroup_size_control_.computeFullSubgroups;
            }},
      Field{
          "maintenance4",
          [](C& c) -> vk::Bool32& { return c.core_1_3_ ? c.vulkan13_.maintenance4 : c.maintenance4_.maintenance4; }},
      Field{"shaderIntegerDotProduct",
            [](C& c) -> vk::Bool32& {
              return c.core_1_3_ ? c.vulkan13_.shaderIntegerDotProduct
                                 : c.integer_dot_product_.shaderIntegerDotProduct;
            }},
      Field{"cooperativeMatrix", [](C& c) -> vk::Bool32& { return c.cooperative_matrix_.cooperativeMatrix; }},
      Field{"cooperativeMatrixWorkgroupScope",
            [](C& c) -> vk::Bool32& { return c.cooperative_matrix2_.cooperativeMatrixWorkgroupScope; }},
      Field{"cooperativeMatrixFlexibleDimensions",
            [](C& c) -> vk::Bool32& { return c.cooperative_matrix2_.cooperativeMatrixFlexibleDimensions; }},
      Field{"cooperativeMatrixReductions",
            [](C& c) -> vk::Bool32& { return c.cooperative_matrix2_.cooperativeMatrixReductions; }},
      Field{"cooperativeMatrixConversions",
            [](C& c) -> vk::Bool32& { return c.cooperative_matrix2_.cooperativeMatrixConversions; }},
      Field{"cooperativeMatrixPerElementOperations",
            [](C& c) -> vk::Bool32& { return c.cooperative_matrix2_.cooperativeMatrixPerElementOperations; }},
      Field{"cooperativeMatrixTensorAddressing",
            [](C& c) -> vk::Bool32& { return c.cooperative_matrix2_.cooperativeMatrixTensorAddressing; }},
      Field{"cooperativeMatrixBlockLoads",
            [](C& c) -> vk::Bool32& { return c.cooperative_matrix2_.cooperativeMatrixBlockLoads; }},
  };
  return list;
}

std::vector<std::string> FeatureChain::enabled_names() {
  std::vector<std::string> names;
  for (const Field& field : fields()) {
    if (field.of(*this) != VK_FALSE) names.emplace_back(field.name);
  }
  std::ranges::sort(names);
  return names;
}

void FeatureChain::enable(std::span<const std::string> names) {
  for (const std::string& name : names) {
    const auto field = std::ranges::find(fields(), name, &Field::name);
    if (field == fields().end()) fail(ErrorCode::internal, "there is no feature named {}", name);
    field->of(*this) = VK_TRUE;
  }
}

}  // namespace lapilli
