#include "vision/recipe.h"

#include <gtest/gtest.h>

#include <fstream>

#include "lapilli/error.h"

namespace lapilli {
namespace {

std::string error_of(const std::string& json) {
  try {
    (void)recipe_from_json(json);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    return error.what();
  }
  return "";
}

TEST(Recipe, JsonSaysWhatPresetsSay) {
  const ImageRecipe recipe = recipe_from_json(R"({
    "rule": "shorter_side", "size": 256, "crop": [224, 224], "divisor": 255,
    "mean": [0.485, 0.456, 0.406], "deviation": [0.229, 0.224, 0.225]})");
  EXPECT_EQ(recipe, recipe_preset("imagenet-torchvision"));
  EXPECT_EQ(recipe_from_json("{}"), recipe_preset("none"));
}

TEST(Recipe, RoundTripsThroughJson) {
  for (const std::string_view name : recipe_preset_names()) {
    EXPECT_EQ(recipe_from_json(recipe_to_json(recipe_preset(name))), recipe_preset(name)) << name;
  }
  ImageRecipe unusual;
  unusual.rule = ResizeRule::letterbox;
  unusual.kernel = ResizeKernel::area;
  unusual.library = ResizeLibrary::opencv;
  unusual.size = {320, 640};
  unusual.fill = 114;
  unusual.rounding = CenterRounding::down;
  unusual.color = ColorOrder::bgr;
  unusual.layout = TensorLayout::nhwc;
  unusual.dtype = DType::uint8;
  EXPECT_EQ(recipe_from_json(recipe_to_json(unusual)), unusual);
}

TEST(Recipe, NamesWhatIsWrong) {
  EXPECT_NE(error_of(R"({"kernal": "area"})").find("\"kernal\""), std::string::npos);
  EXPECT_NE(error_of(R"({"kernel": "lanczos"})").find("nearest, bilinear, bicubic, area"), std::string::npos);
  EXPECT_NE(error_of(R"({"mean": [1, 2]})").find("\"mean\""), std::string::npos);
  EXPECT_NE(error_of(R"({"rule": "stretch"})").find("\"size\""), std::string::npos);
  EXPECT_NE(error_of(R"({"size": 1e99})").find("\"size\""), std::string::npos);
  EXPECT_NE(error_of(R"({"crop": [0, 5]})").find("\"crop\""), std::string::npos);
  EXPECT_NE(error_of(R"({"deviation": 0})").find("must not be 0"), std::string::npos);
  EXPECT_NE(error_of("[").find("JSON"), std::string::npos);
  EXPECT_NE(error_of(std::string(100000, '[')).find("deep"), std::string::npos);
  EXPECT_THROW(recipe_preset("imagenet"), Error);
}

TEST(ImageModelInfo, LiesBesideTheModel) {
  EXPECT_EQ(image_model_info_path("folder/model.onnx"), "folder/model.json");
  const ImageModelInfo info = read_image_model_info(ASSETS "/efficientnet_lite0.json");
  EXPECT_EQ(info.input, "image");
  EXPECT_EQ(info.labels, std::filesystem::path(ASSETS) / "imagenet_labels.txt");
  EXPECT_EQ(info.recipe, recipe_preset("efficientnet-lite"));

  const std::string path = testing::TempDir() + "info.json";
  std::ofstream(path) << R"({"recipe": {"size": 8, "rule": "stretch"}})";
  EXPECT_EQ(read_image_model_info(path).recipe.size, (std::array{8, 8}));
  std::ofstream(path) << R"({"recipe": 3})";
  EXPECT_THROW(read_image_model_info(path), Error);
}

}  // namespace
}  // namespace lapilli
