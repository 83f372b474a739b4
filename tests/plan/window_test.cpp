#include "ops/window.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/failure.h"
#include "support/node_runner.h"

namespace lapilli::testing {
namespace {

using enum ReductionFunction;
using Floats = std::vector<float>;
using Integers = std::vector<std::int64_t>;
constexpr float infinity = std::numeric_limits<float>::infinity();

WindowAxis axis(int number, std::int64_t size, std::int64_t stride = 1, std::int64_t begin = 0, std::int64_t end = 0,
                std::int64_t dilation = 1) {
  return {number, size, stride, dilation, Dim(begin), Dim(end)};
}

OperatorPointer window(ReductionFunction function, std::vector<WindowAxis> axes, bool round_up = false,
                       bool count_padding = false) {
  WindowAttributes attributes;
  attributes.function = function;
  attributes.axes = std::move(axes);
  attributes.round_up = round_up;
  attributes.count_padding = count_padding;
  return std::make_shared<Window>(attributes);
}

Floats run_floats(OperatorPointer op, const Tensor& input) {
  return floats_of(run_node({std::move(op), {input}, {}, Precision::float32})[0]);
}

Tensor counted(std::vector<std::int64_t> shape) {
  Floats values(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i + 1);
  return float_tensor(std::move(shape), values);
}

// The examples of the ONNX operator documents (maxpool_2d_precomputed_*, averagepool_2d_precomputed_*).
TEST(Window, knows_the_values_of_onnx) {
  const Tensor x = counted({1, 1, 5, 5});
  EXPECT_EQ(
      run_floats(window(maximum, {axis(2, 5, 1, 2, 2), axis(3, 5, 1, 2, 2)}), x),
      (Floats{13, 14, 15, 15, 15, 18, 19, 20, 20, 20, 23, 24, 25, 25, 25, 23, 24, 25, 25, 25, 23, 24, 25, 25, 25}));
  EXPECT_EQ(run_floats(window(mean, {axis(2, 5, 1, 2, 2), axis(3, 5, 1, 2, 2)}), x),
            (Floats{7,     7.5F, 8,     8.5F, 9,     9.5F, 10,    10.5F, 11,    11.5F, 12,    12.5F, 13,
                    13.5F, 14,   14.5F, 15,   15.5F, 16,   16.5F, 17,    17.5F, 18,    18.5F, 19}));
  EXPECT_EQ(run_floats(window(maximum, {axis(2, 2, 2), axis(3, 2, 2)}), x), (Floats{7, 9, 17, 19}));
  const Floats padded = run_floats(window(mean, {axis(2, 5, 1, 2, 2), axis(3, 5, 1, 2, 2)}, false, true), x);
  EXPECT_NEAR(padded[0], 2.5200, 1e-6);
  EXPECT_NEAR(padded[6], 6.4000, 1e-6);
}

TEST(Window, rounds_up_without_windows_that_begin_in_the_padding_behind) {
  const Tensor x = float_tensor({1, 1, 4}, {1, 2, 3, 4});
  // The third window would begin behind the data.
  EXPECT_EQ(run_floats(window(maximum, {axis(2, 1, 2)}, true), x), (Floats{1, 3}));
  EXPECT_EQ(run_floats(window(mean, {axis(2, 1, 2)}, true), x), (Floats{1, 3}));
  EXPECT_EQ(run_floats(window(maximum, {axis(2, 3, 2)}, true), x), (Floats{3, 4}));
  EXPECT_EQ(run_floats(window(mean, {axis(2, 3, 2)}, true), x), (Floats{2, 3.5F}));
  // Padding is counted only as far as it goes: the last window has 4, 0 and one place that is not there.
  EXPECT_EQ(run_floats(window(mean, {axis(2, 3, 3, 0, 1)}, true, true), x), (Floats{2, 2}));
}

TEST(Window, wholly_in_padding_is_zero_or_the_lowest) {
  const Tensor x = float_tensor({1, 1, 5}, {1, 2, 3, 4, 5});
  EXPECT_EQ(run_floats(window(mean, {axis(2, 2, 2, 2, 3)}), x), (Floats{0, 1.5F, 3.5F, 5, 0}));
  EXPECT_EQ(run_floats(window(maximum, {axis(2, 2, 2, 2, 3)}), x), (Floats{-infinity, 2, 4, 5, -infinity}));
}

TEST(Window, numbers_the_places_of_its_maxima) {
  WindowAttributes attributes;
  attributes.axes = {axis(2, 2, 2), axis(3, 2, 2)};
  attributes.indices = true;
  const Tensor x = counted({1, 2, 5, 5});
  // ONNX's maxpool_with_argmax_2d_precomputed_strides, with a second channel.
  auto results = run_node({std::make_shared<Window>(attributes), {x}, {}, Precision::float32});
  EXPECT_EQ(floats_of(results[0]), (Floats{7, 9, 17, 19, 32, 34, 42, 44}));
  EXPECT_EQ(integers_of(results[1]), (Integers{6, 8, 16, 18, 31, 33, 41, 43}));
  attributes.index_order = IndexOrder::column_major;
  results = run_node({std::make_shared<Window>(attributes), {x}, {}, Precision::float32});
  EXPECT_EQ(integers_of(results[1]), (Integers{6, 16, 8, 18, 31, 41, 33, 43}));
  attributes.axes = {axis(2, 2, 2, 2, 3)};
  results = run_node({std::make_shared<Window>(attributes), {counted({1, 2, 5})}, {}, Precision::float32});
  EXPECT_EQ(integers_of(results[1]), (Integers{0, 1, 3, 4, 0, 5, 6, 8, 9, 5}));
}

TEST(Window, refuses_what_makes_no_sense) {
  const auto infer = [](const OperatorPointer& op, const std::vector<std::int64_t>& shape) {
    Assumptions assumptions({});
    const Fact fact = Fact::of(DType::float32, to_shape(shape));
    return op->infer({&fact, 1}, assumptions);
  };
  EXPECT_THROW(infer(window(maximum, {axis(2, 0)}), {1, 1, 4}), Error);
  EXPECT_THROW(infer(window(maximum, {axis(2, 2, 0)}), {1, 1, 4}), Error);
  EXPECT_THROW(infer(window(maximum, {axis(2, 2, 1, 0, 0, -1)}), {1, 1, 4}), Error);
  EXPECT_THROW(infer(window(maximum, {axis(2, 5)}), {1, 1, 4}), Error);
  EXPECT_THROW(infer(window(maximum, {axis(3, 1)}), {1, 1, 4}), Error);
  EXPECT_THROW(infer(window(maximum, {axis(2, 2, 1, -1)}), {1, 1, 4}), Error);
  EXPECT_THROW(infer(window(maximum, {axis(2, std::int64_t{1} << 40, 1, std::int64_t{1} << 41)}), {1, 1, 4}), Error);
}

TEST(Window, keeps_symbolic_sizes) {
  Assumptions assumptions({{"n", 1}, {"h", 9}});
  const Fact fact = Fact::of(DType::float32, {Dim::symbol("n"), 3, Dim::symbol("h")});
  const auto facts = window(maximum, {axis(2, 3, 2, 1, 1)})->infer({&fact, 1}, assumptions);
  EXPECT_EQ(facts[0].shape[0], Dim::symbol("n"));
  EXPECT_EQ(facts[0].shape[2], Dim::floor_divide(Dim::symbol("h") - Dim(1), 2) + Dim(1));
}

struct WindowCase {
  std::vector<std::int64_t> shape;
  std::vector<WindowAxis> axes;
};

class WindowShapes : public ::testing::TestWithParam<WindowCase> {};

TEST_P(WindowShapes, match_the_host) {
  const auto& [shape, axes] = GetParam();
  const Layout last = Layout::channels_last(shape.size());
  const Tensor x = random_tensor(DType::float32, shape);
  for (const bool up : {false, true}) {
    for (const bool count : {false, true}) {
      expect_matches_host({window(mean, axes, up, count), {x}, {}, Precision::float32}, 1e-6);
      expect_matches_host({window(mean, axes, up, count), {x}, {last}, Precision::float16}, 1e-3);
    }
    expect_matches_host({window(maximum, axes, up), {x}, {last}, Precision::float32}, 0);
  }
  WindowAttributes attributes;
  attributes.axes = axes;
  attributes.indices = true;
  for (const IndexOrder order : {IndexOrder::row_major, IndexOrder::column_major}) {
    attributes.index_order = order;
    expect_matches_host({std::make_shared<Window>(attributes),
                         {random_tensor(DType::int8, shape, -3, 3)},
                         {last},
                         Precision::float32},
                        0);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, WindowShapes,
    ::testing::Values(WindowCase{{1, 1, 1}, {axis(2, 1)}}, WindowCase{{2, 3, 17}, {axis(2, 4, 3, 1, 2)}},
                      WindowCase{{2, 5, 9, 7}, {axis(2, 3, 2, 1, 1), axis(3, 3, 2, 1, 1)}},
                      WindowCase{{2, 5, 9, 11}, {axis(2, 3, 1, 2, 1, 2), axis(3, 2, 3, 0, 1, 3)}},
                      WindowCase{{1, 3, 5, 6, 7}, {axis(2, 2, 2, 1), axis(3, 3, 1), axis(4, 2, 2, 0, 1)}},
                      WindowCase{{1, 2, 3, 4, 3, 5}, {axis(2, 2), axis(3, 2, 2), axis(4, 3, 1, 1, 1), axis(5, 2, 3)}},
                      WindowCase{{2, 9, 3, 4}, {axis(1, 5, 1, 2, 2)}}, WindowCase{{0, 3, 4}, {axis(2, 2)}}));

TEST(Window, takes_every_dtype) {
  for (const DType dtype : {DType::int8, DType::uint8, DType::int16, DType::int32, DType::int64, DType::uint64}) {
    const Tensor x = random_tensor(dtype, {2, 3, 9}, is_signed_integer(dtype) ? -120 : 0, 120);
    expect_matches_host({window(maximum, {axis(2, 3, 2, 1, 1)}), {x}, {}, Precision::float32}, 0);
  }
  const Tensor wide = random_tensor(DType::float64, {2, 3, 9});
  expect_matches_host({window(maximum, {axis(2, 3, 2, 1, 1)}), {wide}, {}, Precision::float32}, 0);
  expect_matches_host({window(mean, {axis(2, 3, 2, 1, 1)}), {wide}, {}, Precision::float32}, 1e-15);
}

TEST(Window, is_lp_pooling_and_local_response_normalisation) {
  WindowAttributes attributes;
  attributes.function = sum;
  attributes.preparation = Preparation::absolute_power;
  attributes.exponent = 3;
  attributes.axes = {axis(2, 2, 2), axis(3, 2, 2)};
  PointwiseChain root;
  const auto third = root.add(Immediate::of(1.0 / 3));
  root.add(PointwiseFunction::power, DType::float32, {0, third, 0});
  const OperatorPointer pool = std::make_shared<Window>(attributes, root);
  const Tensor ones = float_tensor({1, 1, 2, 2}, {1, -2, 3, -4});
  EXPECT_NEAR(run_floats(pool, ones)[0], 4.6415888, 1e-5);  // cbrt(1 + 8 + 27 + 64)
  expect_matches_host(
      {pool, {random_tensor(DType::float32, {2, 3, 6, 8})}, {Layout::channels_last(4)}, Precision::float32}, 2e-6);

  // x / (2 + 0.5 / 3 * sum of three squares)^0.75
  attributes = {};
  attributes.function = mean;
  attributes.preparation = Preparation::square;
  attributes.axes = {axis(1, 3, 1, 1, 1)};
  attributes.count_padding = true;
  PointwiseChain chain;
  chain.input_count = 2;
  const auto alpha = chain.add(Immediate::of(0.5)), bias = chain.add(Immediate::of(2)),
             beta = chain.add(Immediate::of(0.75));
  const auto scaled = chain.add(PointwiseFunction::multiply, DType::float32, {0, alpha, 0});
  const auto base = chain.add(PointwiseFunction::add, DType::float32, {scaled, bias, 0});
  const auto powered = chain.add(PointwiseFunction::power, DType::float32, {base, beta, 0});
  chain.add(PointwiseFunction::divide, DType::float32, {1, powered, 0});
  const OperatorPointer response = std::make_shared<Window>(attributes, chain);
  const Tensor x = float_tensor({1, 3, 1}, {1, 2, 3});
  const Floats results = floats_of(run_node({response, {x, x}, {}, Precision::float32})[0]);
  EXPECT_NEAR(results[0], 1 / std::pow(2 + 0.5 / 3 * 5, 0.75), 1e-6);
  EXPECT_NEAR(results[1], 2 / std::pow(2 + 0.5 / 3 * 14, 0.75), 1e-6);
  EXPECT_NEAR(results[2], 3 / std::pow(2 + 0.5 / 3 * 13, 0.75), 1e-6);
}

TEST(Window, lets_not_a_number_through) {
  const Tensor x = float_tensor({1, 1, 4}, {1, std::nanf(""), 3, 4});
  const Floats results = run_floats(window(maximum, {axis(2, 2, 2)}), x);
  EXPECT_TRUE(std::isnan(results[0]));
  EXPECT_EQ(results[1], 4);
}

}  // namespace
}  // namespace lapilli::testing
