#include "ops/scatter.h"

#include <gtest/gtest.h>

#include "base/failure.h"
#include "support/node_runner.h"

namespace lapilli::testing {
namespace {

using Floats = std::vector<float>;
using Integers = std::vector<std::int64_t>;

Floats run_floats(OperatorPointer op, const Tensor& data, const Tensor& indices) {
  return floats_of(run_node({std::move(op), {data, indices}, {}, Precision::float32})[0]);
}

// Examples of the ONNX operator documents.
TEST(Gather, knows_the_values_of_onnx) {
  const Tensor data = float_tensor({3, 2}, {1.0F, 1.2F, 2.3F, 3.4F, 4.5F, 5.7F});
  EXPECT_EQ(run_floats(std::make_shared<Gather>(0), data, integer_tensor({2, 2}, {0, 1, 1, 2})),
            (Floats{1.0F, 1.2F, 2.3F, 3.4F, 2.3F, 3.4F, 4.5F, 5.7F}));
  const Tensor wide = float_tensor({3, 3}, {1.0F, 1.2F, 1.9F, 2.3F, 3.4F, 3.9F, 4.5F, 5.7F, 5.9F});
  EXPECT_EQ(run_floats(std::make_shared<Gather>(1), wide, integer_tensor({1, 2}, {0, -1})),
            (Floats{1.0F, 1.9F, 2.3F, 3.9F, 4.5F, 5.9F}));
  EXPECT_EQ(run_floats(std::make_shared<Gather>(0), wide, integer_tensor({}, {1})), (Floats{2.3F, 3.4F, 3.9F}));
}

TEST(GatherElements, knows_the_values_of_onnx) {
  const Tensor data = float_tensor({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  EXPECT_EQ(run_floats(std::make_shared<GatherElements>(0), data, integer_tensor({2, 3}, {1, 2, 0, 2, 0, 0})),
            (Floats{4, 8, 3, 7, 2, 3}));
  EXPECT_EQ(run_floats(std::make_shared<GatherElements>(0), data, integer_tensor({2, 3}, {-1, -2, 0, -2, 0, 0})),
            (Floats{7, 5, 3, 4, 2, 3}));
}

TEST(GatherTuples, knows_the_values_of_onnx) {
  EXPECT_EQ(run_floats(std::make_shared<GatherTuples>(0), float_tensor({2, 2}, {0, 1, 2, 3}),
                       integer_tensor({2, 2}, {0, 0, 1, 1})),
            (Floats{0, 3}));
  const Tensor cube = float_tensor({2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_EQ(run_floats(std::make_shared<GatherTuples>(0), cube, integer_tensor({2, 1, 2}, {0, 1, 1, 0})),
            (Floats{2, 3, 4, 5}));
  EXPECT_EQ(run_floats(std::make_shared<GatherTuples>(1), cube, integer_tensor({2, 1}, {1, 0})),
            (Floats{2, 3, 4, 5}));
}

TEST(Gather, takes_the_nearest_element_on_the_device_and_refuses_on_the_host) {
  const Tensor data = float_tensor({3}, {1, 2, 3});
  const Tensor indices = integer_tensor({4}, {5, -9, std::int64_t{1} << 60, -(std::int64_t{1} << 60)});
  EXPECT_EQ(run_floats(std::make_shared<Gather>(0), data, indices), (Floats{3, 1, 3, 1}));
  const std::vector<Tensor> inputs{data, indices};
  EXPECT_THROW((void)Gather(0).evaluate(inputs), Error);
}

TEST(Gather, matches_the_host) {
  const Tensor data = random_tensor(DType::float32, {4, 5, 6, 7});
  for (const int axis : {0, 1, 2, 3}) {
    for (const Layout& layout : {Layout::row_major(4), Layout::channels_last(4)}) {
      for (const DType dtype : {DType::int32, DType::int64}) {
        const Tensor indices = random_tensor(dtype, {3, 2}, -3.9, 3.9);
        expect_matches_host({std::make_shared<Gather>(axis), {data, indices}, {layout}, Precision::float32}, 0);
        expect_matches_host({std::make_shared<Gather>(axis), {data, indices}, {layout}, Precision::float16}, 0);
      }
      const Tensor same = random_tensor(DType::int64, {4, 5, 6, 7}, -3.9, 3.9);
      expect_matches_host(
          {std::make_shared<GatherElements>(axis), {data, same}, {layout, layout}, Precision::float32}, 0);
    }
  }
  for (const int length : {1, 2, 3}) {
    const Tensor tuples = random_tensor(DType::int64, {4, 3, length}, -3.9, 3.9);
    for (const int batch : {0, 1}) {
      expect_matches_host(
          {std::make_shared<GatherTuples>(batch), {data, tuples}, {Layout::channels_last(4)}, Precision::float32}, 0);
    }
  }
}

TEST(Gather, takes_every_dtype_and_no_elements) {
  const Tensor indices = integer_tensor({3}, {1, -1, 0});
  for (const DType dtype : {DType::int8, DType::uint8, DType::int16, DType::uint16, DType::int32, DType::uint32,
                            DType::int64, DType::uint64, DType::boolean, DType::float16, DType::float64}) {
    const Tensor data = random_tensor(dtype, {3, 5}, is_signed_integer(dtype) ? -120 : 0, 120);
    expect_matches_host({std::make_shared<Gather>(0), {data, indices}, {}, Precision::float32}, 0);
  }
  const Tensor data = random_tensor(DType::float32, {3, 5});
  expect_matches_host({std::make_shared<Gather>(0), {data, integer_tensor({0}, {})}, {}, Precision::float32}, 0);
  expect_matches_host({std::make_shared<GatherTuples>(0), {data, integer_tensor({2, 0}, {})}, {}, Precision::float32},
                      0);
}

TEST(Gather, runs_its_epilogue) {
  PointwiseChain chain;
  chain.input_count = 2;
  chain.add(PointwiseFunction::add, DType::float32, {0, 1, 0});
  const auto op = std::make_shared<Gather>(0, chain);
  expect_matches_host({op,
                       {random_tensor(DType::float32, {10, 8}), random_tensor(DType::int64, {2, 5}, -9, 9),
                        random_tensor(DType::float32, {5, 8})},
                       {},
                       Precision::float32},
                      1e-6);
}

TEST(Gather, keeps_expressions_of_sizes) {
  Assumptions assumptions({{"n", 4}, {"h", 9}});
  const Fact shape = Fact::of_elements(DType::int64, {3}, {Dim::symbol("n"), 3, Dim::symbol("h")});
  const std::vector<Fact> inputs{shape, Fact::of_constant(integer_tensor({2}, {-1, 0}))};
  const std::vector<Fact> facts = Gather(0).infer(inputs, assumptions);
  ASSERT_TRUE(facts[0].elements);
  EXPECT_EQ(*facts[0].elements, (std::vector<Dim>{Dim::symbol("h"), Dim::symbol("n")}));
  EXPECT_TRUE(assumptions.guards().empty());
}

TEST(Gather, refuses_what_does_not_fit) {
  const auto infer = [](const Operator& op, std::vector<std::int64_t> data, std::vector<std::int64_t> indices) {
    Assumptions assumptions({});
    const std::vector<Fact> facts{Fact::of(DType::float32, to_shape(data)),
                                  Fact::of(DType::int64, to_shape(indices))};
    return op.infer(facts, assumptions);
  };
  EXPECT_THROW(infer(Gather(2), {3, 4}, {1}), Error);
  EXPECT_THROW(infer(Gather(0), {}, {1}), Error);
  EXPECT_THROW(infer(GatherElements(0), {3, 4}, {3}), Error);
  EXPECT_THROW(infer(GatherElements(0), {3, 4}, {3, 5}), Error);
  EXPECT_THROW(infer(GatherTuples(0), {3, 4}, {2, 3}), Error);
  EXPECT_THROW(infer(GatherTuples(1), {3, 4}, {2, 1}), Error);
  EXPECT_THROW(infer(GatherTuples(0), {3, 4}, {}), Error);
}

OperatorPointer scatter(std::shared_ptr<const GatherOperator> places, PointwiseFunction function) {
  return std::make_shared<Scatter>(std::move(places), function);
}

// Examples of the ONNX operator documents.
TEST(Scatter, knows_the_values_of_onnx) {
  const auto elements = std::make_shared<GatherElements>(1);
  const Tensor data = float_tensor({1, 5}, {1, 2, 3, 4, 5});
  const auto run = [](OperatorPointer op, const Tensor& from, const Tensor& indices, const Tensor& updates) {
    return floats_of(run_node({std::move(op), {from, indices, updates}, {}, Precision::float32})[0]);
  };
  EXPECT_EQ(run(scatter(elements, PointwiseFunction::identity), data, integer_tensor({1, 2}, {1, 3}),
                float_tensor({1, 2}, {1.1F, 2.1F})),
            (Floats{1, 1.1F, 3, 2.1F, 5}));
  EXPECT_EQ(run(scatter(elements, PointwiseFunction::add), data, integer_tensor({1, 2}, {1, 1}),
                float_tensor({1, 2}, {1.1F, 2.1F})),
            (Floats{1, 2 + 1.1F + 2.1F, 3, 4, 5}));
  EXPECT_EQ(run(scatter(elements, PointwiseFunction::maximum), data, integer_tensor({1, 2}, {1, 1}),
                float_tensor({1, 2}, {1.1F, 2.1F})),
            (Floats{1, 2.1F, 3, 4, 5}));
  EXPECT_EQ(run(scatter(std::make_shared<GatherTuples>(0), PointwiseFunction::identity),
                float_tensor({8}, {1, 2, 3, 4, 5, 6, 7, 8}), integer_tensor({4, 1}, {4, 3, 1, 7}),
                float_tensor({4}, {9, 10, 11, 12})),
            (Floats{1, 11, 3, 10, 9, 6, 7, 12}));
}

TEST(Scatter, lets_the_last_update_win) {
  const auto op = scatter(std::make_shared<GatherTuples>(0), PointwiseFunction::identity);
  const std::vector<Tensor> inputs{float_tensor({2}, {0, 0}), integer_tensor({2, 3, 1}, {0, 1, 0, 0, 0, 1}),
                                   float_tensor({2, 3}, {1, 2, 3, 4, 5, 6})};
  EXPECT_EQ(floats_of(run_node({op, inputs, {}, Precision::float32})[0]), (Floats{5, 6}));
}

TEST(Scatter, matches_the_host) {
  using enum PointwiseFunction;
  const Tensor data = random_tensor(DType::float32, {4, 5, 6}, 0, 9);
  for (const PointwiseFunction function : {identity, add}) {
    for (const int axis : {0, 1, 2}) {
      expect_matches_host(
          {scatter(std::make_shared<GatherElements>(axis), function),
           {data, random_tensor(DType::int64, {3, 5, 2}, -3.9, 3.9), random_tensor(DType::float32, {3, 5, 2}, 0, 9)},
           {Layout::channels_last(3)},
           Precision::float32},
          1e-6);
    }
  }
}

TEST(Scatter, takes_every_dtype) {
  using enum PointwiseFunction;
  for (const DType dtype : {DType::float32, DType::int32, DType::int64, DType::uint8, DType::float64}) {
    for (const PointwiseFunction function : {identity, add, multiply, minimum, maximum}) {
      expect_matches_host({scatter(std::make_shared<GatherTuples>(0), function),
                           {random_tensor(dtype, {4, 5, 6}, 0, 9), random_tensor(DType::int32, {7, 2}, -3.9, 3.9),
                            random_tensor(dtype, {7, 6}, 0, 9)},
                           {},
                           Precision::float32},
                          1e-6);
    }
  }
}

}  // namespace
}  // namespace lapilli::testing
