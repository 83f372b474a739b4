#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "apps/program.h"

namespace lapilli::testing {
namespace {

namespace fs = std::filesystem;

const fs::path assets = ASSETS;

TEST(Classify, NamesWhatThePhotosShow) {
  const std::string folder = scratch_file("drawn");
  const ProgramResult result = run_program(
      {"classify", (assets / "efficientnet_lite0.onnx").string(), (assets / "photos/chelsea.png").string(),
       (assets / "photos/coffee.png").string(), "--top", "3", "--output", folder, "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  const auto images = result.json().at("images");
  ASSERT_EQ(images.size(), 2U);
  // What scikit-image says of its photos: a cat, and a cup of coffee.
  const std::string cat = images[0].at("predictions").dump(), coffee = images[1].at("predictions")[0].at("label");
  EXPECT_NE(cat.find("cat"), std::string::npos) << cat;
  EXPECT_TRUE(coffee == "espresso" || coffee == "cup" || coffee == "coffee mug") << coffee;
  for (const auto& image : images) {
    ASSERT_EQ(image.at("predictions").size(), 3U);
    EXPECT_GE(image.at("predictions")[0].at("probability"), image.at("predictions")[1].at("probability"));
    EXPECT_TRUE(fs::exists(image.at("picture").get<std::string>()));
  }
}

TEST(Classify, ThresholdLeavesOutTheUnlikely) {
  const ProgramResult result = run_program({"classify", (assets / "efficientnet_lite0.onnx").string(),
                                            (assets / "photos/coffee.png").string(), "--threshold", "1", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_TRUE(result.json().at("images")[0].at("predictions").empty());
}

TEST(Classify, PicturesNeitherReplaceFilesNorOneAnother) {
  const std::string model = (assets / "efficientnet_lite0.onnx").string();
  const std::string folder = scratch_file("photos");
  fs::create_directories(folder);
  const std::string photo = folder + "/coffee.png", drawn = scratch_file("drawn_file");
  fs::copy_file(assets / "photos/coffee.png", photo, fs::copy_options::overwrite_existing);
  const ProgramResult itself = run_program({"classify", model, photo, "--output", folder});
  EXPECT_EQ(itself.exit_code, 3) << itself.errors;
  EXPECT_NE(itself.errors.find(photo + ": it would be written over itself"), std::string::npos) << itself.errors;
  EXPECT_EQ(content_of(photo), content_of((assets / "photos/coffee.png").string()));

  std::ofstream(drawn) << "a file";
  const ProgramResult file = run_program({"classify", model, photo, "--output", drawn});
  EXPECT_EQ(file.exit_code, 3) << file.errors;
  EXPECT_NE(file.errors.find(drawn + ": the folder for the pictures cannot be made"), std::string::npos)
      << file.errors;
  EXPECT_EQ(content_of(drawn), "a file");
}

TEST(Classify, WhatCannotBeUsedIsNamed) {
  const std::string model = (assets / "efficientnet_lite0.onnx").string();
  const ProgramResult missing = run_program({"classify", model, "no_such_photo.png"});
  EXPECT_EQ(missing.exit_code, 3);
  EXPECT_NE(missing.errors.find("no_such_photo.png"), std::string::npos) << missing.errors;
  const ProgramResult no_recipe =
      run_program({"classify", data_file("affine.onnx"), (assets / "photos/coffee.png").string()});
  EXPECT_EQ(no_recipe.exit_code, 3);
  EXPECT_NE(no_recipe.errors.find("--recipe"), std::string::npos) << no_recipe.errors;
}

}  // namespace
}  // namespace lapilli::testing
