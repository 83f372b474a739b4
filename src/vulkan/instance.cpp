#include "vulkan/instance.h"

#include <algorithm>
#include <array>
#include <format>
#include <string_view>

#include "vulkan/guard.h"

namespace lapilli {
namespace {

constexpr const char* validation_layer = "VK_LAYER_KHRONOS_validation";

VKAPI_ATTR vk::Bool32 VKAPI_CALL on_message(vk::DebugUtilsMessageSeverityFlagBitsEXT /*severity*/,
                                            vk::DebugUtilsMessageTypeFlagsEXT /*types*/,
                                            const vk::DebugUtilsMessengerCallbackDataEXT* data, void* log) {
  static_cast<ValidationLog*>(log)->add(data->pMessage);
  return VK_FALSE;
}

vk::DebugUtilsMessengerCreateInfoEXT messenger_info(ValidationLog& log) {
  using Severity = vk::DebugUtilsMessageSeverityFlagBitsEXT;
  using Type = vk::DebugUtilsMessageTypeFlagBitsEXT;
  return {{}, Severity::eWarning | Severity::eError, Type::eValidation, &on_message, &log};
}

bool offers(const std::vector<vk::ExtensionProperties>& extensions, std::string_view name) {
  return std::ranges::any_of(
      extensions, [&](const auto& extension) { return std::string_view(extension.extensionName) == name; });
}

/// What an instance with validation needs besides the layer's name.
class Validation {
 public:
  Validation(const vk::raii::Context& context, ValidationLog& log) : messenger_(messenger_info(log)) {
    const auto layers = context.enumerateInstanceLayerProperties();
    if (!std::ranges::any_of(
            layers, [](const auto& layer) { return std::string_view(layer.layerName) == validation_layer; })) {
      fail(ErrorCode::no_device, "validation needs {}, which is not installed (Debian: vulkan-validationlayers)",
           validation_layer);
    }
    const auto extensions = context.enumerateInstanceExtensionProperties(std::string(validation_layer));
    extensions_.push_back(VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
    if (offers(extensions, VK_EXT_LAYER_SETTINGS_EXTENSION_NAME)) {
      extensions_.push_back(VK_EXT_LAYER_SETTINGS_EXTENSION_NAME);
      messenger_.pNext = &layer_settings_;
    } else {
      extensions_.push_back(VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME);
      messenger_.pNext = &features_;
    }
  }
  Validation(const Validation&) = delete;
  Validation& operator=(const Validation&) = delete;

  [[nodiscard]] const void* chain() const noexcept { return &messenger_; }
  [[nodiscard]] const std::vector<const char*>& extensions() const noexcept { return extensions_; }

 private:
  vk::Bool32 on_ = VK_TRUE;
  // The second one has it look into what shaders access, without which it knows of copies only.
  std::array<vk::LayerSettingEXT, 2> settings_{
      vk::LayerSettingEXT{validation_layer, "validate_sync", vk::LayerSettingTypeEXT::eBool32, 1, &on_},
      vk::LayerSettingEXT{validation_layer, "syncval_shader_accesses_heuristic", vk::LayerSettingTypeEXT::eBool32, 1,
                          &on_}};
  vk::LayerSettingsCreateInfoEXT layer_settings_{static_cast<std::uint32_t>(settings_.size()), settings_.data()};
  vk::ValidationFeatureEnableEXT feature_ = vk::ValidationFeatureEnableEXT::eSynchronizationValidation;
  vk::ValidationFeaturesEXT features_{1, &feature_};
  vk::DebugUtilsMessengerCreateInfoEXT messenger_;
  std::vector<const char*> extensions_;
};

vk::raii::Instance create_instance(const vk::raii::Context& context, const Validation* validation) {
  std::vector<const char*> extensions;
  vk::InstanceCreateFlags flags;
  if (offers(context.enumerateInstanceExtensionProperties(), VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME)) {
    extensions.push_back(VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME);
    flags |= vk::InstanceCreateFlagBits::eEnumeratePortabilityKHR;
  }
  std::span<const char* const> layers;
  if (validation != nullptr) {
    layers = std::span(&validation_layer, 1);
    extensions.insert(extensions.end(), validation->extensions().begin(), validation->extensions().end());
  }
  const vk::ApplicationInfo application("lapilli", 0, "lapilli", 0, Instance::api_version);
  vk::InstanceCreateInfo info(flags, &application);
  info.setPEnabledExtensionNames(extensions);
  info.enabledLayerCount = static_cast<std::uint32_t>(layers.size());
  info.ppEnabledLayerNames = layers.data();
  info.pNext = validation != nullptr ? validation->chain() : nullptr;
  try {
    return {context, info};
  } catch (const vk::IncompatibleDriverError&) {
    fail(ErrorCode::no_device,
         "Vulkan is installed, but no driver was found; install the driver of the GPU, or "
         "mesa-vulkan-drivers (Debian) to run on the CPU");
  }
}

}  // namespace

Instance::Instance(const DeviceOptions& options)
    : get_instance_proc_addr_(Loader(options.loader).get_instance_proc_addr()), context_(get_instance_proc_addr_) {
  guard("Vulkan instance", [&] {
    if (context_.getDispatcher()->vkEnumerateInstanceVersion == nullptr) {
      fail(ErrorCode::no_device, "the Vulkan loader of this machine is of version 1.0; Lapilli needs 1.2 or newer");
    }
    if (!options.validation) {
      instance_ = create_instance(context_, nullptr);
      return;
    }
    const Validation validation(context_, log_);
    instance_ = create_instance(context_, &validation);
    messenger_ = instance_.createDebugUtilsMessengerEXT(messenger_info(log_));
  });
}

Instance::Instance(PFN_vkGetInstanceProcAddr entry, VkInstance lent)
    : get_instance_proc_addr_(entry), lent_(true), context_(get_instance_proc_addr_), instance_(context_, lent) {}

Instance::~Instance() {
  if (lent_) (void)instance_.release();
}

std::vector<vk::raii::PhysicalDevice> Instance::physical_devices() const {
  try {
    return instance_.enumeratePhysicalDevices();
  } catch (const vk::InitializationFailedError&) {
    return {};  // what the loader says when no driver has a device
  }
}

}  // namespace lapilli
