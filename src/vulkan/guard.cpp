#include "vulkan/guard.h"

namespace lapilli {

ErrorCode error_code_of(vk::Result result) noexcept {
  switch (result) {
    case vk::Result::eErrorDeviceLost: return ErrorCode::device_lost;
    case vk::Result::eErrorOutOfDeviceMemory:
    case vk::Result::eErrorOutOfHostMemory:
    case vk::Result::eErrorOutOfPoolMemory:
    case vk::Result::eErrorFragmentedPool:
    case vk::Result::eErrorTooManyObjects: return ErrorCode::out_of_memory;
    case vk::Result::eErrorFeatureNotPresent:
    case vk::Result::eErrorExtensionNotPresent:
    case vk::Result::eErrorLayerNotPresent:
    case vk::Result::eErrorIncompatibleDriver:
    case vk::Result::eErrorInitializationFailed: return ErrorCode::no_device;
    default: return ErrorCode::internal;
  }
}

}  // namespace lapilli
