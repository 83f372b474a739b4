#pragma once

#include <array>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "lapilli/tensor.h"
#include "vision/image.h"

namespace lapilli {

enum class ColorOrder : std::uint8_t { rgb, bgr };

enum class ResizeRule : std::uint8_t {
  none,
  stretch,       ///< to the size, whatever the shape was
  shorter_side,  ///< the shorter side to `size[0]`, the longer in proportion, rounded down as torchvision does
  letterbox,     ///< as large as fits in the size in proportion, centred, the rest filled
};

enum class ResizeKernel : std::uint8_t { nearest, bilinear, bicubic, area };

/// Whose way of resizing is followed; the same kernel gives different numbers in each.
enum class ResizeLibrary : std::uint8_t {
  pillow,       ///< antialiased, 8-bit between the passes; torchvision's transforms on PIL images
  opencv,       ///< samples at pixel centres, not antialiased except for area
  tensorflow1,  ///< tf.image.resize of version 1: grid anchored at the corner, not antialiased, float results
};

/// Where a centred crop begins when the margin is odd.
enum class CenterRounding : std::uint8_t {
  half_even,  ///< torchvision, through Python's round()
  up,         ///< TensorFlow's EfficientNet
  down,
};

enum class TensorLayout : std::uint8_t { nchw, nhwc };

/// How a picture becomes the input of a network. The steps happen in the order of the members.
struct ImageRecipe {
  double center_square = 0;  ///< cut a centred square of this part of the shorter side, in (0, 1]; 0: no cut
  ResizeRule rule = ResizeRule::none;
  ResizeKernel kernel = ResizeKernel::bilinear;
  ResizeLibrary library = ResizeLibrary::pillow;
  std::array<int, 2> size{0, 0};  ///< height, width
  std::uint8_t fill = 0;          ///< of the margins of letterbox
  std::array<int, 2> crop{0, 0};  ///< height, width of a centred crop; 0: no crop
  CenterRounding rounding = CenterRounding::half_even;
  ColorOrder color = ColorOrder::rgb;
  float divisor = 1;  ///< the result is (value / divisor - mean) / deviation, computed in float32
  std::array<float, 3> mean{0, 0, 0};
  std::array<float, 3> deviation{1, 1, 1};  ///< both in the order of `color`
  TensorLayout layout = TensorLayout::nchw;
  DType dtype = DType::float32;  ///< float32, float16, or uint8 and int8 (rounded and saturated)

  friend bool operator==(const ImageRecipe&, const ImageRecipe&) = default;
};

/// The input tensor, of shape [1, 3, height, width] or [1, height, width, 3]. Throws Error (invalid_argument) when
/// the recipe cannot be followed for this picture, such as a crop that is larger than it.
Tensor prepare(const Image& image, const ImageRecipe& recipe);

/// "imagenet-torchvision", "efficientnet-lite" or "none". Throws Error (invalid_argument) that lists the names.
ImageRecipe recipe_preset(std::string_view name);
std::span<const std::string_view> recipe_preset_names() noexcept;

/// JSON, in the words of the members above; what is left out has its default. Throws Error (invalid_argument) that
/// names the key.
ImageRecipe recipe_from_json(std::string_view text);
std::string recipe_to_json(const ImageRecipe& recipe);

/// What lies beside a model of images, as JSON: {"input": name, "labels": file, "recipe": preset or object}.
struct ImageModelInfo {
  std::string input;             ///< empty: the model's only input
  std::filesystem::path labels;  ///< empty: none. In the file it is relative to the file's own folder
  ImageRecipe recipe;
};

/// Throws Error that names the file.
ImageModelInfo read_image_model_info(const std::filesystem::path& path);

/// The place of the file that belongs to a model: model.onnx has model.json.
std::filesystem::path image_model_info_path(const std::filesystem::path& model);

}  // namespace lapilli
