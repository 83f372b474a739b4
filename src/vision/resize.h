#pragma once

#include <vector>

#include "vision/image.h"
#include "vision/recipe.h"

namespace lapilli {

/// As Image, with values that need not be whole.
struct FloatImage {
  int width = 0;
  int height = 0;
  std::vector<float> pixels;
};

/// Sizes are positive. Throws Error (unsupported) when the library has no such kernel.
FloatImage resize(const Image& image, int height, int width, ResizeKernel kernel, ResizeLibrary library);

/// The parts of it, one for each library.
Image resize_pillow(const Image& image, int height, int width, ResizeKernel kernel);
Image resize_opencv(const Image& image, int height, int width, ResizeKernel kernel);
FloatImage resize_tensorflow1(const Image& image, int height, int width, ResizeKernel kernel);

FloatImage to_float(const Image& image);

}  // namespace lapilli
