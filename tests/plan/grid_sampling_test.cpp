#include "ops/grid_sampling.h"

#include <gtest/gtest.h>

#include "ops/determinant.h"
#include "ops/region_pooling.h"
#include "support/node_runner.h"

namespace lapilli::testing {
namespace {

using Floats = std::vector<float>;

OperatorPointer grid_sampling(SamplingKernel kernel, GridPadding padding, bool align_corners) {
  GridAttributes attributes;
  attributes.kernel = kernel;
  attributes.padding = padding;
  attributes.align_corners = align_corners;
  return std::make_shared<GridSampling>(std::move(attributes));
}

// An example of the ONNX operator document (gridsample).
TEST(GridSampling, knows_the_values_of_onnx) {
  Floats values(16);
  for (std::size_t i = 0; i < 16; ++i) values[i] = static_cast<float>(i);
  const Tensor data = float_tensor({1, 1, 4, 4}, values);
  Floats places;
  const Floats steps{-1.0F, -0.6F, -0.2F, 0.2F, 0.6F, 1.0F};
  for (const float y : steps) {
    for (const float x : steps) places.insert(places.end(), {x, y});
  }
  const Tensor grid = float_tensor({1, 6, 6, 2}, places);
  const Floats results = floats_of(run_node(
      {grid_sampling(SamplingKernel::linear, GridPadding::zeros, false), {data, grid}, {}, Precision::float32})[0]);
  const Floats expected{0.0000F,  0.1500F,  0.5500F, 0.9500F, 1.3500F,  0.7500F, 0.6000F, 1.5000F,  2.3000F,
                        3.1000F,  3.9000F,  2.1000F, 2.2000F, 4.7000F,  5.5000F, 6.3000F, 7.1000F,  3.7000F,
                        3.8000F,  7.9000F,  8.7000F, 9.5000F, 10.3000F, 5.3000F, 5.4000F, 11.1000F, 11.9000F,
                        12.7000F, 13.5000F, 6.9000F, 3.0000F, 6.1500F,  6.5500F, 6.9500F, 7.3500F,  3.7500F};
  ASSERT_EQ(results.size(), expected.size());
  for (std::size_t i = 0; i < results.size(); ++i) EXPECT_NEAR(results[i], expected[i], 1e-5) << i;
}

TEST(GridSampling, matches_the_host) {
  using enum SamplingKernel;
  const Tensor image = random_tensor(DType::float32, {2, 3, 5, 6}),
               grid = random_tensor(DType::float32, {2, 4, 7, 2});
  for (const SamplingKernel kernel : {nearest, linear, cubic}) {
    for (const GridPadding padding : {GridPadding::zeros, GridPadding::border, GridPadding::reflection}) {
      const bool align_corners = padding != GridPadding::zeros;
      expect_matches_host({grid_sampling(kernel, padding, align_corners),
                           {image, grid},
                           {Layout::channels_last(4)},
                           Precision::float32},
                          1e-5);
    }
  }
  for (const GridPadding padding : {GridPadding::zeros, GridPadding::border, GridPadding::reflection}) {
    expect_matches_host({grid_sampling(linear, padding, false), {image, grid}, {}, Precision::float16}, 1e-2);
  }
}

TEST(GridSampling, has_one_to_three_axes_and_other_types) {
  using enum SamplingKernel;
  expect_matches_host({grid_sampling(linear, GridPadding::zeros, false),
                       {random_tensor(DType::float32, {1, 2, 9}), random_tensor(DType::float32, {1, 5, 1})},
                       {},
                       Precision::float32},
                      1e-5);
  expect_matches_host(
      {grid_sampling(linear, GridPadding::reflection, true),
       {random_tensor(DType::float64, {1, 2, 3, 4, 5}), random_tensor(DType::float64, {1, 2, 3, 2, 3})},
       {},
       Precision::float32},
      1e-13);
  for (const DType dtype : {DType::boolean, DType::uint8, DType::int16, DType::int32, DType::uint32, DType::int64}) {
    expect_matches_host(
        {grid_sampling(cubic, GridPadding::zeros, false),
         {random_tensor(dtype, {1, 2, 3, 4}, 0, 100), random_tensor(DType::float32, {1, 5, 3, 2}, -1.2, 1.2)},
         {},
         Precision::float32},
        0);
  }
  expect_matches_host(
      {grid_sampling(nearest, GridPadding::border, false),
       {random_tensor(DType::int64, {1, 2, 3, 4}, -100, 100), random_tensor(DType::float32, {1, 5, 3, 2})},
       {},
       Precision::float32},
      0);
}

TEST(GridSampling, counts_elements_from_a_base) {
  GridAttributes attributes;
  attributes.in_elements = true;
  attributes.last_axis_first = false;
  attributes.base = {{Dim(-1), {2}}};
  const auto op = std::make_shared<GridSampling>(attributes);
  const Tensor data = float_tensor({1, 1, 4}, {10, 20, 30, 40}), grid = float_tensor({1, 3, 1}, {0, 0.5F, -0.25F});
  // At -1, 1.5 and 2.75.
  EXPECT_EQ(floats_of(run_node({op, {data, grid}, {}, Precision::float32})[0]), (Floats{0, 25, 37.5}));
  expect_matches_host({op, {data, grid}, {}, Precision::float32}, 1e-6);
}

TEST(RegionPooling, takes_the_largest_element_of_each_bin) {
  RegionPoolingAttributes attributes;
  attributes.kind = RegionPoolingKind::maximum;
  attributes.height = attributes.width = 2;
  Floats values(32);
  for (std::size_t i = 0; i < 32; ++i) values[i] = static_cast<float>(i);
  const Tensor data = float_tensor({2, 1, 4, 4}, values), images = integer_tensor({2}, {0, 1});
  const Tensor regions = float_tensor({2, 4}, {0, 0, 3, 3, 1, 2, 2, 3});
  EXPECT_EQ(floats_of(run_node(
                {std::make_shared<RegionPooling>(attributes), {data, regions, images}, {}, Precision::float32})[0]),
            (Floats{5, 7, 13, 15, 25, 26, 29, 30}));
}

TEST(RegionPooling, means_of_a_plane_are_its_values_at_the_centres) {
  RegionPoolingAttributes attributes;
  attributes.height = 1;
  attributes.width = 2;
  attributes.half_pixel = true;
  Floats values(64);
  for (std::size_t i = 0; i < 64; ++i) {
    const std::size_t row = i / 8, column = i % 8;
    values[i] = static_cast<float>(10 * row + column);
  }
  const Tensor data = float_tensor({1, 1, 8, 8}, values), images = integer_tensor({1}, {0});
  for (const std::int64_t samples : {0, 1, 3}) {
    attributes.samples = samples;
    const Floats results = floats_of(run_node({std::make_shared<RegionPooling>(attributes),
                                               {data, float_tensor({1, 4}, {1, 2, 6, 5}), images},
                                               {Layout::channels_last(4)},
                                               Precision::float32})[0]);
    // Bins from 1 to 3.5 and from 3.5 to 6 across, from 2 to 5 down; element i covers i to i + 1.
    ASSERT_EQ(results.size(), 2U);
    EXPECT_NEAR(results[0], 2.25 - 0.5 + 10 * (3.5 - 0.5), 1e-4);
    EXPECT_NEAR(results[1], 4.75 - 0.5 + 10 * (3.5 - 0.5), 1e-4);
  }
}

TEST(Determinant, is_what_it_is) {
  const auto op = std::make_shared<Determinant>();
  const Tensor matrices = float_tensor({2, 2, 2}, {0, 1, 2, 3, 1, 2, 2, 4});
  EXPECT_EQ(floats_of(run_node({op, {matrices}, {}, Precision::float32})[0]), (Floats{-2, 0}));
  for (const std::int64_t size : {0, 1, 3, 17}) {
    expect_matches_host({op, {random_tensor(DType::float32, {3, size, size})}, {}, Precision::float32}, 1e-4);
  }
  expect_matches_host({op, {random_tensor(DType::float64, {2, 5, 5})}, {}, Precision::float32}, 1e-10);
}

}  // namespace
}  // namespace lapilli::testing
