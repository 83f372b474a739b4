#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "vulkan/buffer.h"
#include "vulkan/device.h"

namespace lapilli {

/// Bytes to put into a buffer: `fill` writes all of the range, once and without reading it.
struct Upload {
  BufferRange to;
  std::function<void(std::span<std::byte>)> fill;
};

/// Does all uploads and returns when work submitted later sees them: in place where the host can write the buffer,
/// through a staging buffer elsewhere.
void upload(const VulkanDevice& device, std::span<const Upload> uploads);

}  // namespace lapilli
