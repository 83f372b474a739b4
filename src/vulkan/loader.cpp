#include "vulkan/loader.h"

#include <dlfcn.h>

#include <array>
#include <span>

#include "base/failure.h"

namespace lapilli {
namespace {

constexpr std::array<const char*, 2> library_names{"libvulkan.so.1", "libvulkan.so"};

}  // namespace

Loader::Loader(const std::string& library) {
  const char* const chosen = library.c_str();
  const std::span<const char* const> names =
      library.empty() ? std::span<const char* const>(library_names) : std::span(&chosen, 1);
  std::string reason;
  for (const char* name : names) {
    void* handle = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle == nullptr) {
      const char* text = dlerror();
      if (reason.empty()) reason = text != nullptr ? text : name;
      continue;
    }
    get_instance_proc_addr_ = reinterpret_cast<PFN_vkGetInstanceProcAddr>(dlsym(handle, "vkGetInstanceProcAddr"));
    dlclose(handle);
    if (get_instance_proc_addr_ != nullptr) return;
    reason = std::format("{} has no vkGetInstanceProcAddr", name);
  }
  fail(ErrorCode::no_device,
       "no Vulkan on this machine ({}); install the Vulkan loader and a driver (Debian: libvulkan1 and "
       "mesa-vulkan-drivers, or the GPU vendor's driver)",
       reason);
}

}  // namespace lapilli
