#include "vision/resize.h"

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>

#include "base/failure.h"

namespace lapilli {
namespace {

int opencv_interpolation(ResizeKernel kernel) {
  switch (kernel) {
    case ResizeKernel::nearest: return cv::INTER_NEAREST;
    case ResizeKernel::bilinear: return cv::INTER_LINEAR;
    case ResizeKernel::bicubic: return cv::INTER_CUBIC;
    case ResizeKernel::area: return cv::INTER_AREA;
  }
  return cv::INTER_LINEAR;
}

/// The two source positions that an output position lies between, and how far it is from the first.
struct Interval {
  int low;
  int high;
  float fraction;
};

std::vector<Interval> corner_anchored_grid(int source, int target) {
  const float scale = static_cast<float>(source) / static_cast<float>(target);
  std::vector<Interval> grid(static_cast<std::size_t>(target));
  for (int i = 0; i < target; ++i) {
    const float position = static_cast<float>(i) * scale;
    const int low = std::min(static_cast<int>(position), source - 1);
    grid[static_cast<std::size_t>(i)] = {low, std::min(low + 1, source - 1), position - std::floor(position)};
  }
  return grid;
}

}  // namespace

FloatImage to_float(const Image& image) {
  return {.width = image.width, .height = image.height, .pixels = {image.pixels.begin(), image.pixels.end()}};
}

Image resize_opencv(const Image& image, int height, int width, ResizeKernel kernel) {
  Image result{.width = width, .height = height, .pixels = {}};
  result.pixels.resize(std::size_t{3} * static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  const cv::Mat source(image.height, image.width, CV_8UC3,
                       const_cast<std::uint8_t*>(image.pixels.data()));  // cv::Mat has no view of const
  cv::Mat target(height, width, CV_8UC3, result.pixels.data());
  cv::resize(source, target, target.size(), 0, 0, opencv_interpolation(kernel));
  return result;
}

FloatImage resize_tensorflow1(const Image& image, int height, int width, ResizeKernel kernel) {
  if (kernel != ResizeKernel::bilinear && kernel != ResizeKernel::nearest) {
    fail(ErrorCode::unsupported, "resizing as tensorflow1 does is there for bilinear and nearest only");
  }
  const std::vector<Interval> rows = corner_anchored_grid(image.height, height);
  const std::vector<Interval> columns = corner_anchored_grid(image.width, width);
  FloatImage result{.width = width, .height = height, .pixels = {}};
  result.pixels.reserve(rows.size() * columns.size() * 3);
  const auto pixel = [&](int row, int column, std::size_t channel) {
    const std::size_t at =
        static_cast<std::size_t>(row) * static_cast<std::size_t>(image.width) + static_cast<std::size_t>(column);
    return static_cast<float>(image.pixels[at * 3 + channel]);
  };
  for (const Interval& row : rows) {
    for (const Interval& column : columns) {
      for (std::size_t channel = 0; channel < 3; ++channel) {
        const float corner = pixel(row.low, column.low, channel);
        if (kernel == ResizeKernel::nearest) {
          result.pixels.push_back(corner);
          continue;
        }
        const float top = corner + (pixel(row.low, column.high, channel) - corner) * column.fraction;
        const float left = pixel(row.high, column.low, channel);
        const float bottom = left + (pixel(row.high, column.high, channel) - left) * column.fraction;
        result.pixels.push_back(top + (bottom - top) * row.fraction);
      }
    }
  }
  return result;
}

FloatImage resize(const Image& image, int height, int width, ResizeKernel kernel, ResizeLibrary library) {
  switch (library) {
    case ResizeLibrary::pillow: return to_float(resize_pillow(image, height, width, kernel));
    case ResizeLibrary::opencv: return to_float(resize_opencv(image, height, width, kernel));
    case ResizeLibrary::tensorflow1: return resize_tensorflow1(image, height, width, kernel);
  }
  fail(ErrorCode::internal, "unknown resize library");
}

}  // namespace lapilli
