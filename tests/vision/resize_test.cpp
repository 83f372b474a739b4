#include "vision/resize.h"

#include <gtest/gtest.h>

#include <format>

#include "lapilli/error.h"

namespace lapilli {
namespace {

constexpr const char* data_folder = TEST_DATA "/";

std::string data_file(std::string_view name) { return std::format("{}{}", data_folder, name); }

struct Case {
  const char* name;
  ResizeKernel kernel;
};

class PillowResize : public testing::TestWithParam<Case> {};

// The expected pictures were made by Pillow itself (make_data.py).
TEST_P(PillowResize, IsEqualToTheBit) {
  const Image noise = decode_image(data_file("noise.png"));
  for (const auto& [width, height] : {std::pair{20, 15}, {80, 70}, {61, 20}, {33, 47}}) {
    const Image expected = decode_image(data_file(std::format("{}_{}x{}.png", GetParam().name, width, height)));
    const Image result = resize_pillow(noise, height, width, GetParam().kernel);
    EXPECT_EQ(result.width, width);
    EXPECT_EQ(result.height, height);
    EXPECT_EQ(result.pixels, expected.pixels) << GetParam().name << " " << width << " x " << height;
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, PillowResize,
                         testing::Values(Case{"nearest", ResizeKernel::nearest}, Case{"area", ResizeKernel::area},
                                         Case{"bilinear", ResizeKernel::bilinear},
                                         Case{"bicubic", ResizeKernel::bicubic}),
                         [](const auto& test) { return test.param.name; });

Image row(const std::vector<std::uint8_t>& values) {
  Image image{.width = static_cast<int>(values.size()), .height = 1, .pixels = {}};
  for (const std::uint8_t value : values) image.pixels.insert(image.pixels.end(), 3, value);
  return image;
}

// Worked out by hand: the grids of the three libraries differ.
TEST(Resize, GridsDifferBetweenLibraries) {
  const Image source = row({0, 100, 200, 40});
  // The corner grid reads positions 0, 4/3 and 8/3.
  const FloatImage corner = resize(source, 1, 3, ResizeKernel::bilinear, ResizeLibrary::tensorflow1);
  EXPECT_FLOAT_EQ(corner.pixels[0], 0);
  EXPECT_NEAR(corner.pixels[3], 100 + 100 / 3.0, 1e-4);
  EXPECT_NEAR(corner.pixels[6], 200 - 160 * 2 / 3.0, 1e-4);
  // OpenCV reads between the second and third pixel, and halfway between the first two when the size halves.
  const FloatImage center = resize(source, 1, 2, ResizeKernel::bilinear, ResizeLibrary::opencv);
  EXPECT_FLOAT_EQ(center.pixels[0], 50);
  EXPECT_FLOAT_EQ(center.pixels[3], 120);
  // Pillow widens the triangle: weights 3/7, 3/7 and 1/7 at the border.
  const FloatImage antialiased = resize(source, 1, 2, ResizeKernel::bilinear, ResizeLibrary::pillow);
  EXPECT_FLOAT_EQ(antialiased.pixels[0], 71);   // (3 * 0 + 3 * 100 + 200) / 7 = 71.4
  EXPECT_FLOAT_EQ(antialiased.pixels[3], 117);  // (100 + 3 * 200 + 3 * 40) / 7 = 117.1
}

TEST(Resize, SaysWhatAVersionOneGridCannotDo) {
  EXPECT_THROW(resize(row({1, 2}), 1, 1, ResizeKernel::bicubic, ResizeLibrary::tensorflow1), Error);
}

}  // namespace
}  // namespace lapilli
