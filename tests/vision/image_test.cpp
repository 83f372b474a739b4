#include "vision/image.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <format>
#include <fstream>

#include "lapilli/error.h"
#include "vision/image_header.h"

namespace lapilli {
namespace {

constexpr const char* data_folder = TEST_DATA "/";

std::string data_file(std::string_view name) { return std::format("{}{}", data_folder, name); }

using Color = std::array<int, 3>;

Color pixel(const Image& image, int row, int column) {
  const std::size_t at =
      3 * (static_cast<std::size_t>(row) * static_cast<std::size_t>(image.width) + static_cast<std::size_t>(column));
  return {image.pixels[at], image.pixels[at + 1], image.pixels[at + 2]};
}

std::vector<std::byte> read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

ErrorCode code_of(const std::string& path, const DecodeLimits& limits = {}) {
  try {
    (void)decode_image(path, limits);
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(path), std::string::npos) << error.what();
    return error.code();
  }
  return ErrorCode::internal;
}

class DecodeFormat : public testing::TestWithParam<const char*> {};

// 32 x 16 pixels in columns of red, green, blue and white.
TEST_P(DecodeFormat, GivesRgb) {
  const Image image = decode_image(data_file(GetParam()));
  ASSERT_EQ(image.width, 32);
  ASSERT_EQ(image.height, 16);
  EXPECT_EQ(pixel(image, 0, 0), (Color{255, 0, 0}));
  EXPECT_EQ(pixel(image, 15, 8), (Color{0, 255, 0}));
  EXPECT_EQ(pixel(image, 7, 23), (Color{0, 0, 255}));
  EXPECT_EQ(pixel(image, 15, 31), (Color{255, 255, 255}));
}

INSTANTIATE_TEST_SUITE_P(Formats, DecodeFormat,
                         testing::Values("rgb.png", "rgb.bmp", "rgb.tiff", "rgb.ppm", "rgb.webp", "palette.png",
                                         "alpha.png"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::ranges::replace(name, '.', '_');
                           return name;
                         });

TEST(DecodeImage, ExpandsGrey) {
  const Image grey = decode_image(data_file("grey.png"));
  EXPECT_EQ(pixel(grey, 0, 0), (Color{76, 76, 76}));  // 0.299 * 255
  EXPECT_EQ(pixel(grey, 0, 31), (Color{255, 255, 255}));
  const Image deep = decode_image(data_file("grey16.png"));
  EXPECT_EQ(pixel(deep, 1, 3), (Color{48, 48, 48}));  // 3 * 4096 / 256
}

// Its EXIF data ask for a quarter turn clockwise, so the first column becomes the first row.
TEST(DecodeImage, TurnsAsTheCameraWasHeld) {
  const Image image = decode_image(data_file("turned.jpg"));
  ASSERT_EQ(image.width, 16);
  ASSERT_EQ(image.height, 32);
  const Color top = pixel(image, 3, 8);
  const Color bottom = pixel(image, 28, 8);
  EXPECT_GT(top[0], 240);
  EXPECT_LT(top[1], 20);
  EXPECT_GT(bottom[2], 240);
}

TEST(DecodeImage, RefusesDamagedAndForeignFiles) {
  EXPECT_EQ(code_of(data_file("truncated.jpg")), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(data_file("truncated.png")), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(data_file("../CMakeLists.txt")), ErrorCode::unsupported);
  EXPECT_EQ(code_of(data_file("absent.png")), ErrorCode::input_output);
}

TEST(DecodeImage, ChecksSizesBeforeDecoding) {
  EXPECT_EQ(code_of(data_file("rgb.png"), {.file_bytes = 10}), ErrorCode::limit_exceeded);
  for (const char* name : {"rgb.png", "rgb.bmp", "rgb.tiff", "rgb.ppm", "rgb.webp", "turned.jpg"}) {
    EXPECT_EQ(code_of(data_file(name), {.pixels = 32 * 16 - 1}), ErrorCode::limit_exceeded) << name;
  }
}

// No prefix of a valid file may crash; whatever is refused is refused with an Error.
TEST(DecodeImage, SurvivesTruncationAtEveryByte) {
  for (const char* name : {"rgb.png", "rgb.bmp", "rgb.tiff", "rgb.ppm", "rgb.webp", "turned.jpg"}) {
    const std::vector<std::byte> whole = read_bytes(data_file(name));
    for (std::size_t size = 0; size < std::min<std::size_t>(whole.size(), 1200); ++size) {
      try {
        (void)decode_image(std::span(whole).first(size));
      } catch (const Error&) {
        continue;
      }
    }
  }
}

TEST(WriteImage, RoundTripsWithoutLoss) {
  const Image image = decode_image(data_file("noise.png"));
  const std::string path = testing::TempDir() + "written.png";
  write_image(path, image);
  EXPECT_EQ(decode_image(path).pixels, image.pixels);
  EXPECT_THROW(write_image(testing::TempDir() + "written.strange", image), Error);
  EXPECT_THROW(write_image("/nowhere/at/all.png", image), Error);
}

}  // namespace
}  // namespace lapilli
