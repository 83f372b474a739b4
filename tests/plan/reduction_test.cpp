#include "ops/reduction.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/node_runner.h"

namespace lapilli::testing {
namespace {

using enum ReductionFunction;
constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

OperatorPointer reduction(ReductionFunction function, std::vector<int> axes,
                          Preparation preparation = Preparation::none) {
  return std::make_shared<Reduction>(function, preparation, std::move(axes));
}

OperatorPointer extreme(ReductionFunction function, int axis) {
  return std::make_shared<ExtremeIndex>(function, axis);
}

std::vector<float> run_floats(OperatorPointer op, const Tensor& input, Precision precision = Precision::float32) {
  return floats_of(run_node({std::move(op), {input}, {}, precision})[0]);
}

TEST(Reduction, knows_fixed_values) {
  // numpy: x = arange(6).reshape(2, 3) - 2
  const Tensor x = float_tensor({2, 3}, {-2, -1, 0, 1, 2, 3});
  using Floats = std::vector<float>;
  EXPECT_EQ(run_floats(reduction(sum, {1}), x), (Floats{-3, 6}));
  EXPECT_EQ(run_floats(reduction(sum, {0}), x), (Floats{-1, 1, 3}));
  EXPECT_EQ(run_floats(reduction(mean, {0, 1}), x), (Floats{0.5F}));
  EXPECT_EQ(run_floats(reduction(product, {1}), x), (Floats{0, 6}));
  EXPECT_EQ(run_floats(reduction(maximum, {1}), x), (Floats{0, 3}));
  EXPECT_EQ(run_floats(reduction(minimum, {0}), x), (Floats{-2, -1, 0}));
  EXPECT_EQ(run_floats(reduction(sum, {1}, Preparation::square), x), (Floats{5, 14}));
  EXPECT_EQ(run_floats(reduction(sum, {1}, Preparation::absolute), x), (Floats{3, 6}));
  EXPECT_EQ(run_floats(reduction(sum, {}, Preparation::square), x), (Floats{4, 1, 0, 1, 4, 9}));
  const Floats exponentials = run_floats(reduction(log_sum_exp, {1}), x);
  EXPECT_NEAR(exponentials[0], 0.40760597, 1e-6);  // log(exp(-2) + exp(-1) + 1)
  EXPECT_NEAR(exponentials[1], 3.40760597, 1e-6);
}

TEST(Reduction, of_nothing_is_the_identity) {
  const Tensor x = float_tensor({2, 0}, {});
  using Floats = std::vector<float>;
  EXPECT_EQ(run_floats(reduction(sum, {1}), x), (Floats{0, 0}));
  EXPECT_EQ(run_floats(reduction(product, {1}), x), (Floats{1, 1}));
  EXPECT_EQ(run_floats(reduction(maximum, {1}), x), (Floats{-infinity, -infinity}));
  EXPECT_EQ(run_floats(reduction(minimum, {1}), x), (Floats{infinity, infinity}));
  EXPECT_EQ(run_floats(reduction(log_sum_exp, {1}), x), (Floats{-infinity, -infinity}));
  EXPECT_TRUE(std::isnan(run_floats(reduction(mean, {1}), x)[0]));
  EXPECT_EQ(run_floats(reduction(sum, {0}), x), Floats{});
}

TEST(Reduction, of_float16_ones_is_exact) {
  const Tensor ones = random_tensor(DType::float32, {1, 1, 256, 256}, 1, 1);
  EXPECT_EQ(run_floats(reduction(mean, {2, 3}), ones, Precision::float16), std::vector<float>{1});
}

TEST(Reduction, keeps_the_error_of_long_sums_small) {
  // 0.1 is no float: a plain float32 sum of 4 million of them is off by more than a percent.
  const std::int64_t count = 1 << 22;
  const Tensor x = random_tensor(DType::float32, {1, count}, 0.1, 0.1);
  const double expected = static_cast<double>(0.1F) * static_cast<double>(count);
  EXPECT_NEAR(run_floats(reduction(sum, {1}), x)[0] / expected, 1, 1e-7);
  EXPECT_NEAR(run_floats(reduction(mean, {1}), x)[0] / static_cast<double>(0.1F), 1, 1e-7);
}

TEST(Reduction, lets_infinities_and_not_a_number_through) {
  const Tensor x = float_tensor({3, 2}, {infinity, 1, -infinity, infinity, not_a_number, 1});
  const std::vector<float> sums = run_floats(reduction(sum, {1}), x),
                           largest = run_floats(reduction(maximum, {1}), x),
                           logs = run_floats(reduction(log_sum_exp, {1}), x);
  EXPECT_EQ(sums[0], infinity);
  EXPECT_TRUE(std::isnan(sums[1]));
  EXPECT_TRUE(std::isnan(sums[2]));
  EXPECT_EQ(largest[1], infinity);
  EXPECT_TRUE(std::isnan(largest[2]));
  EXPECT_EQ(logs[0], infinity);
  EXPECT_TRUE(std::isnan(logs[2]));
  const Tensor masked = float_tensor({2, 2}, {-infinity, 1, -infinity, -infinity});
  EXPECT_EQ(run_floats(reduction(log_sum_exp, {1}), masked), (std::vector<float>{1, -infinity}));
}

struct ShapeCase {
  std::vector<std::int64_t> shape;
  std::vector<int> axes;
};

class ReductionShapes : public ::testing::TestWithParam<ShapeCase> {};

TEST_P(ReductionShapes, match_the_host) {
  const auto& [shape, axes] = GetParam();
  const Layout last = Layout::channels_last(shape.size());
  for (const ReductionFunction function : {mean, log_sum_exp}) {
    const OperatorPointer op = reduction(function, axes);
    expect_matches_host({op, {random_tensor(DType::float32, shape)}, {}, Precision::float32}, 2e-6);
    expect_matches_host({op, {random_tensor(DType::float32, shape)}, {last}, Precision::float16}, 2e-3);
  }
}

INSTANTIATE_TEST_SUITE_P(All, ReductionShapes,
                         ::testing::Values(ShapeCase{{1}, {0}}, ShapeCase{{7}, {0}}, ShapeCase{{3, 5}, {1}},
                                           ShapeCase{{3, 5}, {0}}, ShapeCase{{2, 3, 5, 7}, {2, 3}},
                                           ShapeCase{{2, 64, 7, 7}, {2, 3}}, ShapeCase{{2, 3, 5, 7}, {0, 2}},
                                           ShapeCase{{2, 3, 5, 7}, {1, 3}}, ShapeCase{{2, 3, 4, 5, 6}, {1, 3}},
                                           ShapeCase{{1, 1, 3, 1}, {0, 3}}, ShapeCase{{2, 70001}, {1}},
                                           ShapeCase{{70001, 2}, {0}}, ShapeCase{{300, 257}, {1}},
                                           ShapeCase{{0, 3}, {1}}, ShapeCase{{3, 4}, {}}, ShapeCase{{}, {}},
                                           ShapeCase{{2, 2, 2, 2, 2, 2, 2, 2}, {1, 3, 5, 7}}));

TEST(Reduction, takes_every_dtype) {
  for (const DType dtype : {DType::int32, DType::int64, DType::uint32, DType::uint64}) {
    for (const ReductionFunction function : {sum, mean, product, maximum, minimum}) {
      const double low = is_signed_integer(dtype) ? -40 : 0;
      const Tensor x = random_tensor(dtype, {3, 37, 5}, low, 50);
      expect_matches_host({reduction(function, {1}), {x}, {}, Precision::float32}, 0);
      expect_matches_host({reduction(function, {1}, Preparation::square), {x}, {}, Precision::float32}, 0);
    }
  }
  for (const DType dtype : {DType::int8, DType::uint8, DType::int16, DType::uint16, DType::boolean}) {
    const Tensor x = random_tensor(dtype, {3, 37, 5}, is_signed_integer(dtype) ? -120 : 0, 120);
    expect_matches_host({reduction(maximum, {1}), {x}, {}, Precision::float32}, 0);
    expect_matches_host({reduction(minimum, {2}), {x}, {}, Precision::float32}, 0);
  }
  for (const ReductionFunction function : {sum, mean, product, maximum, minimum}) {
    expect_matches_host(
        {reduction(function, {1}), {random_tensor(DType::float64, {3, 37, 5}, 0.5, 1.5)}, {}, Precision::float32},
        1e-14);
    expect_matches_host(
        {reduction(function, {1}), {random_tensor(DType::bfloat16, {3, 37, 5}, 0.5, 1.5)}, {}, Precision::float32},
        4e-3);
  }
}

TEST(Reduction, of_integers_wraps_and_is_exact) {
  const Tensor x = integer_tensor({1, 3}, {std::int64_t{1} << 62, std::int64_t{1} << 62, 5});
  EXPECT_EQ(integers_of(run_node({reduction(sum, {1}), {x}, {}, Precision::float32})[0]),
            std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::min() + 5});
  const Tensor many = random_tensor(DType::int64, {1, 300000}, -1e15, 1e15);
  expect_matches_host({reduction(sum, {1}), {many}, {}, Precision::float32}, 0);
}

TEST(Reduction, runs_its_epilogue) {
  PointwiseChain chain;  // sqrt(sum of squares) * in1 + in2
  chain.input_count = 3;
  const auto root = chain.add(PointwiseFunction::square_root, DType::float32, {0, 0, 0});
  const auto scaled = chain.add(PointwiseFunction::multiply, DType::float32, {root, 1, 0});
  chain.add(PointwiseFunction::add, DType::float32, {scaled, 2, 0});
  const auto op = std::make_shared<Reduction>(sum, Preparation::square, std::vector<int>{2, 3}, chain);
  const std::vector<Tensor> inputs{random_tensor(DType::float32, {2, 8, 6, 5}),
                                   random_tensor(DType::float32, {8, 1, 1}),
                                   random_tensor(DType::float32, {2, 8, 1, 1})};
  expect_matches_host({op, inputs, {}, Precision::float32}, 1e-6);
  expect_matches_host({op, inputs, {Layout::channels_last(4)}, Precision::float16}, 1e-3);
  const auto cut = std::make_shared<Reduction>(sum, Preparation::square, std::vector<int>{1}, chain);
  expect_matches_host({cut,
                       {random_tensor(DType::float32, {2, 100000}), random_tensor(DType::float32, {1}),
                        random_tensor(DType::float32, {2, 1})},
                       {},
                       Precision::float32},
                      1e-6);
}

TEST(ExtremeIndex, knows_fixed_values) {
  const Tensor x = float_tensor({2, 5}, {1, 3, 3, 0, 0, not_a_number, 1, 2, not_a_number, -infinity});
  const auto indices = [&](ReductionFunction function, int axis) {
    return integers_of(run_node({extreme(function, axis), {x}, {}, Precision::float32})[0]);
  };
  using Integers = std::vector<std::int64_t>;
  EXPECT_EQ(indices(first_largest, 1), (Integers{1, 0}));
  EXPECT_EQ(indices(last_largest, 1), (Integers{2, 3}));
  EXPECT_EQ(indices(first_smallest, 1), (Integers{3, 0}));
  EXPECT_EQ(indices(last_smallest, 1), (Integers{4, 3}));
  EXPECT_EQ(indices(first_largest, 0), (Integers{1, 0, 0, 1, 0}));
}

TEST(ExtremeIndex, matches_the_host) {
  for (const ReductionFunction function : {first_largest, last_largest, first_smallest, last_smallest}) {
    for (const int axis : {0, 1, 2, 3}) {
      // Few values, so that there are many equals.
      const Tensor x = random_tensor(DType::int8, {2, 33, 5, 70}, -3, 3);
      expect_matches_host({extreme(function, axis), {x}, {Layout::channels_last(4)}, Precision::float32}, 0);
      const Tensor y = random_tensor(DType::float32, {2, 33, 5, 70}, -3, 3);
      expect_matches_host({extreme(function, axis), {y}, {}, Precision::float32}, 0);
    }
  }
}

}  // namespace
}  // namespace lapilli::testing
