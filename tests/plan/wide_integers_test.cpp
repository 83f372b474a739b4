// 64-bit integers on a device without them: the same results to the bit. ctest takes them from the device.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>

#include "base/comparison.h"
#include "base/packed.h"
#include "ops/pointwise.h"
#include "ops/reduction.h"
#include "support/node_runner.h"

namespace lapilli::testing {
namespace {

constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min(),
                       highest = std::numeric_limits<std::int64_t>::max();

class WithoutWideIntegers : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { setenv("LAPILLI_TEST_LIMITS", "no_int64", 1); }
};

class WideIntegers : public WithoutWideIntegers, public ::testing::WithParamInterface<DType> {};

// The edges of 32 and 64 bits, all of them with each other, and numbers of every size.
Tensor hard_integers(DType dtype, unsigned seed) {
  std::vector<std::int64_t> values;
  const std::vector<std::int64_t> edges{0,
                                        1,
                                        -1,
                                        2,
                                        -7,
                                        63,
                                        64,
                                        lowest,
                                        highest,
                                        0xFFFFFFFFL,
                                        1L << 32U,
                                        -(1L << 32U),
                                        0x80000000L,
                                        -0x80000000L,
                                        lowest + 1,
                                        3'000'000'000L,
                                        -3'000'000'001L};
  for (std::size_t i = 0; i < edges.size(); ++i) {
    for (std::size_t j = 0; j < edges.size(); ++j) values.push_back(edges[seed == 0 ? i : j]);
  }
  std::mt19937_64 generator(seed);
  for (int i = 0; i < 300; ++i) values.push_back(static_cast<std::int64_t>(generator() >> (generator() % 64)));
  return bit_cast_tensor(dtype, integer_tensor({static_cast<std::int64_t>(values.size())}, values));
}

void expect_same(const OperatorPointer& op, const std::vector<Tensor>& inputs, const std::string& what) {
  ASSERT_FALSE(test_device().traits().int64);
  const Tensor result = run_node({op, inputs, {}, Precision::float32})[0], expected = op->evaluate(inputs)[0];
  const Difference difference = compare(result, expected);
  EXPECT_EQ(difference.mismatch, "") << what;
  EXPECT_EQ(difference.relative_error, 0) << what;
  EXPECT_EQ(test_device().validation_messages(), std::vector<std::string>{}) << what;
}

TEST_P(WideIntegers, ComputeAsTheHostDoes) {
  using enum PointwiseFunction;
  for (const PointwiseFunction function :
       {add, subtract, multiply, divide, minimum, maximum, modulo, remainder, equal, less, less_or_equal, bitwise_and,
        bitwise_xor, shift_left, shift_right}) {
    expect_same(make_pointwise(function, GetParam(), 2), {hard_integers(GetParam(), 0), hard_integers(GetParam(), 1)},
                std::format("function {}", static_cast<int>(function)));
  }
  for (const PointwiseFunction function : {negate, absolute, sign, bitwise_not, relu}) {
    expect_same(make_pointwise(function, GetParam(), 1), {hard_integers(GetParam(), 2)},
                std::format("function {}", static_cast<int>(function)));
  }
}

TEST_P(WideIntegers, ConvertAsTheHostDoes) {
  using enum DType;
  for (const DType other : {int8, uint8, int16, int32, uint32, int64, uint64, float32, float64, boolean}) {
    expect_same(make_pointwise(PointwiseFunction::cast, other, 1), {hard_integers(GetParam(), 3)},
                std::format("to {}", to_string(other)));
  }
  std::vector<float> values{0, -0.0F, 0.9F, -0.9F, 1.5F, 4294967296.0F, 4294967040.0F, 0x1p62F, -0x1p63F, 0x1p-30F};
  std::mt19937 generator(5);
  for (int i = 0; i < 300; ++i) {
    const auto mantissa = static_cast<float>(generator() % (1U << 24U));
    values.push_back((generator() % 2 == 0 ? 1.0F : -1.0F) *
                     std::ldexp(mantissa, static_cast<int>(generator() % 50) - 10));
  }
  const Tensor floats = float_tensor({static_cast<std::int64_t>(values.size())}, values);
  expect_same(make_pointwise(PointwiseFunction::cast, GetParam(), 1), {floats}, "from float32");
  const Tensor doubles = make_pointwise(PointwiseFunction::cast, DType::float64, 1)->evaluate({{floats}})[0];
  expect_same(make_pointwise(PointwiseFunction::cast, GetParam(), 1), {doubles}, "from float64");
}

TEST_P(WideIntegers, ReduceAsTheHostDoes) {
  const Tensor numbers = hard_integers(GetParam(), 4);
  for (const ReductionFunction function : {ReductionFunction::sum, ReductionFunction::maximum}) {
    expect_same(std::make_shared<Reduction>(function, Preparation::none, std::vector{0}), {numbers}, "reduction");
  }
}

// Angles far from 0 are reduced with products of 64 bits. Values of the C library.
TEST_F(WithoutWideIntegers, AnglesOfFloat64AreReduced) {
  Tensor angles = Tensor::allocate(DType::float64, {4});
  std::ranges::copy(std::array{1e8, -1e10, 1e22, -1e300}, angles.mutable_elements<double>().begin());
  Tensor sines = Tensor::allocate(DType::float64, {4});
  std::ranges::copy(std::array{0.931639027109726, 0.4875060250875107, -0.8522008497671888, 0.8178819121159085},
                    sines.mutable_elements<double>().begin());
  const OperatorPointer sine = make_pointwise(PointwiseFunction::sine, DType::float64, 1);
  ASSERT_FALSE(test_device().traits().int64);
  const Difference difference = compare(run_node({sine, {angles}, {}, Precision::float32})[0], sines);
  EXPECT_EQ(difference.mismatch, "");
  EXPECT_LT(difference.relative_error, 1e-15);
  EXPECT_EQ(test_device().validation_messages(), std::vector<std::string>{});
}

INSTANTIATE_TEST_SUITE_P(Types, WideIntegers, ::testing::Values(DType::int64, DType::uint64),
                         [](const auto& parameter) { return std::string(to_string(parameter.param)); });

}  // namespace
}  // namespace lapilli::testing
