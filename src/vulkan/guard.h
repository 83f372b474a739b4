#pragma once

#include <string_view>
#include <utility>

#include "base/failure.h"
#include "vulkan/hpp.h"

namespace lapilli {

/// The code that a failed Vulkan call means to the caller of Lapilli.
ErrorCode error_code_of(vk::Result result) noexcept;

/// Runs `action`, which calls Vulkan; what Vulkan throws becomes an Error whose text begins with `what`.
template <class Action>
decltype(auto) guard(std::string_view what, Action&& action) {
  try {
    return std::forward<Action>(action)();
  } catch (const vk::SystemError& error) {
    const auto result = static_cast<vk::Result>(error.code().value());
    const bool lost = result == vk::Result::eErrorDeviceLost;
    fail(error_code_of(result), "{}: {}{}", what, vk::to_string(result),
         lost ? "; the driver gave up on the device, open it again" : "");
  }
}

}  // namespace lapilli
