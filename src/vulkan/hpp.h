#pragma once

// The one place that includes Vulkan's own headers, so that all files see the same settings: no prototypes, because
// the loader is opened at run time.
#define VK_NO_PROTOTYPES
#define VULKAN_HPP_DISPATCH_LOADER_DYNAMIC 1
#define VULKAN_HPP_ENABLE_DYNAMIC_LOADER_TOOL 0
#include <vulkan/vulkan_raii.hpp>
