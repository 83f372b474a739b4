#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "vulkan/buffer.h"
#include "vulkan/device.h"

namespace lapilli {

/// Bytes to put into a buffer, in parts that threads share.
struct Upload {
  BufferRange to;
  /// Writes one part of the range; all parts write all of it, each byte once, and read none.
  std::function<void(std::span<std::byte> range, std::size_t part)> fill;
  std::size_t parts = 1;
  std::function<void()> filled;  ///< where there is one, it is called when all parts are written
};

/// Does all uploads and returns when work submitted later sees them: in place where the host can write the buffer,
/// through a staging buffer elsewhere.
void upload(const VulkanDevice& device, std::span<const Upload> uploads);

}  // namespace lapilli
