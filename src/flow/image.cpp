// ImageDecoder: the application decodes.
#include <array>

#include "flow/host_call.h"

namespace lapilli {
namespace {

PixelFormat format_of(const HostCall& call) {
  const auto name = call.attribute<std::string>("pixel_format", "RGB");
  if (name == "RGB") return PixelFormat::rgb;
  if (name == "BGR") return PixelFormat::bgr;
  if (name == "Grayscale") return PixelFormat::grayscale;
  fail(ErrorCode::invalid_model, "pixel_format is '{}'", onnx::printable(name));
}

void decode_image(HostCall& call) {
  const PixelFormat format = format_of(call);
  const Tensor& file = call.tensor(0);
  if (file.dtype() != DType::uint8 || file.shape().size() != 1) {
    fail(ErrorCode::invalid_model, "the file is {} of {} dimensions, uint8 of one is needed", to_string(file.dtype()),
         file.shape().size());
  }
  const ImageDecoder& decode = call.services().decode_image;
  if (!decode) {
    fail(ErrorCode::unsupported,
         "pictures are decoded by the application, which has set no ModelOptions::decode_image; "
         "lapilli/vision has one");
  }
  Tensor pixels = decode(file.bytes(), format);
  const std::int64_t channels = format == PixelFormat::grayscale ? 1 : 3;
  if (pixels.dtype() != DType::uint8 || pixels.shape().size() != 3 || pixels.shape()[2] != channels) {
    fail(ErrorCode::invalid_argument,
         "ModelOptions::decode_image gave {} of {} dimensions, uint8 [height, width, {}] is needed",
         to_string(pixels.dtype()), pixels.shape().size(), channels);
  }
  call.set_output(0, std::move(pixels));
}

constexpr std::array operators{
    HostOperator{"ImageDecoder", 20, decode_image, "pictures are decoded by the application"},
};

}  // namespace

std::span<const HostOperator> image_operators() { return operators; }

}  // namespace lapilli
