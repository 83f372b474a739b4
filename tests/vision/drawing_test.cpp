#include "vision/drawing.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace lapilli {
namespace {

Image plain(int width, int height, std::uint8_t value) {
  return {.width = width,
          .height = height,
          .pixels = std::vector<std::uint8_t>(std::size_t{3} * static_cast<std::size_t>(width * height), value)};
}

std::ptrdiff_t bright_pixels(const Image& image, int first_row) {
  const auto begin = image.pixels.begin() + std::ptrdiff_t{3} * image.width * first_row;
  return std::count_if(begin, image.pixels.end(), [](std::uint8_t value) { return value > 200; }) / 3;
}

TEST(DrawCaption, AddsABarAndLeavesThePicture) {
  const Image picture = plain(400, 100, 77);
  const std::vector<std::string> lines{"tabby 0.41", "lynx 0.02"};
  const Image result = draw_caption(picture, lines);
  EXPECT_EQ(result.width, 400);
  EXPECT_GT(result.height, 100 + 2 * 10);
  EXPECT_TRUE(std::equal(picture.pixels.begin(), picture.pixels.end(), result.pixels.begin()));
  EXPECT_GT(bright_pixels(result, 100), 100);
  EXPECT_EQ(draw_caption(picture, {}).height, 100);
}

TEST(DrawCaption, KeepsLinesInsideSmallPictures) {
  const std::vector<std::string> lines{std::string(200, 'M'), "caf\xC3\xA9"};
  const Image result = draw_caption(plain(10, 10, 0), lines);
  EXPECT_EQ(result.width, 320);
  for (int row = 10; row < result.height; ++row) {
    const std::size_t last = 3 * static_cast<std::size_t>(result.width) * static_cast<std::size_t>(row + 1) - 1;
    EXPECT_LT(result.pixels[last], 100) << "text touches the border in row " << row;
  }
}

}  // namespace
}  // namespace lapilli
