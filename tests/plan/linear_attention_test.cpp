#include "ops/linear_attention.h"

#include <gtest/gtest.h>

#include <cmath>

#include "lapilli/error.h"
#include "support/node_runner.h"

namespace lapilli::testing {
namespace {

struct Sizes {
  std::int64_t batch = 2, steps = 5, query_heads = 4, heads = 2, keys = 6, values = 5;
};

struct Gates {
  bool state = true;
  std::int64_t decay = 0, beta = 0;  // elements of a step; 0: left out
};

NodeCase case_of(const Sizes& sizes, const Gates& gates, DType dtype = DType::float32) {
  const auto row = [&](std::int64_t width, double low, double high, std::uint32_t seed) {
    return width == 0 ? Tensor() : random_tensor(dtype, {sizes.batch, sizes.steps, width}, low, high, seed);
  };
  const std::vector<std::int64_t> state{sizes.batch, sizes.heads, sizes.keys, sizes.values};
  NodeCase node;
  node.op = std::make_shared<LinearAttention>(
      LinearAttentionAttributes{.query_heads = sizes.query_heads, .key_heads = sizes.heads, .scale = 0.5F});
  node.inputs = {row(sizes.query_heads * sizes.keys, -1, 1, 2),
                 row(sizes.heads * sizes.keys, -1, 1, 3),
                 row(sizes.heads * sizes.values, -1, 1, 4),
                 gates.state ? random_tensor(dtype, state, -1, 1, 5) : Tensor(),
                 row(gates.decay, -1, 0, 6),
                 row(gates.beta, 0, 0.5, 7)};
  return node;
}

// Two steps of one key and one value: S1 = 2 * 3, S2 = exp(-1) * S1 + 4 * 0.5 * (5 - exp(-1) * S1 * 4).
TEST(LinearAttention, knows_a_state_computed_by_hand) {
  NodeCase node;
  node.op =
      std::make_shared<LinearAttention>(LinearAttentionAttributes{.query_heads = 1, .key_heads = 1, .scale = 2});
  node.inputs = {float_tensor({1, 2, 1}, {1, 10}), float_tensor({1, 2, 1}, {2, 4}),
                 float_tensor({1, 2, 1}, {3, 5}),  Tensor(),
                 float_tensor({1, 2, 1}, {0, -1}), float_tensor({1, 2, 1}, {1, 0.5F})};
  const std::vector<Tensor> results = run_node(node);
  const double kept = std::exp(-1.0) * 6, last = kept + 4 * 0.5 * (5 - kept * 4);
  EXPECT_NEAR(floats_of(results[0])[0], 12, 1e-5);
  EXPECT_NEAR(floats_of(results[0])[1], 2 * 10 * last, 1e-4);
  EXPECT_NEAR(floats_of(results[1])[0], last, 1e-5);
}

TEST(LinearAttention, matches_the_host_by_every_rule) {
  for (const std::int64_t decay : {0, 2, 12}) {
    for (const std::int64_t beta : {0, 1, 2}) expect_matches_host(case_of({}, {true, decay, beta}), 1e-5);
  }
  expect_matches_host(case_of({}, {false, 2, 2}), 1e-5);
}

TEST(LinearAttention, matches_the_host_in_other_types) {
  expect_matches_host(case_of({}, {true, 2, 2}, DType::float16), 2e-3);
  expect_matches_host(case_of({}, {true, 12, 1}, DType::bfloat16), 1e-2);
  NodeCase node = case_of({}, {true, 12, 2});
  node.precision = Precision::float16;
  expect_matches_host(std::move(node), 2e-3);
}

// More columns than a workgroup takes; keys that lanes share, in shared memory and where it is too small.
TEST(LinearAttention, matches_the_host_where_heads_are_large) {
  expect_matches_host(case_of({.keys = 65, .values = 150}, {true, 2, 2}), 1e-4);
  expect_matches_host(case_of({.steps = 3, .keys = 601, .values = 7}, {true, 1202, 2}), 1e-4);
  expect_matches_host(
      case_of({.batch = 1, .steps = 2, .query_heads = 1, .heads = 1, .keys = 2100, .values = 9}, {true, 1, 0}), 1e-4);
}

TEST(LinearAttention, matches_the_host_without_steps) {
  expect_matches_host(case_of({.steps = 0}, {true, 2, 2}), 1e-5);
}

TEST(LinearAttention, refuses_what_does_not_fit) {
  const LinearAttention op({.query_heads = 4, .key_heads = 2, .scale = 1});
  const NodeCase node = case_of({}, {true, 2, 2});
  std::vector<Fact> facts;
  for (const Tensor& input : node.inputs) facts.push_back(Fact::of(input.dtype(), to_shape(input.shape())));
  Assumptions none({});
  EXPECT_NO_THROW(std::ignore = op.infer(facts, none));
  for (std::size_t i = 0; i < facts.size(); ++i) {
    std::vector<Fact> wrong = facts;
    wrong[i].shape.back() = wrong[i].shape.back() + Dim(1);
    EXPECT_THROW(std::ignore = op.infer(wrong, none), Error) << i;
  }
  EXPECT_THROW(std::ignore = LinearAttention({.query_heads = 3, .key_heads = 2, .scale = 1}).infer(facts, none),
               Error);
}

}  // namespace
}  // namespace lapilli::testing
