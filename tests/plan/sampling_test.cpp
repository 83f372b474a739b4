#include "ops/sampling.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "plan/single_node.h"
#include "support/node_runner.h"

namespace lapilli::testing {
namespace {

using Floats = std::vector<float>;
using enum SamplingKernel;

// A stretch of `input` elements to `output`, the centres of the elements half an element inside.
SamplingAxis half_pixel(int axis, const Dim& input, const Dim& output) {
  SamplingAxis result;
  result.axis = axis;
  result.size = output;
  result.step = Dim(2) * input;
  result.begin = input - output;
  result.divisor = Dim(2) * output;
  result.spread = input;
  result.spread_divisor = output;
  return result;
}

OperatorPointer sampling(SamplingKernel kernel, std::vector<SamplingAxis> axes, bool antialias = false,
                         bool exclude_outside = false) {
  SamplingAttributes attributes;
  attributes.kernel = kernel;
  attributes.antialias = antialias;
  attributes.exclude_outside = exclude_outside;
  attributes.axes = std::move(axes);
  return std::make_shared<Sampling>(std::move(attributes));
}

Floats run_floats(OperatorPointer op, const Tensor& input) {
  return floats_of(run_node({std::move(op), {input}, {}, Precision::float32})[0]);
}

// The device's own table, which it makes where sizes are symbols: one row [1, size] along axis 1.
Tensor run_symbolic(const std::function<OperatorPointer(const Dim&)>& make, const Tensor& input) {
  const SymbolValues sizes{{"width", input.shape()[1]}};
  const Dim width = Dim::symbol("width");
  Assumptions assumptions(sizes);
  Graph graph;
  const ValueId x = graph.add_input("x", Fact::of(input.dtype(), {1, width}));
  graph.add_output(graph.add_node(make(width), {x}, {"node"}, {"y"}, assumptions)[0]);
  const DeviceTraits& traits = test_device().traits();
  const Structure structure = build_structure(graph, assumptions, traits, {});
  EXPECT_EQ(structure.dispatches.size(), 2U) << "the table and the samples";
  auto program = std::make_shared<const Program>(instantiate(structure, sizes, traits).program);
  verify(*program, traits);
  Executor executor(test_device(), std::make_shared<ResidentConstants>(test_device()), program);
  Tensor output = Tensor::allocate(program->outputs[0].dtype, program->outputs[0].shape);
  const std::array inputs{input.bytes()};
  const std::array outputs{output.mutable_bytes()};
  executor.run(inputs, outputs);
  EXPECT_EQ(test_device().validation_messages(), std::vector<std::string>{});
  return output;
}

// The examples of the ONNX operator document (resize_upsample_scales_linear, resize_downsample_sizes_nearest).
TEST(Sampling, knows_the_values_of_onnx) {
  const Tensor square = float_tensor({1, 1, 2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(run_floats(sampling(linear, {half_pixel(2, 2, 4), half_pixel(3, 2, 4)}), square),
            (Floats{1, 1.25, 1.75, 2, 1.5, 1.75, 2.25, 2.5, 2.5, 2.75, 3.25, 3.5, 3, 3.25, 3.75, 4}));
  const Tensor wide = float_tensor({1, 1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_EQ(run_floats(sampling(nearest, {half_pixel(2, 2, 1), half_pixel(3, 4, 3)}), wide), (Floats{1, 2, 4}));
}

// Coordinates (2i + 1) * 20 / 12 - 1/2: results 1 and 4 lie in the middle between two elements, at 4.5 and 14.5.
TEST(Sampling, keeps_ties) {
  Floats values(20);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const auto run = [&](NearestRounding rounding) {
    SamplingAxis axis = half_pixel(1, 20, 6);
    axis.rounding = rounding;
    const Floats known = run_floats(sampling(nearest, {axis}), float_tensor({1, 20}, values));
    const Tensor symbolic = run_symbolic(
        [&](const Dim& width) {
          SamplingAxis same = half_pixel(1, width, 6);
          same.rounding = rounding;
          return sampling(nearest, {same});
        },
        float_tensor({1, 20}, values));
    EXPECT_EQ(floats_of(symbolic), known);
    return known;
  };
  EXPECT_EQ(run(NearestRounding::half_up), (Floats{1, 5, 8, 11, 15, 18}));
  EXPECT_EQ(run(NearestRounding::half_down), (Floats{1, 4, 8, 11, 14, 18}));
  EXPECT_EQ(run(NearestRounding::down), (Floats{1, 4, 7, 11, 14, 17}));
  EXPECT_EQ(run(NearestRounding::up), (Floats{2, 5, 8, 12, 15, 18}));
}

TEST(Sampling, matches_the_host) {
  const Tensor data = random_tensor(DType::float32, {2, 5, 7, 6});
  for (const SamplingKernel kernel : {nearest, linear, cubic}) {
    for (const Layout& layout : {Layout::row_major(4), Layout::channels_last(4)}) {
      for (const Precision precision : {Precision::float32, Precision::float16}) {
        const double tolerance = precision == Precision::float16 ? 1e-3 : 1e-6;
        expect_matches_host(
            {sampling(kernel, {half_pixel(2, 7, 10), half_pixel(3, 6, 4)}), {data}, {layout}, precision}, tolerance);
      }
      expect_matches_host(
          {sampling(kernel, {half_pixel(0, 2, 3), half_pixel(1, 5, 2), half_pixel(3, 6, 9)}, false, true),
           {data},
           {layout},
           Precision::float32},
          1e-6);
    }
  }
}

TEST(Sampling, takes_every_type_of_numbers) {
  for (const DType dtype : {DType::boolean, DType::uint8, DType::int16, DType::int32, DType::int64, DType::uint64,
                            DType::float16, DType::bfloat16, DType::float64}) {
    expect_matches_host({sampling(nearest, {half_pixel(1, 5, 8)}), {random_tensor(dtype, {3, 5}, 0, 100)}, {}}, 0);
  }
  for (const DType dtype : {DType::float16, DType::bfloat16}) {
    expect_matches_host({sampling(cubic, {half_pixel(1, 5, 8)}), {random_tensor(dtype, {3, 5})}, {}}, 4e-3);
  }
  for (const bool antialias : {false, true}) {
    expect_matches_host(
        {sampling(cubic, {half_pixel(1, 9, 4)}, antialias), {random_tensor(DType::float64, {3, 9})}, {}}, 1e-14);
  }
}

// numpy.interp(numpy.arange(0, 4.5, 0.5), range(5), x), cut off; a constant stays what it is.
TEST(Sampling, cuts_integers_off) {
  SamplingAxis axis;
  axis.axis = 1;
  axis.size = 9;
  axis.divisor = 2;
  const std::int64_t large = (std::int64_t{1} << (test_device().traits().float64 ? 30 : 20)) + 1;
  const Tensor x = integer_tensor({2, 5}, {0, 3, -3, -4, large, large, large, large, large, large});
  const auto run = [&](DType dtype) {
    return integers_of(run_node({sampling(linear, {axis}), {evaluate_chain({}, {&x, 1}, dtype)}, {}})[0]);
  };
  const std::vector<std::int64_t> expected{0,     1,     3,     0,     -3,    -3,    -4,    (large - 4) / 2, large,
                                           large, large, large, large, large, large, large, large,           large};
  EXPECT_EQ(run(DType::int32), expected);
  EXPECT_EQ(run(DType::int64), expected);
  axis = half_pixel(1, 5, 7);
  const Tensor bright = random_tensor(DType::uint8, {1, 5}, 255, 255.5);
  EXPECT_EQ(integers_of(run_node({sampling(linear, {axis}), {bright}, {}})[0]), std::vector<std::int64_t>(7, 255));
  // Cubic leaves the range of the elements.
  const Tensor edge = integer_tensor({1, 4}, {0, 0, 255, 255});
  const Tensor steep = evaluate_chain({}, {&edge, 1}, DType::uint8);
  axis = half_pixel(1, 4, 8);
  const std::vector<std::int64_t> wide = integers_of(run_node({sampling(cubic, {axis}), {steep}, {}})[0]);
  EXPECT_EQ(wide.front(), 0);
  EXPECT_EQ(wide[2], 0);
  EXPECT_EQ(wide[5], 255);
}

TEST(Sampling, makes_the_same_table_on_the_device) {
  const Tensor data = random_tensor(DType::float32, {1, 23});
  for (const SamplingKernel kernel : {linear, cubic}) {
    for (const bool antialias : {false, true}) {
      for (const std::int64_t output : {1, 9, 23, 40}) {
        const OperatorPointer known = sampling(kernel, {half_pixel(1, 23, output)}, antialias, true);
        const Tensor result = run_symbolic(
            [&](const Dim& width) { return sampling(kernel, {half_pixel(1, width, output)}, antialias, true); },
            data);
        EXPECT_LE(relative_error(result, known->evaluate({&data, 1})[0]), 1e-6) << known->attributes();
        const Tensor wide = random_tensor(DType::float64, {1, 23});
        const Tensor wide_result = run_symbolic(
            [&](const Dim& width) { return sampling(kernel, {half_pixel(1, width, output)}, antialias, true); },
            wide);
        EXPECT_LE(relative_error(wide_result, known->evaluate({&wide, 1})[0]), 1e-14) << known->attributes();
      }
    }
  }
}

// The numerator leaves 32 bits: i * 2^30 / (2^31 - 1) is just above i / 2.
TEST(Sampling, divides_in_64_bits) {
  SamplingAxis axis;
  axis.axis = 1;
  axis.size = 46;
  axis.step = std::int64_t{1} << 30;
  axis.divisor = (std::int64_t{1} << 31) - 1;
  axis.rounding = NearestRounding::up;
  const Tensor data = random_tensor(DType::float32, {1, 24});
  const Floats values = floats_of(data);
  Floats expected;
  for (std::size_t i = 0; i < 46; ++i) expected.push_back(values[std::min<std::size_t>(i == 0 ? 0 : i / 2 + 1, 23)]);
  const Tensor result = run_symbolic(
      [&](const Dim& width) {
        SamplingAxis symbolic = axis;
        symbolic.begin = width - Dim(24);
        return sampling(nearest, {symbolic});
      },
      data);
  EXPECT_EQ(floats_of(result), expected);
}

TEST(Sampling, takes_a_region_and_extrapolates) {
  SamplingAttributes attributes;
  attributes.crop = true;
  attributes.extrapolation = -1;
  SamplingAxis axis;
  axis.axis = 1;
  axis.size = 4;
  axis.divisor = 3;
  attributes.axes = {axis};
  const auto op = std::make_shared<Sampling>(attributes);
  const Tensor data = float_tensor({1, 5}, {0, 10, 20, 30, 40});
  // From 1/2 to 5/4 of the way: at 2, 3, 4, and 5, which is outside.
  const Tensor region = float_tensor({2}, {0.5F, 1.25F});
  EXPECT_EQ(floats_of(run_node({op, {data, region}, {}, Precision::float32})[0]), (Floats{20, 30, 40, -1}));
  expect_matches_host({op, {data, region}, {}}, 1e-6);
}

TEST(Sampling, ignores_infinities_without_weight) {
  const float infinity = std::numeric_limits<float>::infinity();
  const Tensor data = float_tensor({1, 3}, {infinity, 1, 3});
  SamplingAxis axis;
  axis.axis = 1;
  axis.size = 5;
  axis.divisor = 2;
  EXPECT_EQ(run_floats(sampling(linear, {axis}), data), (Floats{infinity, infinity, 1, 2, 3}));
}

TEST(Sampling, has_nothing_to_do_for_nothing) {
  const Tensor empty = Tensor::allocate(DType::float32, {0, 3});
  EXPECT_EQ(run_node({sampling(linear, {half_pixel(1, 3, 6)}), {empty}, {}, Precision::float32})[0].shape(),
            (std::vector<std::int64_t>{0, 6}));
}

}  // namespace
}  // namespace lapilli::testing
