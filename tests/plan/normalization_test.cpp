#include "ops/normalization.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/failure.h"
#include "support/node_runner.h"

namespace lapilli::testing {
namespace {

using enum NormalizationKind;
using Floats = std::vector<float>;
constexpr float infinity = std::numeric_limits<float>::infinity();

OperatorPointer normalization(NormalizationKind kind, std::vector<int> axes, double epsilon = 0,
                              std::int64_t groups = 1) {
  return std::make_shared<Normalization>(NormalizationAttributes{kind, std::move(axes), epsilon, groups, false});
}

Floats run_floats(OperatorPointer op, const Tensor& input, Precision precision = Precision::float32) {
  return floats_of(run_node({std::move(op), {input}, {}, precision})[0]);
}

TEST(Normalization, knows_fixed_values) {
  // ONNX's softmax_example and logsoftmax_example_1.
  const Floats soft = run_floats(normalization(softmax, {1}), float_tensor({1, 3}, {-1, 0, 1}));
  EXPECT_NEAR(soft[0], 0.09003058, 1e-7);
  EXPECT_NEAR(soft[1], 0.24472848, 1e-7);
  EXPECT_NEAR(soft[2], 0.66524094, 1e-7);
  const Floats logarithm = run_floats(normalization(log_softmax, {1}), float_tensor({1, 3}, {-1, 0, 1}));
  EXPECT_NEAR(logarithm[0], -2.4076061, 1e-6);
  EXPECT_NEAR(logarithm[2], -0.407606, 1e-6);
  // numpy: x = [1, 2, 3, 6]; (x - 3) / sqrt(3.5)
  const Floats score = run_floats(normalization(standard_score, {1}), float_tensor({1, 4}, {1, 2, 3, 6}));
  EXPECT_NEAR(score[0], -1.0690450, 1e-6);
  EXPECT_NEAR(score[3], 1.6035675, 1e-6);
  // x / sqrt(50 / 4)
  const Floats scaled = run_floats(normalization(root_mean_square, {1}), float_tensor({1, 4}, {1, 2, 3, 6}));
  EXPECT_NEAR(scaled[3], 1.6970563, 1e-6);
}

TEST(Softmax, of_large_numbers_does_not_overflow) {
  // ONNX's softmax_large_number.
  const Floats soft =
      run_floats(normalization(softmax, {1}), float_tensor({2, 4}, {0, 1, 2, 3, 10000, 10001, 10002, 10003}));
  const Floats expected{0.032058604F, 0.08714432F, 0.23688284F, 0.6439143F};
  for (std::size_t i = 0; i < 8; ++i) EXPECT_NEAR(soft[i], expected[i % 4], 1e-6);
}

TEST(Softmax, of_a_masked_row_is_no_number_only_when_all_is_masked) {
  const Floats soft =
      run_floats(normalization(softmax, {1}),
                 float_tensor({3, 3}, {-infinity, -infinity, 2, 1, -infinity, 1, -infinity, -infinity, -infinity}));
  EXPECT_EQ(Floats(soft.begin(), soft.begin() + 6), (Floats{0, 0, 1, 0.5F, 0, 0.5F}));
  EXPECT_TRUE(std::isnan(soft[6]));
  // Long enough for several lanes, some of which see nothing but the mask.
  Floats row(5000, -infinity);
  row[17] = 1;
  row[4000] = 1;
  const Floats masked = run_floats(normalization(softmax, {1}), float_tensor({1, 5000}, row));
  EXPECT_EQ(masked[17], 0.5F);
  EXPECT_EQ(masked[4000], 0.5F);
  EXPECT_EQ(masked[0], 0);
}

// exp(x - max) / sum(exp(x - max)), as NumPy has it: infinity less infinity is in the sum.
TEST(Softmax, of_a_row_with_an_infinity_is_no_number) {
  Floats row(5000, 1);
  row[17] = infinity;
  for (const NormalizationKind kind : {softmax, log_softmax}) {
    for (const auto& [values, width] : {std::pair{Floats{infinity, 0, 0, infinity, infinity, infinity}, 2},
                                        std::pair{row, 5000}, std::pair{Floats{-infinity, 1, infinity}, 3}}) {
      const std::int64_t rows = static_cast<std::int64_t>(values.size()) / width;
      for (const float x : run_floats(normalization(kind, {1}), float_tensor({rows, width}, values)))
        EXPECT_TRUE(std::isnan(x)) << x;
    }
  }
}

TEST(Normalization, has_statistics_in_float32) {
  // Half the row at +496, half at -496: in float16 the sum of squares overflows.
  Floats row(256, 496);
  for (std::size_t i = 0; i < 128; ++i) row[2 * i] = -496;
  const Floats score =
      run_floats(normalization(standard_score, {1}, 1e-5), float_tensor({1, 256}, row), Precision::float16);
  for (std::size_t i = 0; i < 256; ++i) EXPECT_EQ(score[i], i % 2 == 0 ? -1 : 1);
  // A large mean must not swallow the variance.
  const Floats shifted = run_floats(normalization(standard_score, {1}), float_tensor({1, 2}, {10000, 10002}));
  EXPECT_NEAR(shifted[0], -1, 1e-6);
  EXPECT_NEAR(shifted[1], 1, 1e-6);
}

struct ShapeCase {
  std::vector<std::int64_t> shape;
  std::vector<int> axes;
};

class NormalizationShapes : public ::testing::TestWithParam<ShapeCase> {};

TEST_P(NormalizationShapes, match_the_host) {
  const auto& [shape, axes] = GetParam();
  const Layout last = Layout::channels_last(shape.size());
  for (const NormalizationKind kind : {softmax, log_softmax, standard_score, root_mean_square}) {
    const OperatorPointer op = normalization(kind, axes, 1e-5);
    expect_matches_host({op, {random_tensor(DType::float32, shape)}, {}, Precision::float32}, 5e-6);
    expect_matches_host({op, {random_tensor(DType::float32, shape)}, {last}, Precision::float16}, 2e-3);
  }
}

INSTANTIATE_TEST_SUITE_P(All, NormalizationShapes,
                         ::testing::Values(ShapeCase{{1}, {0}}, ShapeCase{{3, 7}, {1}}, ShapeCase{{3, 7}, {0}},
                                           ShapeCase{{2, 3, 5, 7}, {1}}, ShapeCase{{2, 3, 5, 7}, {2, 3}},
                                           ShapeCase{{2, 3, 5, 7}, {1, 2, 3}}, ShapeCase{{2, 3, 5, 7}, {0, 2}},
                                           ShapeCase{{2, 70001}, {1}}, ShapeCase{{100, 1000}, {1}},
                                           ShapeCase{{300, 3}, {0}}, ShapeCase{{2, 64, 7, 7}, {2, 3}},
                                           ShapeCase{{0, 3}, {1}}, ShapeCase{{3, 0}, {1}}));

TEST(Normalization, cuts_channels_into_groups) {
  // Two groups of two channels with two elements each: numbers of a group are a shift of the other's.
  const Tensor x = float_tensor({1, 4, 2}, {1, 2, 3, 4, 11, 12, 13, 14});
  const Floats score = run_floats(normalization(standard_score, {1, 2}, 0, 2), x);
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_NEAR(score[i], (static_cast<double>(i % 4) - 1.5) / std::sqrt(1.25), 1e-6);
  }
  for (const Layout& layout : {Layout::row_major(4), Layout::channels_last(4)}) {
    expect_matches_host({normalization(standard_score, {1, 2, 3}, 1e-5, 4),
                         {random_tensor(DType::float32, {2, 12, 5, 3})},
                         {layout},
                         Precision::float32},
                        5e-6);
  }
  Assumptions assumptions({});
  const Fact fact = Fact::of(DType::float32, {1, 4, 2});
  EXPECT_THROW((void)normalization(standard_score, {1, 2}, 0, 3)->infer({&fact, 1}, assumptions), Error);
}

TEST(Normalization, writes_statistics_scale_and_bias) {
  const NormalizationAttributes attributes{standard_score, {2}, 1e-5, 1, true};
  const auto op = std::make_shared<Normalization>(attributes, scale_and_shift(DType::float32, true));
  const std::vector<Tensor> inputs{random_tensor(DType::float32, {2, 3, 40}), random_tensor(DType::float32, {40}),
                                   random_tensor(DType::float32, {40})};
  expect_matches_host({op, inputs, {}, Precision::float32}, 5e-6);
  expect_matches_host({op, inputs, {}, Precision::float16}, 3e-3);
  const auto results = run_node(
      {std::make_shared<Normalization>(attributes), {float_tensor({1, 1, 4}, {1, 2, 3, 6})}, {}, Precision::float32});
  EXPECT_EQ(floats_of(results[1]), Floats{3});
  EXPECT_NEAR(floats_of(results[2])[0], 1 / std::sqrt(3.5 + 1e-5), 1e-6);
}

TEST(Normalization, runs_its_epilogue_along_channels) {
  const auto op = std::make_shared<Normalization>(NormalizationAttributes{standard_score, {2, 3}, 1e-5, 1, false},
                                                  scale_and_shift(DType::float32, true));
  const std::vector<Tensor> inputs{random_tensor(DType::float32, {2, 6, 5, 7}),
                                   random_tensor(DType::float32, {6, 1, 1}),
                                   random_tensor(DType::float32, {6, 1, 1})};
  expect_matches_host({op, inputs, {Layout::channels_last(4)}, Precision::float32}, 5e-6);
  expect_matches_host({op, inputs, {}, Precision::float16}, 3e-3);
}

TEST(Normalization, takes_the_other_floating_point_types) {
  expect_matches_host({normalization(softmax, {1}), {random_tensor(DType::float16, {3, 50})}, {}, Precision::float32},
                      1e-3);
  expect_matches_host(
      {normalization(softmax, {1}), {random_tensor(DType::bfloat16, {3, 50})}, {}, Precision::float32}, 8e-3);
  expect_matches_host({normalization(softmax, {1}), {random_tensor(DType::float64, {3, 50})}, {}, Precision::float32},
                      1e-6);
}

}  // namespace
}  // namespace lapilli::testing
