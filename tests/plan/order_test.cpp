// Ranges, running sums, sorts and searches.
#include <gtest/gtest.h>

#include "ops/range.h"
#include "ops/scan.h"
#include "ops/sort.h"
#include "support/node_runner.h"

namespace lapilli::testing {
namespace {

using Integers = std::vector<std::int64_t>;

constexpr std::array numbers{DType::int8,  DType::uint8,  DType::int16,   DType::int32,   DType::uint32,
                             DType::int64, DType::uint64, DType::float16, DType::float32, DType::float64};

Integers integers(const Tensor& tensor) { return integers_of(evaluate_chain({}, {&tensor, 1}, DType::int64)); }

TEST(Range, counts_on_the_device) {
  const auto run = [](const Tensor& start, const Tensor& step, Dim count) {
    return run_node({std::make_shared<Range>(std::move(count)), {start, step}, {}, Precision::float32})[0];
  };
  EXPECT_EQ(integers(run(integer_tensor({}, {10}), integer_tensor({}, {-3}), 4)), (Integers{10, 7, 4, 1}));
  EXPECT_EQ(floats_of(run(float_tensor({}, {1}), float_tensor({}, {0.5F}), 3)), (std::vector<float>{1, 1.5F, 2}));
  EXPECT_EQ(run(float_tensor({}, {1}), float_tensor({}, {0.5F}), 0).element_count(), 0);
  for (const DType dtype : numbers) {
    expect_matches_host({std::make_shared<Range>(100),
                         {random_tensor(dtype, {}, 0, 9), random_tensor(dtype, {}, 1, 3)},
                         {},
                         Precision::float32},
                        1e-6);
  }
}

OperatorPointer scan(int axis, bool exclusive = false, bool reverse = false,
                     ReductionFunction function = ReductionFunction::sum) {
  return std::make_shared<Scan>(function, axis, exclusive, reverse);
}

// Examples of the ONNX operator documents.
TEST(Scan, knows_the_values_of_onnx) {
  const Tensor x = integer_tensor({3}, {1, 2, 3});
  const auto run = [&](OperatorPointer op) {
    return integers_of(run_node({std::move(op), {x}, {}, Precision::float32})[0]);
  };
  EXPECT_EQ(run(scan(0)), (Integers{1, 3, 6}));
  EXPECT_EQ(run(scan(0, true)), (Integers{0, 1, 3}));
  EXPECT_EQ(run(scan(0, false, true)), (Integers{6, 5, 3}));
  EXPECT_EQ(run(scan(0, true, true)), (Integers{5, 3, 0}));
  EXPECT_EQ(run(scan(0, true, false, ReductionFunction::product)), (Integers{1, 1, 2}));
}

TEST(Scan, matches_the_host_along_every_axis) {
  const Tensor x = random_tensor(DType::float32, {3, 37, 5, 70});
  for (const int axis : {0, 1, 2, 3}) {
    for (const Layout& layout : {Layout::row_major(4), Layout::channels_last(4)}) {
      expect_matches_host({scan(axis, axis == 1, axis == 3), {x}, {layout}, Precision::float32}, 1e-6);
    }
  }
  expect_matches_host({scan(1), {x}, {}, Precision::float16}, 1e-2);
}

TEST(Scan, cuts_long_rows_into_parts) {
  for (const std::int64_t length : {1, 255, 300'001}) {
    for (const bool reverse : {false, true}) {
      expect_matches_host(
          {scan(0, reverse, reverse), {random_tensor(DType::int32, {length}, -9, 9)}, {}, Precision::float32}, 0);
    }
  }
  expect_matches_host({scan(1), {random_tensor(DType::float32, {2, 100'003})}, {}, Precision::float32}, 1e-5);
}

TEST(Scan, takes_every_dtype_and_no_elements) {
  for (const DType dtype : numbers) {
    const double most = dtype == DType::int8 || dtype == DType::uint8 ? 3 : 100;
    expect_matches_host({scan(1), {random_tensor(dtype, {2, 40}, 0, most)}, {}, Precision::float32}, 1e-3);
  }
  expect_matches_host({scan(0), {random_tensor(DType::float32, {0, 3})}, {}, Precision::float32}, 0);
  expect_matches_host({scan(1), {random_tensor(DType::float32, {0, 3})}, {}, Precision::float32}, 0);
}

OperatorPointer sort(int axis, Dim count, bool largest = true, SortKey key = SortKey::element) {
  return std::make_shared<Sort>(key, axis, largest, std::move(count));
}

Integers sorted_places(OperatorPointer op, const Tensor& x) {
  return integers(run_node({std::move(op), {x}, {}, Precision::float32})[0]);
}

TEST(Sort, keeps_the_order_of_equals) {
  const Tensor x = float_tensor({6}, {1, 3, 3, 0, 1, 3});
  EXPECT_EQ(sorted_places(sort(0, 6), x), (Integers{1, 2, 5, 0, 4, 3}));
  EXPECT_EQ(sorted_places(sort(0, 4, false), x), (Integers{3, 0, 4, 1}));
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  const Tensor special = float_tensor({5}, {0, nan, infinity, -infinity, -0.0F});
  EXPECT_EQ(sorted_places(sort(0, 5), special), (Integers{1, 2, 0, 4, 3}));
  EXPECT_EQ(sorted_places(sort(0, 5, false), special), (Integers{3, 0, 4, 2, 1}));
}

TEST(Sort, orders_slices_by_all_their_elements) {
  const Tensor x = float_tensor({4, 2}, {1, 5, 0, 9, 1, 4, 0, 9});
  EXPECT_EQ(sorted_places(sort(0, 4, false, SortKey::slice), x), (Integers{1, 3, 2, 0}));
  EXPECT_EQ(sorted_places(sort(1, 2, true, SortKey::slice), x), (Integers{1, 0}));
  const Tensor cube = random_tensor(DType::int32, {3, 90, 2}, 0, 3);
  expect_matches_host({sort(1, 90, false, SortKey::slice), {cube}, {Layout::channels_last(3)}, Precision::float32},
                      0);
  expect_matches_host({sort(0, 3, true, SortKey::slice), {cube}, {}, Precision::float32}, 0);
}

TEST(Sort, matches_the_host) {
  for (const std::int64_t length : {1, 32, 33, 1000}) {
    for (const std::int64_t wanted : {length / 4, length}) {
      const Tensor x = random_tensor(DType::int32, {3, length}, 0, 50);
      expect_matches_host({sort(1, wanted), {x}, {}, Precision::float32}, 0);
    }
  }
  const Tensor x = random_tensor(DType::float32, {4, 5, 6, 70});
  for (const int axis : {0, 1, 2, 3}) {
    const Layout layout = axis % 2 == 0 ? Layout::row_major(4) : Layout::channels_last(4);
    expect_matches_host({sort(axis, 3), {x}, {layout}, Precision::float32}, 0);
  }
  expect_matches_host({sort(1, 3), {x}, {}, Precision::float16}, 0);
}

TEST(Sort, takes_every_dtype_and_no_elements) {
  for (const DType dtype : numbers) {
    const Tensor x = random_tensor(dtype, {2, 50}, is_signed_integer(dtype) ? -100 : 0, 100);
    expect_matches_host({sort(1, 50), {x}, {}, Precision::float32}, 0);
  }
  const std::array high{std::uint64_t{1} << 63U, std::uint64_t{5}};
  EXPECT_EQ(sorted_places(sort(0, 2), Tensor::of<std::uint64_t>(DType::uint64, {2}, high)), (Integers{0, 1}));
  expect_matches_host({sort(0, 2), {random_tensor(DType::boolean, {2, 3}, 0, 2)}, {}, Precision::float32}, 0);
  expect_matches_host({sort(0, 0), {random_tensor(DType::float32, {0, 3})}, {}, Precision::float32}, 0);
  expect_matches_host({sort(0, 0), {random_tensor(DType::float32, {5, 3})}, {}, Precision::float32}, 0);
}

TEST(Search, finds_places_as_numpy_does) {
  const Tensor rows = integer_tensor({5}, {1, 2, 2, 4, 7}), values = integer_tensor({4}, {2, 0, 8, 3});
  const auto run = [&](bool equals) {
    return integers(run_node({std::make_shared<Search>(equals), {rows, values}, {}, Precision::float32})[0]);
  };
  EXPECT_EQ(run(false), (Integers{1, 0, 5, 3}));
  EXPECT_EQ(run(true), (Integers{3, 0, 5, 3}));
}

TEST(Search, matches_the_host) {
  for (const DType dtype : numbers) {
    Tensor rows = random_tensor(dtype, {3, 100}, 0, 1);
    rows = evaluate_chain({}, std::vector{Scan(ReductionFunction::sum, 1).evaluate(std::vector{rows})[0]}, dtype);
    expect_matches_host(
        {std::make_shared<Search>(true), {rows, random_tensor(dtype, {3, 70}, 0, 50)}, {}, Precision::float32}, 0);
  }
  expect_matches_host({std::make_shared<Search>(false),
                       {random_tensor(DType::float32, {2, 0}), random_tensor(DType::float32, {2, 4})},
                       {},
                       Precision::float32},
                      0);
}

}  // namespace
}  // namespace lapilli::testing
