#include "run/device_tensor.h"

#include <cstring>

#include "vulkan/recording.h"

namespace lapilli {

DeviceTensor::DeviceTensor(VulkanDevice device, DType dtype, std::vector<std::int64_t> shape)
    : device_(std::move(device)),
      dtype_(dtype),
      shape_(std::move(shape)),
      bytes_(byte_count(dtype, element_count(shape_))) {
  // Kernels read whole words.
  if (bytes_ != 0) buffer_ = device_.allocate((bytes_ + 15) / 16 * 16, MemoryKind::output);
}

BufferRange DeviceTensor::range() const noexcept {
  return bytes_ == 0 ? BufferRange{} : BufferRange{&buffer_, 0, bytes_};
}

Tensor DeviceTensor::download() const {
  Tensor tensor = Tensor::allocate(dtype_, shape_);
  if (bytes_ == 0) return tensor;
  if (!buffer_.mapped().empty()) {
    buffer_.invalidate(0, bytes_);
    std::memcpy(tensor.mutable_bytes().data(), buffer_.mapped().data(), bytes_);
    return tensor;
  }
  const Buffer staging = device_.allocate(bytes_, MemoryKind::readback);
  Recording recording(device_, {});
  recording.copy(range(), {&staging, 0, bytes_});
  recording.barrier(Stage::transfer, Stage::host);
  recording.finish();
  Timeline timeline(device_);
  timeline.submit(recording);
  timeline.wait();
  staging.invalidate(0, bytes_);
  std::memcpy(tensor.mutable_bytes().data(), staging.mapped().data(), bytes_);
  return tensor;
}

}  // namespace lapilli
