// Contractions on the device against their host evaluation (tests/ops/contraction_test.cpp checks that one), with the
// validation layer listening.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "ops/contraction.h"
#include "plan/single_node.h"
#include "support/node_runner.h"

namespace lapilli::testing {
namespace {

using Sizes = std::vector<std::int64_t>;
using enum PointwiseFunction;

struct Case {
  std::string name;
  OperatorPointer op;
  Sizes a, b;
  bool constant_weights = true;
  DType dtype = DType::float32;
  std::vector<Sizes> epilogue = {};  ///< shapes of the operands
};

std::ostream& operator<<(std::ostream& out, const Case& value) { return out << value.name; }

// x + bias, + residual, then relu.
PointwiseChain residual_chain() {
  PointwiseChain chain;
  chain.input_count = 3;
  const std::uint8_t biased = chain.add(add, DType::float32, {0, 1, 0});
  const std::uint8_t sum = chain.add(add, DType::float32, {biased, 2, 0});
  chain.add(relu, DType::float32, {sum, 0, 0});
  return chain;
}

PointwiseChain bias_chain() {
  PointwiseChain chain;
  chain.input_count = 2;
  const std::uint8_t low = chain.add(Immediate::of(-0.5)), high = chain.add(Immediate::of(6));
  const std::uint8_t biased = chain.add(add, DType::float32, {0, 1, 0});
  chain.add(PointwiseFunction::clamp, DType::float32, {biased, low, high});
  return chain;
}

OperatorPointer convolution(ConvolutionAttributes attributes, PointwiseChain chain = {}) {
  return std::make_shared<Convolution>(std::move(attributes), std::move(chain));
}

OperatorPointer product(bool transpose_a = false, bool transpose_b = false, PointwiseChain chain = {}) {
  return std::make_shared<MatMul>(transpose_a, transpose_b, std::move(chain));
}

ConvolutionAttributes window(Sizes strides, Sizes dilations, std::vector<Dim> begin, std::vector<Dim> end,
                             std::int64_t group = 1) {
  ConvolutionAttributes attributes;
  attributes.strides = std::move(strides);
  attributes.dilations = std::move(dilations);
  attributes.pads_begin = std::move(begin);
  attributes.pads_end = std::move(end);
  attributes.group = group;
  return attributes;
}

ConvolutionAttributes transposed(ConvolutionAttributes attributes, std::vector<Dim> output_padding = {},
                                 std::vector<Dim> output_size = {}) {
  attributes.transposed = true;
  attributes.output_padding = std::move(output_padding);
  attributes.output_size = std::move(output_size);
  return attributes;
}

std::vector<Case> products() {
  return {
      {"Square", product(), {32, 32}, {32, 32}},
      {"Odd", product(), {37, 53}, {53, 29}},
      {"Vector", product(), {1, 129}, {129, 1000}},
      {"OneColumn", product(), {70, 64}, {64, 1}},
      {"DynamicWeights", product(), {33, 40}, {40, 36}, false},
      {"DynamicOddWeights", product(), {5, 7}, {7, 3}, false},
      {"TransposedA", product(true), {21, 45}, {21, 18}, false},
      {"TransposedB", product(false, true), {45, 24}, {31, 24}, false},
      {"TransposedConstantB", product(false, true), {45, 24}, {31, 24}},
      {"TransposedBoth", product(true, true), {19, 13}, {26, 19}, false},
      {"Batch", product(), {3, 2, 17, 12}, {3, 2, 12, 20}, false},
      {"BatchFolds", product(), {3, 5, 17, 16}, {16, 20}},
      {"BatchBroadcast", product(false, true), {4, 1, 9, 16}, {1, 3, 11, 16}, false},
      {"BatchConstant", product(), {2, 3, 5, 10}, {3, 10, 7}},
      {"BatchMissing", product(), {6, 8}, {2, 3, 8, 9}, false},
      {"ManyAxes", product(), {2, 1, 2, 1, 2, 3, 4}, {1, 2, 1, 2, 2, 4, 5}, false},
      {"Double", product(), {9, 11}, {11, 6}, false, DType::float64},
      {"Half", product(), {9, 12}, {12, 8}, false, DType::float16},
      {"BrainFloat", product(), {9, 12}, {12, 8}, true, DType::bfloat16},
      {"Int32", product(), {9, 11}, {11, 6}, false, DType::int32},
      {"UInt32", product(), {9, 11}, {11, 6}, false, DType::uint32},
      {"Int64", product(), {2, 9, 11}, {11, 6}, true, DType::int64},
      {"UInt64", product(), {9, 11}, {11, 6}, false, DType::uint64},
      {"Residual",
       product(false, false, residual_chain()),
       {50, 30},
       {30, 44},
       true,
       DType::float32,
       {{44}, {50, 44}}},
      {"BatchBias", product(false, false, bias_chain()), {2, 7, 8}, {2, 8, 12}, false, DType::float32, {{2, 1, 12}}},
      {"Empty", product(), {0, 4}, {4, 5}, false},
  };
}

std::vector<Case> convolutions() {
  return {
      {"Pointwise", convolution({}), {2, 16, 7, 9}, {24, 16, 1, 1}},
      {"PointwiseStride", convolution(window({2, 2}, {}, {}, {})), {2, 8, 9, 7}, {12, 8, 1, 1}},
      {"Padded", convolution(window({}, {}, {1, 1}, {1, 1})), {1, 8, 10, 11}, {16, 8, 3, 3}},
      {"FirstLayer", convolution(window({2, 2}, {}, {3, 3}, {3, 3})), {2, 3, 20, 20}, {16, 3, 7, 7}},
      {"Asymmetric", convolution(window({2, 3}, {2, 1}, {0, 2}, {3, 1})), {2, 5, 17, 19}, {7, 5, 3, 4}},
      {"Dilated", convolution(window({1, 1}, {3, 2}, {2, 2}, {2, 2})), {1, 4, 13, 12}, {8, 4, 3, 3}},
      {"NegativePads", convolution(window({}, {}, {-1, -2}, {-1, 0})), {1, 4, 9, 9}, {5, 4, 3, 3}},
      {"PointwisePadded", convolution(window({}, {}, {1, 1}, {1, 1})), {1, 4, 5, 6}, {3, 4, 1, 1}},
      {"Groups", convolution(window({}, {}, {1, 1}, {1, 1}, 4)), {2, 16, 8, 7}, {24, 4, 3, 3}},
      {"OddGroups", convolution(window({}, {}, {1, 1}, {1, 1}, 3)), {2, 9, 8, 7}, {15, 3, 3, 3}},
      {"PointwiseGroups", convolution(window({}, {}, {}, {}, 2)), {2, 8, 5, 7}, {10, 4, 1, 1}},
      {"Depthwise", convolution(window({2, 2}, {}, {1, 1}, {1, 1}, 12)), {2, 12, 14, 13}, {12, 1, 3, 3}},
      {"DepthwiseMultiplier", convolution(window({}, {}, {1, 1}, {1, 1}, 6)), {1, 6, 9, 9}, {12, 1, 3, 3}},
      {"DepthwiseOdd", convolution(window({}, {2, 2}, {2, 2}, {2, 2}, 7)), {1, 7, 9, 9}, {7, 1, 3, 3}},
      {"OneAxis", convolution(window({2}, {2}, {3}, {1})), {3, 6, 40}, {10, 6, 5}},
      {"ThreeAxes",
       convolution(window({1, 2, 1}, {1, 1, 2}, {1, 0, 2}, {0, 1, 1})),
       {2, 4, 6, 7, 8},
       {6, 4, 2, 3, 3}},
      {"FourAxes", convolution(window({}, {}, {1, 0, 1, 0}, {0, 1, 0, 1})), {1, 2, 4, 5, 4, 5}, {3, 2, 2, 2, 3, 2}},
      {"DynamicWeights", convolution(window({}, {}, {1, 1}, {1, 1})), {1, 8, 6, 7}, {9, 8, 3, 3}, false},
      {"DynamicGroups", convolution(window({}, {}, {1, 1}, {1, 1}, 2)), {1, 8, 6, 7}, {6, 4, 3, 3}, false},
      {"Transposed",
       convolution(transposed(window({2, 2}, {}, {1, 1}, {1, 1}), {1, 1})),
       {1, 8, 5, 6},
       {8, 12, 3, 3}},
      {"TransposedGroups",
       convolution(transposed(window({3, 2}, {}, {0, 1}, {1, 0}, 2))),
       {2, 6, 4, 5},
       {6, 5, 2, 4}},
      {"TransposedDilated", convolution(transposed(window({2}, {3}, {2}, {1}))), {1, 4, 9}, {4, 3, 3}},
      {"TransposedSize",
       convolution(transposed(window({3, 3}, {}, {0, 0}, {0, 0}), {}, {10, 8})),
       {1, 1, 3, 3},
       {1, 2, 3, 3}},
      {"TransposedPointwise", convolution(transposed({})), {1, 8, 4, 5}, {8, 6, 1, 1}},
      {"Residual",
       convolution(window({}, {}, {1, 1}, {1, 1}), residual_chain()),
       {2, 8, 6, 7},
       {20, 8, 3, 3},
       true,
       DType::float32,
       {{20, 1, 1}, {2, 20, 6, 7}}},
      {"PointwiseResidual",
       convolution({}, residual_chain()),
       {2, 24, 6, 7},
       {18, 24, 1, 1},
       true,
       DType::float32,
       {{18, 1, 1}, {2, 18, 6, 7}}},
      {"GroupsBias",
       convolution(window({2, 1}, {}, {1, 1}, {1, 1}, 2), bias_chain()),
       {1, 8, 7, 6},
       {8, 4, 3, 3},
       true,
       DType::float32,
       {{8, 1, 1}}},
      {"DepthwiseBias",
       convolution(window({1, 1}, {}, {1, 1}, {1, 1}, 16), bias_chain()),
       {2, 16, 7, 6},
       {16, 1, 3, 3},
       true,
       DType::float32,
       {{16, 1, 1}}},
      {"Deep", convolution({}), {1, 520, 3, 3}, {40, 520, 1, 1}},
      {"Double", convolution(window({}, {}, {1, 1}, {1, 1})), {1, 3, 6, 7}, {5, 3, 3, 3}, true, DType::float64},
  };
}

class ContractionKernels : public ::testing::TestWithParam<Case> {
 protected:
  static SingleNode make_node(const Case& value) {
    SingleNode node{value.op, {}, {}};
    const auto add_input = [&](const Sizes& shape, DType dtype, bool constant) {
      const double range = is_integer(dtype) ? 100 : 1;
      const double low = is_unsigned_integer(dtype) ? 0 : -range;
      node.inputs.push_back(
          random_tensor(dtype, shape, low, range, static_cast<std::uint32_t>(node.inputs.size()) + 1));
      node.constant.push_back(constant);
    };
    add_input(value.a, value.dtype, false);
    add_input(value.b, value.dtype, value.constant_weights);
    for (const Sizes& shape : value.epilogue) add_input(shape, DType::float32, shape.size() != value.a.size());
    return node;
  }

  static void expect_reference(const PlanOptions& options, double tolerance) {
    const SingleNode node = make_node(GetParam());
    const std::vector<Tensor> references = node.op->evaluate(node.inputs);
    ASSERT_FALSE(references.empty());
    const Tensor actual = run_single_node(node, test_device(), options);
    EXPECT_LE(relative_error(actual, references[0]), tolerance);
    EXPECT_EQ(test_device().validation_messages(), std::vector<std::string>());
  }

  static double exact_tolerance(DType dtype) {
    return dtype == DType::bfloat16 ? 1e-2 : dtype == DType::float16 ? 1e-3 : dtype == DType::float64 ? 1e-13 : 1e-5;
  }
};

TEST_P(ContractionKernels, Float32MatchesTheHost) { expect_reference({}, exact_tolerance(GetParam().dtype)); }

TEST_P(ContractionKernels, RowMajorMatchesTheHost) {
  PlanOptions options;
  options.channels_last = false;
  expect_reference(options, exact_tolerance(GetParam().dtype));
}

TEST_P(ContractionKernels, Float16StorageMatchesTheHost) {
  PlanOptions options;
  options.precision = Precision::float16;
  expect_reference(options, is_floating_point(GetParam().dtype) ? 1e-2 : 0);
}

// Making these kernels takes a CPU driver seconds, so the depth is cut only where that meets something else: rests of
// tiles, batches, windows, groups and operands of the epilogue.
bool is_cut_too(const Case& tested) {
  constexpr std::array<std::string_view, 7> names{"Odd",      "Vector", "BatchBroadcast", "FirstLayer", "Groups",
                                                  "Residual", "Deep"};
  return std::ranges::contains(names, tested.name);
}

// The smallest tile, with the depth whole and cut.
TEST_P(ContractionKernels, MatrixUnitsMatchTheHost) {
  if (!test_device().traits().cooperative_matrix) GTEST_SKIP() << "no cooperative matrices on this device";
  PlanOptions options;
  options.precision = Precision::float16;
  options.contraction.variant = "contraction_matrix";
  options.contraction.tile = 12;
  for (const std::int64_t slices : {1, 3}) {
    if (slices > 1 && !is_cut_too(GetParam())) continue;
    options.contraction.slices = slices;
    expect_reference(options, is_floating_point(GetParam().dtype) ? 1e-2 : 0);
  }
}

TEST_P(ContractionKernels, TilesMatchTheHost) {
  PlanOptions options;
  options.contraction.variant = "contraction_tiled";
  options.contraction.tile = 8;
  for (const std::int64_t slices : {1, 3}) {
    if (slices > 1 && !is_cut_too(GetParam())) continue;
    options.contraction.slices = slices;
    expect_reference(options, exact_tolerance(GetParam().dtype));
  }
  options.precision = Precision::float16;
  if (is_cut_too(GetParam())) expect_reference(options, is_floating_point(GetParam().dtype) ? 1e-2 : 0);
}

const auto name_of = [](const ::testing::TestParamInfo<Case>& info) { return info.param.name; };
INSTANTIATE_TEST_SUITE_P(Products, ContractionKernels, ::testing::ValuesIn(products()), name_of);
INSTANTIATE_TEST_SUITE_P(Convolutions, ContractionKernels, ::testing::ValuesIn(convolutions()), name_of);

}  // namespace
}  // namespace lapilli::testing
