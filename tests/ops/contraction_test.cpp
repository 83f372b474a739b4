#include "ops/contraction.h"

#include <gtest/gtest.h>

#include <numeric>

#include "lapilli/error.h"

namespace lapilli {
namespace {

using Sizes = std::vector<std::int64_t>;
using Floats = std::vector<float>;

Tensor floats(Sizes shape, const Floats& values) {
  return Tensor::of<float>(DType::float32, std::move(shape), std::span(values));
}

Tensor ramp(Sizes shape) {
  Floats values(static_cast<std::size_t>(element_count(std::span<const std::int64_t>(shape))));
  std::iota(values.begin(), values.end(), 0.0F);
  return floats(std::move(shape), values);
}

Tensor ones(Sizes shape) {
  const Floats values(static_cast<std::size_t>(element_count(std::span<const std::int64_t>(shape))), 1.0F);
  return floats(std::move(shape), values);
}

Floats evaluated(const Operator& op, const std::vector<Tensor>& inputs) {
  const std::vector<Tensor> results = op.evaluate(inputs);
  const auto elements = results.at(0).elements<float>();
  return {elements.begin(), elements.end()};
}

Shape inferred(const Operator& op, const Shape& a, const Shape& b, SymbolValues sizes = {}) {
  Assumptions assumptions(std::move(sizes));
  const std::array facts{Fact::of(DType::float32, a), Fact::of(DType::float32, b)};
  return op.infer(facts, assumptions).at(0).shape;
}

ConvolutionAttributes padded(std::int64_t stride, std::int64_t pad) {
  ConvolutionAttributes attributes;
  attributes.strides = {stride, stride};
  attributes.pads_begin = {pad, pad};
  attributes.pads_end = {pad, pad};
  return attributes;
}

TEST(MatMul, InfersBroadcastAndTransposedShapes) {
  const Dim batch = Dim::symbol("batch");
  EXPECT_EQ(inferred(MatMul(), {batch, 1, 3, 4}, {5, 4, 6}, {{"batch", 2}}), (Shape{batch, 5, 3, 6}));
  EXPECT_EQ(inferred(MatMul(true, true), {4, 3}, {6, 4}), (Shape{3, 6}));
  EXPECT_THROW(inferred(MatMul(), {3, 4}, {5, 6}), Error);
  EXPECT_THROW(inferred(MatMul(), {4}, {4, 6}), Error);
  EXPECT_THROW(inferred(MatMul(), {2, 3, 4}, {3, 4, 6}), Error);
}

TEST(MatMul, EvaluatesByHandWorkedValues) {
  const Tensor a = floats({2, 3}, {1, 2, 3, 4, 5, 6}), b = floats({3, 2}, {7, 8, 9, 10, 11, 12});
  EXPECT_EQ(evaluated(MatMul(), {a, b}), (Floats{58, 64, 139, 154}));
  // The same matrices given the other way round.
  const Tensor at = floats({3, 2}, {1, 4, 2, 5, 3, 6}), bt = floats({2, 3}, {7, 9, 11, 8, 10, 12});
  EXPECT_EQ(evaluated(MatMul(true, true), {at, bt}), (Floats{58, 64, 139, 154}));
  // Two batches of A meet one B.
  const Tensor two = floats({2, 1, 3}, {1, 0, 0, 0, 0, 1});
  EXPECT_EQ(evaluated(MatMul(), {two, b}), (Floats{7, 8, 11, 12}));
}

TEST(MatMul, IntegersWrap) {
  const std::vector<std::int32_t> large{1 << 30, 1 << 30}, four{4, 1};
  const Tensor a = Tensor::of<std::int32_t>(DType::int32, {1, 2}, std::span(large));
  const Tensor b = Tensor::of<std::int32_t>(DType::int32, {2, 1}, std::span(four));
  const std::array inputs{a, b};
  EXPECT_EQ(MatMul().evaluate(inputs).at(0).elements<std::int32_t>()[0], 1 << 30);
}

TEST(MatMul, CountsMultiplicationsAndAdditions) {
  const std::array inputs{Fact::of(DType::float32, {8, 16}), Fact::of(DType::float32, {16, 4})};
  const std::array outputs{Fact::of(DType::float32, {8, 4})};
  EXPECT_EQ(MatMul().operation_count(inputs, outputs), Dim(2 * 8 * 16 * 4));
}

TEST(Convolution, InfersShapes) {
  EXPECT_EQ(inferred(Convolution(padded(2, 3)), {1, 3, 224, 224}, {64, 3, 7, 7}), (Shape{1, 64, 112, 112}));
  const Dim height = Dim::symbol("height");
  const Shape symbolic = inferred(Convolution(padded(1, 1)), {1, 8, height, 10}, {4, 8, 3, 3}, {{"height", 9}});
  EXPECT_EQ(symbolic, (Shape{1, 4, height, 10}));
  ConvolutionAttributes transposed = padded(2, 1);
  transposed.transposed = true;
  transposed.output_padding = {1, 1};
  EXPECT_EQ(inferred(Convolution(transposed), {1, 8, 5, 6}, {8, 4, 3, 3}), (Shape{1, 4, 10, 12}));
}

TEST(Convolution, RefusesWhatDoesNotFit) {
  EXPECT_THROW(inferred(Convolution({}), {1, 3, 8, 8}, {4, 2, 3, 3}), Error);  // channels
  EXPECT_THROW(inferred(Convolution({}), {1, 3, 2, 8}, {4, 3, 3, 3}), Error);  // window past the input
  EXPECT_THROW(inferred(Convolution({}), {1, 3, 8}, {4, 3, 3, 3}), Error);     // ranks
  EXPECT_THROW(inferred(Convolution(padded(0, 0)), {1, 3, 8, 8}, {4, 3, 3, 3}), Error);
  EXPECT_THROW(inferred(Convolution(padded(1, 0)), {1, 3, 8, 8, 8}, {4, 3, 3, 3, 3}), Error);
  ConvolutionAttributes groups;
  groups.group = 2;
  EXPECT_THROW(inferred(Convolution(groups), {1, 4, 8, 8}, {3, 2, 3, 3}), Error);  // 3 filters in 2 groups
}

// The examples of ONNX's documentation of Conv.
TEST(Convolution, EvaluatesTheExamplesOfTheStandard) {
  EXPECT_EQ(evaluated(Convolution(padded(1, 1)), {ramp({1, 1, 5, 5}), ones({1, 1, 3, 3})}),
            (Floats{12,  21, 27, 33,  24,  33,  54,  63, 72,  51,  63,  99, 108,
                    117, 81, 93, 144, 153, 162, 111, 72, 111, 117, 123, 84}));
  EXPECT_EQ(evaluated(Convolution({}), {ramp({1, 1, 5, 5}), ones({1, 1, 3, 3})}),
            (Floats{54, 63, 72, 99, 108, 117, 144, 153, 162}));
  EXPECT_EQ(evaluated(Convolution(padded(2, 1)), {ramp({1, 1, 7, 5}), ones({1, 1, 3, 3})}),
            (Floats{12, 27, 24, 63, 108, 81, 123, 198, 141, 112, 177, 124}));
}

// The first example of ONNX's documentation of ConvTranspose.
TEST(Convolution, EvaluatesTheTransposedExampleOfTheStandard) {
  ConvolutionAttributes transposed;
  transposed.transposed = true;
  const Floats channel{0, 1, 3, 3, 2, 3, 8, 15, 12, 7, 9, 21, 36, 27, 15, 9, 20, 33, 24, 13, 6, 13, 21, 15, 8};
  Floats expected = channel;
  expected.insert(expected.end(), channel.begin(), channel.end());
  EXPECT_EQ(evaluated(Convolution(transposed), {ramp({1, 1, 3, 3}), ones({1, 2, 3, 3})}), expected);
}

// Scattered by hand: each input element times the kernel, added where it falls; two groups, stride 2, one row
// cropped.
TEST(Convolution, TransposedScattersByGroup) {
  ConvolutionAttributes attributes;
  attributes.strides = {2};
  attributes.pads_begin = {1};
  attributes.pads_end = {0};
  attributes.group = 2;
  attributes.transposed = true;
  const Tensor x = floats({1, 2, 3}, {1, 2, 3, 4, 5, 6}), w = floats({2, 1, 2}, {10, 1, 100, 7});
  // Group 0 before cropping: 10 1 20 2 30 3; group 1: 400 28 500 35 600 42.
  EXPECT_EQ(evaluated(Convolution(attributes), {x, w}), (Floats{1, 20, 2, 30, 3, 28, 500, 35, 600, 42}));
}

TEST(Convolution, EvaluatesDilatedGroups) {
  ConvolutionAttributes attributes;
  attributes.dilations = {2};
  attributes.group = 2;
  const Tensor x = floats({1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}), w = floats({2, 1, 2}, {1, 10, 100, 1});
  // 1 + 10 * 3, 2 + 10 * 4; 100 * 5 + 7, 100 * 6 + 8.
  EXPECT_EQ(evaluated(Convolution(attributes), {x, w}), (Floats{31, 42, 507, 608}));
}

TEST(Convolution, CountsOperations) {
  const std::array inputs{Fact::of(DType::float32, {1, 64, 56, 56}), Fact::of(DType::float32, {64, 64, 3, 3})};
  const std::array outputs{Fact::of(DType::float32, {1, 64, 56, 56})};
  EXPECT_EQ(Convolution(padded(1, 1)).operation_count(inputs, outputs), Dim(2LL * 64 * 64 * 9 * 56 * 56));
}

TEST(Convolution, AppliesItsEpilogue) {
  PointwiseChain chain;
  chain.input_count = 2;
  const std::uint8_t sum = chain.add(PointwiseFunction::add, DType::float32, {0, 1, 0});
  chain.add(PointwiseFunction::relu, DType::float32, {sum, 0, 0});
  const Convolution op({}, chain);
  const Tensor x = floats({1, 1, 2}, {1, -2}), w = floats({2, 1, 1}, {1, 2}), bias = floats({2, 1}, {0.5F, 1});
  EXPECT_EQ(evaluated(op, {x, w, bias}), (Floats{1.5F, 0, 3, 0}));
}

}  // namespace
}  // namespace lapilli
