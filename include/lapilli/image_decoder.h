#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "lapilli/tensor.h"

namespace lapilli {

/// The channels of a decoded picture, in their order.
enum class PixelFormat : std::uint8_t { rgb, bgr, grayscale };

/// Decodes a picture file to uint8 [height, width, channels]; [0, 0, channels] where the file is no picture that it
/// can decode, which is what ONNX wants. Called from the threads that run models, so it has to be thread-safe.
using ImageDecoder = std::function<Tensor(std::span<const std::byte> file, PixelFormat format)>;

}  // namespace lapilli
