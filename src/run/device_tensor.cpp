#include "run/device_tensor.h"

#include "base/failure.h"
#include "base/packed.h"
#include "vulkan/recording.h"

namespace lapilli {

DeviceTensor::DeviceTensor(VulkanDevice device, DType dtype, std::vector<std::int64_t> shape)
    : device_(std::move(device)), dtype_(dtype), shape_(std::move(shape)), bytes_(device_bytes(dtype, shape_)) {
  // Kernels read whole words.
  if (bytes_ == 0) return;
  with_context("a tensor on the device",
               [&] { buffer_ = device_.allocate((bytes_ + 15) / 16 * 16, MemoryKind::output); });
}

BufferRange DeviceTensor::range() const noexcept {
  return bytes_ == 0 ? BufferRange{} : BufferRange{&buffer_, 0, bytes_};
}

Tensor DeviceTensor::download() const {
  Tensor tensor = Tensor::allocate(dtype_, shape_);
  if (bytes_ == 0) return tensor;
  const auto take = [&](const Buffer& buffer) {
    buffer.invalidate(0, bytes_);
    copy_from_device(dtype_, buffer.mapped().first(bytes_), tensor.mutable_bytes());
  };
  if (!buffer_.mapped().empty()) {
    take(buffer_);
    return tensor;
  }
  const Buffer staging =
      with_context("staging of a result", [&] { return device_.allocate(bytes_, MemoryKind::readback); });
  Recording recording(device_, {});
  recording.copy(range(), {&staging, 0, bytes_});
  recording.barrier(Stage::transfer, Stage::host);
  recording.finish();
  Timeline timeline(device_);
  timeline.submit(recording);
  timeline.wait();
  take(staging);
  return tensor;
}

}  // namespace lapilli
