#include "vision/classification.h"

#include <gtest/gtest.h>

#include <fstream>
#include <limits>

#include "lapilli/error.h"

namespace lapilli {
namespace {

TEST(Softmax, KnownValues) {
  // exp(0), exp(1), exp(2) over their sum 11.107338
  const std::vector<float> result = softmax(std::vector<float>{0, 1, 2});
  EXPECT_NEAR(result[0], 0.0900306, 1e-6);
  EXPECT_NEAR(result[1], 0.2447285, 1e-6);
  EXPECT_NEAR(result[2], 0.6652410, 1e-6);
  EXPECT_FLOAT_EQ(softmax(std::vector<float>{3e38F, 3e38F})[0], 0.5F);
  EXPECT_THROW(softmax(std::vector{1.0F, std::numeric_limits<float>::quiet_NaN()}), Error);
}

TEST(ToProbabilities, LeavesProbabilitiesAlone) {
  EXPECT_EQ(to_probabilities(std::vector{0.25F, 0.75F}), (std::vector{0.25F, 0.75F}));
  EXPECT_FLOAT_EQ(to_probabilities(std::vector{0.25F, 0.25F})[0], 0.5F);
  EXPECT_FALSE(are_probabilities(std::vector{-0.5F, 1.5F}));
  EXPECT_FALSE(are_probabilities(std::vector<float>{}));
}

TEST(TopK, OrdersCutsAndNames) {
  const std::vector probabilities{0.1F, 0.4F, 0.1F, 0.4F};
  const std::vector<std::string> labels{"a", "b", "c", "d"};
  const std::vector<Prediction> three = top_k(probabilities, 3, 0, labels);
  EXPECT_EQ(three, (std::vector<Prediction>{{1, 0.4F, "b"}, {3, 0.4F, "d"}, {0, 0.1F, "a"}}));
  EXPECT_EQ(top_k(probabilities, 9, 0.3F, {}), (std::vector<Prediction>{{1, 0.4F, "class 1"}, {3, 0.4F, "class 3"}}));
  EXPECT_TRUE(top_k({}, 3, 0, {}).empty());
  EXPECT_THROW(top_k(probabilities, 1, 0, std::vector<std::string>{"one"}), Error);
}

TEST(ReadLabels, OneALine) {
  const std::vector<std::string> labels = read_labels(ASSETS "/imagenet_labels.txt");
  ASSERT_EQ(labels.size(), 1000);
  EXPECT_EQ(labels[0], "tench");
  EXPECT_EQ(labels[281], "tabby");
  EXPECT_EQ(labels[967], "espresso");
  EXPECT_EQ(labels[999], "toilet tissue");

  const std::string path = testing::TempDir() + "labels.txt";
  std::ofstream(path) << "\xEF\xBB\xBF" << "one\r\n\r\nthree";
  EXPECT_EQ(read_labels(path), (std::vector<std::string>{"one", "", "three"}));
  std::ofstream(path).close();
  EXPECT_THROW(read_labels(path), Error);
}

}  // namespace
}  // namespace lapilli
