// Pillow's resizing of 8-bit pictures, to the bit: a convolution for each axis whose kernel is widened when the
// picture shrinks, weights in fixed point of 22 bits, and a result of 8 bits after each axis, the horizontal one
// first.
#include <algorithm>
#include <cmath>

#include "base/failure.h"
#include "vision/resize.h"

namespace lapilli {
namespace {

constexpr int fraction_bits = 22;

struct Filter {
  double support;  ///< half the width, in source pixels at scale 1
  double (*weight)(double);
};

double box_weight(double x) { return x > -0.5 && x <= 0.5 ? 1.0 : 0.0; }

double triangle_weight(double x) { return std::max(0.0, 1.0 - std::abs(x)); }

double cubic_weight(double x) {
  constexpr double a = -0.5;
  x = std::abs(x);
  if (x < 1.0) return ((a + 2.0) * x - (a + 3.0)) * x * x + 1;
  if (x < 2.0) return (((x - 5) * x + 8) * x - 4) * a;
  return 0.0;
}

Filter filter_of(ResizeKernel kernel) {
  switch (kernel) {
    case ResizeKernel::bilinear: return {1.0, triangle_weight};
    case ResizeKernel::bicubic: return {2.0, cubic_weight};
    case ResizeKernel::area: return {0.5, box_weight};
    case ResizeKernel::nearest: break;
  }
  fail(ErrorCode::internal, "nearest has no filter");
}

/// The source pixels that make one output pixel.
struct Window {
  int first;
  std::vector<int> weights;  ///< fixed point
};

/// Halves go up, unlike with std::lround below zero.
int round_towards_end(double x) {
  x += 0.5;
  return static_cast<int>(x);
}

std::vector<Window> windows_of(int source, int target, const Filter& filter) {
  const double scale = static_cast<double>(source) / target;
  const double widening = std::max(scale, 1.0);
  const double support = filter.support * widening;
  const double inverse = 1.0 / widening;
  std::vector<Window> windows(static_cast<std::size_t>(target));
  std::vector<double> weights;
  for (int i = 0; i < target; ++i) {
    const double center = (i + 0.5) * scale;
    const int first = std::max(round_towards_end(center - support), 0);
    const int last = std::min(round_towards_end(center + support), source);
    weights.clear();
    double sum = 0;
    for (int x = 0; x < last - first; ++x) {
      weights.push_back(filter.weight((x + first - center + 0.5) * inverse));
      sum += weights.back();
    }
    Window& window = windows[static_cast<std::size_t>(i)];
    window.first = first;
    for (double weight : weights) {
      if (sum != 0) weight /= sum;
      window.weights.push_back(static_cast<int>(std::copysign(0.5, weight) + weight * (1 << fraction_bits)));
    }
  }
  return windows;
}

std::uint8_t to_byte(int sum) { return static_cast<std::uint8_t>(std::clamp(sum >> fraction_bits, 0, 255)); }

/// `source` and `result` are rows of pixels; `step` leads from one source value of a window to the next.
std::uint8_t weighted_sum(const std::uint8_t* source, std::size_t step, const Window& window) {
  int sum = 1 << (fraction_bits - 1);
  for (const int weight : window.weights) {
    sum += *source * weight;
    source += step;
  }
  return to_byte(sum);
}

Image resize_rows(const Image& image, int width, const Filter& filter) {
  const std::vector<Window> windows = windows_of(image.width, width, filter);
  Image result{.width = width, .height = image.height, .pixels = {}};
  result.pixels.reserve(windows.size() * static_cast<std::size_t>(image.height) * 3);
  for (int row = 0; row < image.height; ++row) {
    const std::uint8_t* line =
        image.pixels.data() + std::size_t{3} * static_cast<std::size_t>(image.width) * static_cast<std::size_t>(row);
    for (const Window& window : windows) {
      const std::uint8_t* first = line + std::size_t{3} * static_cast<std::size_t>(window.first);
      for (std::size_t channel = 0; channel < 3; ++channel) {
        result.pixels.push_back(weighted_sum(first + channel, 3, window));
      }
    }
  }
  return result;
}

Image resize_columns(const Image& image, int height, const Filter& filter) {
  const std::size_t line = std::size_t{3} * static_cast<std::size_t>(image.width);
  Image result{.width = image.width, .height = height, .pixels = {}};
  result.pixels.reserve(line * static_cast<std::size_t>(height));
  for (const Window& window : windows_of(image.height, height, filter)) {
    const std::uint8_t* first = image.pixels.data() + line * static_cast<std::size_t>(window.first);
    for (std::size_t column = 0; column < line; ++column) {
      result.pixels.push_back(weighted_sum(first + column, line, window));
    }
  }
  return result;
}

Image resize_nearest(const Image& image, int height, int width) {
  const auto source_of = [](int target, int source_size, int target_size) {
    const double scale = static_cast<double>(source_size) / target_size;
    return static_cast<std::size_t>(std::min(static_cast<int>((target + 0.5) * scale), source_size - 1));
  };
  Image result{.width = width, .height = height, .pixels = {}};
  result.pixels.reserve(std::size_t{3} * static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  for (int row = 0; row < height; ++row) {
    const std::size_t line = source_of(row, image.height, height) * static_cast<std::size_t>(image.width);
    for (int column = 0; column < width; ++column) {
      const auto* pixel = image.pixels.data() + 3 * (line + source_of(column, image.width, width));
      result.pixels.insert(result.pixels.end(), pixel, pixel + 3);
    }
  }
  return result;
}

}  // namespace

Image resize_pillow(const Image& image, int height, int width, ResizeKernel kernel) {
  if (kernel == ResizeKernel::nearest) return resize_nearest(image, height, width);
  const Filter filter = filter_of(kernel);
  Image result = width == image.width ? image : resize_rows(image, width, filter);
  if (height != image.height) result = resize_columns(result, height, filter);
  return result;
}

}  // namespace lapilli
