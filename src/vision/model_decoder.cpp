#include "vision/model_decoder.h"

#include <algorithm>

#include "lapilli/error.h"

namespace lapilli {
namespace {

// As JPEG has it: ITU-R BT.601.
std::uint8_t brightness(std::uint8_t r, std::uint8_t g, std::uint8_t b) {
  return static_cast<std::uint8_t>((19595U * r + 38470U * g + 7471U * b + 0x8000U) >> 16U);
}

Tensor pixels_of(const Image& image, PixelFormat format) {
  const bool gray = format == PixelFormat::grayscale;
  Tensor tensor = Tensor::allocate(DType::uint8, {image.height, image.width, gray ? 1 : 3});
  const std::span<std::uint8_t> target = tensor.mutable_elements<std::uint8_t>();
  const std::span<const std::uint8_t> source = image.pixels;
  if (format == PixelFormat::rgb) {
    std::ranges::copy(source, target.begin());
    return tensor;
  }
  for (std::size_t i = 0; i < source.size(); i += 3) {
    if (gray) {
      target[i / 3] = brightness(source[i], source[i + 1], source[i + 2]);
    } else {
      for (std::size_t j = 0; j < 3; ++j) target[i + j] = source[i + 2 - j];
    }
  }
  return tensor;
}

}  // namespace

ImageDecoder model_image_decoder(const DecodeLimits& limits) {
  return [limits](std::span<const std::byte> file, PixelFormat format) {
    try {
      return pixels_of(decode_image(file, limits), format);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::invalid_argument && error.code() != ErrorCode::unsupported) throw;
      return Tensor::allocate(DType::uint8, {0, 0, format == PixelFormat::grayscale ? 1 : 3});
    }
  };
}

}  // namespace lapilli
