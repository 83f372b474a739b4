#include <gtest/gtest.h>

#include <numeric>

#include "base/half.h"
#include "lapilli/error.h"
#include "vision/recipe.h"

namespace lapilli {
namespace {

struct Expected {
  const char* photo;
  const char* preset;
  double sum;
  std::array<float, 12> samples;  ///< of each channel those at (0, 0), (1, 3), (100, 111), (223, 223)
};

class PreparePhoto : public testing::TestWithParam<Expected> {};

// The numbers come from torchvision 0.14 and TensorFlow 2.21 (make_data.py).
TEST_P(PreparePhoto, AsItsLibraryDoes) {
  const Expected& expected = GetParam();
  const Image photo = decode_image(std::string(ASSETS "/photos/") + expected.photo);
  const Tensor input = prepare(photo, recipe_preset(expected.preset));
  EXPECT_EQ(input.shape(), (std::vector<std::int64_t>{1, 3, 224, 224}));
  const std::span<const float> values = input.elements<float>();
  EXPECT_NEAR(std::accumulate(values.begin(), values.end(), 0.0), expected.sum, 0.01);
  constexpr std::array<std::size_t, 4> positions{0, 224 + 3, 100 * 224 + 111, 223 * 224 + 223};
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_NEAR(values[i / 4 * 224 * 224 + positions[i % 4]], expected.samples[i], 1e-6F) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Presets, PreparePhoto,
    testing::Values(
        Expected{.photo = "chelsea.png",
                 .preset = "imagenet-torchvision",
                 .sum = -15780.764266122133,
                 .samples = {0.793304265F, 0.570682466F, 0.930302262F, 1.1871736F, 0.275210202F, 0.0126050515F,
                             0.467787206F, 0.905462265F, 0.0953377634F, -0.20095852F, 0.339346468F, 0.775076449F}},
        Expected{.photo = "chelsea.png",
                 .preset = "efficientnet-lite",
                 .sum = -21669.83964765072,
                 .samples = {0.34375F, 0.195125699F, 0.442912459F, 0.512749434F, 0.0234375F, -0.117374361F,
                             0.168916821F, 0.315011024F, -0.1484375F, -0.312686861F, 0.0145030022F, 0.166038752F}},
        Expected{.photo = "coffee.png",
                 .preset = "imagenet-torchvision",
                 .sum = -52866.67943530157,
                 .samples = {0.587807178F, 0.878928006F, 1.92353797F, 0.485058695F, -0.932773054F, -0.827731013F,
                             0.572829247F, -0.600139976F, -1.3861438F, -1.3861438F, -0.863267958F, -1.0549891F}},
        Expected{.photo = "coffee.png",
                 .preset = "efficientnet-lite",
                 .sum = -38065.91076660156,
                 .samples = {0.234375F, 0.362945557F, 0.861450195F, 0.0937194824F, -0.5F, -0.45690918F, 0.177246094F,
                             -0.39944458F, -0.8125F, -0.800872803F, -0.566040039F, -0.673187256F}}));

/// 2 rows of 3 pixels; the value of a channel is 100 * row + 10 * column + channel.
Image numbered() {
  Image image{.width = 3, .height = 2, .pixels = {}};
  for (int row = 0; row < 2; ++row) {
    for (int column = 0; column < 3; ++column) {
      for (int channel = 0; channel < 3; ++channel) {
        image.pixels.push_back(static_cast<std::uint8_t>(100 * row + 10 * column + channel));
      }
    }
  }
  return image;
}

std::vector<int> as_integers(const Tensor& tensor) {
  const std::span<const std::uint8_t> elements = tensor.elements<std::uint8_t>();
  return {elements.begin(), elements.end()};
}

TEST(Prepare, LaysOutChannels) {
  ImageRecipe recipe;
  recipe.dtype = DType::uint8;
  EXPECT_EQ(as_integers(prepare(numbered(), recipe)),
            (std::vector{0, 10, 20, 100, 110, 120, 1, 11, 21, 101, 111, 121, 2, 12, 22, 102, 112, 122}));
  recipe.layout = TensorLayout::nhwc;
  recipe.color = ColorOrder::bgr;
  const Tensor last = prepare(numbered(), recipe);
  EXPECT_EQ(last.shape(), (std::vector<std::int64_t>{1, 2, 3, 3}));
  EXPECT_EQ(as_integers(last),
            (std::vector{2, 1, 0, 12, 11, 10, 22, 21, 20, 102, 101, 100, 112, 111, 110, 122, 121, 120}));
}

TEST(Prepare, NormalisesRoundsAndSaturates) {
  ImageRecipe recipe;
  recipe.crop = {1, 1};
  recipe.rounding = CenterRounding::down;  // the pixel at row 0, column 1: 10, 11, 12
  recipe.divisor = 2;
  recipe.mean = {1, 2, 3};
  recipe.deviation = {2, 1, 0.001F};
  const Tensor result = prepare(numbered(), recipe);
  EXPECT_EQ(result.elements<float>()[0], 2.0F);
  EXPECT_EQ(result.elements<float>()[1], 3.5F);
  recipe.dtype = DType::int8;
  const Tensor narrow = prepare(numbered(), recipe);
  EXPECT_EQ(narrow.elements<std::int8_t>()[1], 4);    // 3.5 to the even neighbour
  EXPECT_EQ(narrow.elements<std::int8_t>()[2], 127);  // 3000
  recipe.dtype = DType::float16;
  EXPECT_EQ(static_cast<float>(prepare(numbered(), recipe).elements<Half>()[1]), 3.5F);
}

// Python's round(): a margin of 1 starts at 0, one of 3 at 2.
TEST(Prepare, RoundsCentresLikeItsLibrary) {
  Image image{.width = 4, .height = 1, .pixels = std::vector<std::uint8_t>(12)};
  for (std::uint8_t i = 0; i < 12; ++i) image.pixels[i] = i / 3;
  const auto first_column = [&](int width, CenterRounding rounding) {
    ImageRecipe recipe;
    recipe.crop = {1, width};
    recipe.rounding = rounding;
    return prepare(image, recipe).elements<float>()[0];
  };
  EXPECT_EQ(first_column(3, CenterRounding::half_even), 0);
  EXPECT_EQ(first_column(1, CenterRounding::half_even), 2);
  EXPECT_EQ(first_column(3, CenterRounding::up), 1);
  EXPECT_EQ(first_column(1, CenterRounding::up), 2);
  EXPECT_EQ(first_column(1, CenterRounding::down), 1);
}

TEST(Prepare, LetterboxCentresAndFills) {
  ImageRecipe recipe;
  recipe.rule = ResizeRule::letterbox;
  recipe.kernel = ResizeKernel::nearest;
  recipe.size = {4, 3};
  recipe.fill = 114;
  recipe.dtype = DType::uint8;
  const std::vector<int> values = as_integers(prepare(numbered(), recipe));
  EXPECT_EQ((std::vector<int>{values.begin(), values.begin() + 12}),
            (std::vector{114, 114, 114, 0, 10, 20, 100, 110, 120, 114, 114, 114}));
}

TEST(Prepare, RefusesWhatCannotBeDone) {
  ImageRecipe recipe;
  recipe.crop = {3, 3};
  EXPECT_THROW(prepare(numbered(), recipe), Error);
  // Enlarging the shorter side of a thin picture would need 32,768 x 983,040,000 pixels.
  const Image thin{.width = 30000, .height = 1, .pixels = std::vector<std::uint8_t>(90000)};
  ImageRecipe huge;
  huge.rule = ResizeRule::shorter_side;
  huge.size = {32768, 32768};
  EXPECT_THROW(prepare(thin, huge), Error);
  EXPECT_THROW(prepare(Image{}, ImageRecipe{}), Error);
}

}  // namespace
}  // namespace lapilli
