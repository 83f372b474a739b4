#pragma once

#include <memory>
#include <string>

#include "vulkan/hpp.h"

namespace lapilli {

/// The Vulkan loader of the system, opened at run time and kept until the process ends: drivers have threads and exit
/// handlers that must not lose their code.
class Loader {
 public:
  /// Opens `library`, or the names this system uses for it when that is empty.
  /// Throws Error (no_device) when there is none.
  explicit Loader(const std::string& library);

  [[nodiscard]] PFN_vkGetInstanceProcAddr get_instance_proc_addr() const noexcept { return get_instance_proc_addr_; }

 private:
  PFN_vkGetInstanceProcAddr get_instance_proc_addr_ = nullptr;
};

}  // namespace lapilli
