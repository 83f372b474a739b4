// Sums are made in an order that the plan fixes, so the same input gives the same bits, in every run of every
// context.
#include <gtest/gtest.h>

#include <algorithm>

#include "api/test_models.h"
#include "lapilli/lapilli.h"

namespace lapilli {
namespace {

using testing::found_model;
using testing::network_model;
using testing::open_device;
using testing::patterned;

// 100 runs: of models that are planned anew, in contexts that record anew, and again and again in each.
void expect_same_bits(const std::string& path, const Tensor& input, const ModelOptions& options) {
  const Device device = open_device();
  Tensor first;
  std::size_t same = 0;
  for (int loaded = 0; loaded < 2; ++loaded) {
    const Model model = Model::load(path, device, options);
    for (int recorded = 0; recorded < 2; ++recorded) {
      Context context(model);
      for (int run = 0; run < 25; ++run) {
        const Tensor result = context.run({&input, 1})[0];
        if (!first.defined()) first = result;
        same += std::ranges::equal(result.bytes(), first.bytes()) ? 1 : 0;
      }
    }
  }
  EXPECT_EQ(same, 100U);
  EXPECT_GT(std::ranges::max(first.elements<float>()), 0.0F);
}

TEST(Determinism, of_a_network_in_float32) { expect_same_bits(network_model, patterned({16, 3, 8, 8}, 1), {}); }

TEST(Determinism, of_a_network_in_float16) {
  ModelOptions options;
  options.precision = Precision::float16;
  expect_same_bits(network_model, patterned({16, 3, 8, 8}, 1), options);
}

TEST(Determinism, of_a_model_in_parts) { expect_same_bits(found_model, patterned({1000}, 1), {}); }

}  // namespace
}  // namespace lapilli
