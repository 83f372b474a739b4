#include "ops/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "support/node_runner.h"

namespace lapilli::testing {
namespace {

using Words = std::array<std::uint32_t, 4>;

// The known answers that the authors publish with the generator (Random123, kat_vectors).
TEST(Random, knows_the_answers_of_philox) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr std::uint32_t all = 0xffffffff;
  EXPECT_EQ(philox({all, all, all, all}, {all, all}), (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

RandomAttributes attributes(Distribution distribution, DType dtype, Shape shape) {
  return {distribution, dtype, std::move(shape), -3, 5, 0x123456789ULL, 7};
}

TEST(Random, matches_the_host) {
  for (const DType dtype : {DType::float32, DType::float16, DType::float64}) {
    for (const Distribution distribution : {Distribution::uniform, Distribution::normal}) {
      const auto op = std::make_shared<Random>(attributes(distribution, dtype, {3, 7, 50}));
      expect_matches_host({op, {}, {}, Precision::float32}, dtype == DType::float16 ? 1e-3 : 1e-5);
    }
  }
  const auto nothing = std::make_shared<Random>(attributes(Distribution::normal, DType::float32, {3, 0}));
  expect_matches_host({nothing, {}, {}, Precision::float32}, 0);
}

std::vector<float> drawn(RandomAttributes wanted) {
  return floats_of(run_node({std::make_shared<Random>(std::move(wanted)), {}, {}, Precision::float32})[0]);
}

TEST(Random, has_the_moments_of_its_distribution) {
  constexpr std::int64_t count = 100'000;
  const auto moments = [](const std::vector<float>& values) {
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
    double variance = 0;
    for (const float value : values) variance += (value - mean) * (value - mean) / count;
    return std::pair(mean, variance);
  };
  const std::vector<float> uniform = drawn(attributes(Distribution::uniform, DType::float32, {count}));
  EXPECT_GE(*std::ranges::min_element(uniform), -3.0F);
  EXPECT_LE(*std::ranges::max_element(uniform), 5.0F);
  EXPECT_NEAR(moments(uniform).first, 1, 0.03);
  EXPECT_NEAR(moments(uniform).second, 64.0 / 12, 0.1);
  const std::vector<float> normal = drawn(attributes(Distribution::normal, DType::float32, {count}));
  EXPECT_NEAR(moments(normal).first, -3, 0.08);
  EXPECT_NEAR(moments(normal).second, 25, 0.5);
}

TEST(Random, tells_seeds_and_streams_apart) {
  RandomAttributes wanted = attributes(Distribution::uniform, DType::float32, {8});
  const std::vector<float> first = drawn(wanted);
  EXPECT_EQ(drawn(wanted), first);
  wanted.stream = 8;
  EXPECT_NE(drawn(wanted), first);
  wanted.stream = 7;
  wanted.seed = 0x223456789ULL;
  EXPECT_NE(drawn(wanted), first);
}

}  // namespace
}  // namespace lapilli::testing
