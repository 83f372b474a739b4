#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/failure.h"
#include "base/half.h"
#include "vision/recipe.h"
#include "vision/resize.h"

namespace lapilli {
namespace {

/// Pixels of a resized picture. A long and thin one would grow without bound when its shorter side is enlarged.
constexpr std::int64_t most_pixels = std::int64_t{1} << 26U;

int center_offset(int margin, CenterRounding rounding) {
  switch (rounding) {
    case CenterRounding::up: return (margin + 1) / 2;
    case CenterRounding::down: return margin / 2;
    case CenterRounding::half_even: return margin / 2 + (margin % 4 == 3 ? 1 : 0);
  }
  return margin / 2;
}

/// A centred part of a picture of either kind.
template <class Picture>
Picture center_crop(const Picture& image, int height, int width, CenterRounding rounding) {
  if (height > image.height || width > image.width) {
    fail(ErrorCode::invalid_argument, "a crop of {} x {} does not fit in a picture of {} x {} (height x width)",
         height, width, image.height, image.width);
  }
  const int top = center_offset(image.height - height, rounding);
  const int left = center_offset(image.width - width, rounding);
  Picture result{.width = width, .height = height, .pixels = {}};
  result.pixels.reserve(std::size_t{3} * static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  for (int row = 0; row < height; ++row) {
    const std::int64_t first = 3 * (std::int64_t{top + row} * image.width + left);
    const auto begin = image.pixels.begin() + first;
    result.pixels.insert(result.pixels.end(), begin, begin + std::int64_t{3} * width);
  }
  return result;
}

void check_picture(const Image& image) {
  const std::int64_t values = std::int64_t{3} * image.width * image.height;
  if (image.width <= 0 || image.height <= 0 || std::cmp_not_equal(image.pixels.size(), values)) {
    fail(ErrorCode::invalid_argument, "a picture of {} x {} cannot have {} values", image.width, image.height,
         image.pixels.size());
  }
}

FloatImage resize_checked(const Image& image, std::int64_t height, std::int64_t width, const ImageRecipe& recipe) {
  if (height <= 0 || width <= 0 || height > most_pixels || width > most_pixels || height * width > most_pixels) {
    fail(ErrorCode::invalid_argument, "a picture of {} x {} would be resized to {} x {} (height x width)",
         image.height, image.width, height, width);
  }
  return resize(image, static_cast<int>(height), static_cast<int>(width), recipe.kernel, recipe.library);
}

FloatImage resize_shorter_side(const Image& image, const ImageRecipe& recipe) {
  const std::int64_t size = recipe.size[0];
  const std::int64_t shorter = std::min(image.width, image.height);
  const std::int64_t height = image.height <= image.width ? size : size * image.height / shorter;
  const std::int64_t width = image.width <= image.height ? size : size * image.width / shorter;
  return resize_checked(image, height, width, recipe);
}

FloatImage letterbox(const Image& image, const ImageRecipe& recipe) {
  const auto [height, width] = recipe.size;
  const double scale = std::min(static_cast<double>(height) / image.height, static_cast<double>(width) / image.width);
  const auto scaled = [&](int side, int most) {
    return std::clamp(static_cast<int>(std::lround(side * scale)), 1, std::max(most, 1));
  };
  const FloatImage inner = resize_checked(image, scaled(image.height, height), scaled(image.width, width), recipe);
  FloatImage result{.width = width, .height = height, .pixels = {}};
  result.pixels.assign(std::size_t{3} * static_cast<std::size_t>(width) * static_cast<std::size_t>(height),
                       static_cast<float>(recipe.fill));
  const int top = center_offset(height - inner.height, recipe.rounding);
  const int left = center_offset(width - inner.width, recipe.rounding);
  for (int row = 0; row < inner.height; ++row) {
    const std::int64_t line = std::int64_t{3} * inner.width;
    const auto begin = inner.pixels.begin() + line * row;
    std::copy(begin, begin + line, result.pixels.begin() + 3 * (std::int64_t{top + row} * width + left));
  }
  return result;
}

FloatImage resize_by_rule(const Image& image, const ImageRecipe& recipe) {
  switch (recipe.rule) {
    case ResizeRule::none: return to_float(image);
    case ResizeRule::stretch: return resize_checked(image, recipe.size[0], recipe.size[1], recipe);
    case ResizeRule::shorter_side: return resize_shorter_side(image, recipe);
    case ResizeRule::letterbox: return letterbox(image, recipe);
  }
  fail(ErrorCode::internal, "unknown resize rule");
}

template <class T>
T to_element(float value) {
  if constexpr (std::is_same_v<T, float>) {
    return value;
  } else if constexpr (std::is_same_v<T, Half>) {
    return Half(value);
  } else {
    using Limits = std::numeric_limits<T>;
    return static_cast<T>(std::clamp(std::nearbyint(value), float{Limits::min()}, float{Limits::max()}));
  }
}

template <class T>
void fill_tensor(std::span<T> elements, const FloatImage& image, const ImageRecipe& recipe) {
  const std::size_t plane = image.pixels.size() / 3;
  for (std::size_t channel = 0; channel < 3; ++channel) {
    const std::size_t source = recipe.color == ColorOrder::rgb ? channel : 2 - channel;
    for (std::size_t i = 0; i < plane; ++i) {
      const float value = image.pixels[3 * i + source] / recipe.divisor;
      const std::size_t target = recipe.layout == TensorLayout::nchw ? channel * plane + i : 3 * i + channel;
      elements[target] = to_element<T>((value - recipe.mean[channel]) / recipe.deviation[channel]);
    }
  }
}

}  // namespace

Tensor prepare(const Image& image, const ImageRecipe& recipe) {
  check_picture(image);
  const Image* source = &image;
  Image square;
  if (recipe.center_square != 0) {
    // In float32, as TensorFlow's pipelines compute it.
    const auto side = static_cast<int>(static_cast<float>(recipe.center_square) *
                                       static_cast<float>(std::min(image.width, image.height)));
    square = center_crop(image, std::max(side, 1), std::max(side, 1), recipe.rounding);
    source = &square;
  }
  FloatImage resized = resize_by_rule(*source, recipe);
  if (recipe.crop[0] != 0) resized = center_crop(resized, recipe.crop[0], recipe.crop[1], recipe.rounding);

  std::vector<std::int64_t> shape{1, 3, resized.height, resized.width};
  if (recipe.layout == TensorLayout::nhwc) shape = {1, resized.height, resized.width, 3};
  Tensor tensor = Tensor::allocate(recipe.dtype, std::move(shape));
  switch (recipe.dtype) {
    case DType::float32: fill_tensor(tensor.mutable_elements<float>(), resized, recipe); break;
    case DType::float16: fill_tensor(tensor.mutable_elements<Half>(), resized, recipe); break;
    case DType::uint8: fill_tensor(tensor.mutable_elements<std::uint8_t>(), resized, recipe); break;
    case DType::int8: fill_tensor(tensor.mutable_elements<std::int8_t>(), resized, recipe); break;
    default: fail(ErrorCode::invalid_argument, "a picture cannot become {}", to_string(recipe.dtype));
  }
  return tensor;
}

}  // namespace lapilli
