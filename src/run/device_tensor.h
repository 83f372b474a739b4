#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "lapilli/tensor.h"
#include "vulkan/buffer.h"
#include "vulkan/device.h"

namespace lapilli {

/// A tensor in device memory of its own: what one Program leaves for the next. Dense row-major elements, packed ones
/// one a byte (src/base/packed.h). The work that fills it has ended.
class DeviceTensor {
 public:
  DeviceTensor(VulkanDevice device, DType dtype, std::vector<std::int64_t> shape);

  [[nodiscard]] DType dtype() const noexcept { return dtype_; }
  [[nodiscard]] const std::vector<std::int64_t>& shape() const noexcept { return shape_; }
  /// Empty when there are no elements.
  [[nodiscard]] BufferRange range() const noexcept;
  /// A copy for the host.
  [[nodiscard]] Tensor download() const;

 private:
  VulkanDevice device_;
  DType dtype_;
  std::vector<std::int64_t> shape_;
  std::uint64_t bytes_;
  Buffer buffer_;
};

}  // namespace lapilli
