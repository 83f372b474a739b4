#include "ops/recurrent.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/node_runner.h"

namespace lapilli::testing {
namespace {

constexpr ActivationCall sigmoid{RecurrentActivation::sigmoid, 0, 0};
constexpr ActivationCall hyperbolic{RecurrentActivation::tanh, 0, 0};

std::vector<ActivationCall> default_calls(RecurrentKind kind, std::size_t directions) {
  std::vector<ActivationCall> calls;
  for (std::size_t i = 0; i < directions; ++i) {
    if (kind != RecurrentKind::simple) calls.push_back(sigmoid);
    calls.push_back(hyperbolic);
    if (kind == RecurrentKind::long_short_term) calls.push_back(hyperbolic);
  }
  return calls;
}

RecurrentAttributes attributes_of(RecurrentKind kind, std::vector<bool> backwards = {false}) {
  RecurrentAttributes attributes;
  attributes.kind = kind;
  attributes.activations = default_calls(kind, backwards.size());
  attributes.backwards = std::move(backwards);
  return attributes;
}

struct Sizes {
  std::int64_t steps = 4, batch = 3, hidden = 5;
};

// All inputs, those that may be left out included.
NodeCase full_case(RecurrentAttributes attributes, const Sizes& sizes, DType dtype = DType::float32) {
  const auto ways = static_cast<std::int64_t>(attributes.backwards.size());
  const std::int64_t rows = gate_count(attributes.kind) * sizes.hidden;
  const bool has_cell = attributes.kind == RecurrentKind::long_short_term;
  NodeCase node;
  node.op = std::make_shared<Recurrent>(std::move(attributes));
  const Tensor state = random_tensor(dtype, {ways, sizes.batch, sizes.hidden}, -1, 1, 5);
  std::vector<std::int32_t> lengths;
  for (std::int64_t i = 0; i < sizes.batch; ++i) lengths.push_back(static_cast<std::int32_t>(sizes.steps - i));
  node.inputs = {random_tensor(dtype, {sizes.steps, sizes.batch, ways * rows}, -1, 1, 2),
                 random_tensor(dtype, {ways, rows, sizes.hidden}, -1, 1, 3),
                 random_tensor(dtype, {ways, rows}, -1, 1, 4),
                 Tensor::of<std::int32_t>(DType::int32, {sizes.batch}, lengths),
                 state,
                 has_cell ? random_tensor(dtype, {ways, sizes.batch, sizes.hidden}, -1, 1, 6) : Tensor(),
                 has_cell ? random_tensor(dtype, {ways, 3 * sizes.hidden}, -1, 1, 7) : Tensor()};
  return node;
}

TEST(Recurrent, knows_a_cell_computed_by_hand) {
  // h1 = tanh(0.5), h2 = tanh(0.25 + 2 * h1)
  NodeCase node;
  node.op = std::make_shared<Recurrent>(attributes_of(RecurrentKind::simple));
  node.inputs = {float_tensor({2, 1, 1}, {0.5F, 0.25F}), float_tensor({1, 1, 1}, {2}), {}, {}, {}, {}, {}};
  const std::vector<Tensor> results = run_node(node);
  EXPECT_NEAR(floats_of(results[0])[0], 0.46211716, 1e-6);
  EXPECT_NEAR(floats_of(results[0])[1], 0.82562486, 1e-6);
  EXPECT_EQ(floats_of(results[1])[0], floats_of(results[0])[1]);
}

TEST(Recurrent, past_the_end_of_a_sequence_results_are_zero) {
  const NodeCase node = full_case(attributes_of(RecurrentKind::long_short_term, {false, true}), {});
  const std::vector<float> y = floats_of(run_node(node)[0]);
  // The second sequence has 3 of 4 steps, the third 2.
  const auto element = [&](std::size_t step, std::size_t direction, std::size_t entry) {
    return y[((step * 2 + direction) * 3 + entry) * 5];
  };
  for (const std::size_t direction : {0U, 1U}) {
    EXPECT_EQ(element(3, direction, 1), 0);
    EXPECT_EQ(element(2, direction, 2), 0);
    EXPECT_NE(element(2, direction, 1), 0);
    EXPECT_NE(element(3, direction, 0), 0);
  }
}

class RecurrentKinds : public ::testing::TestWithParam<RecurrentKind> {};

TEST_P(RecurrentKinds, match_the_host_in_both_directions) {
  expect_matches_host(full_case(attributes_of(GetParam(), {false, true}), {}), 1e-6);
}

TEST_P(RecurrentKinds, match_the_host_in_float16) {
  NodeCase node = full_case(attributes_of(GetParam(), {true}), {});
  node.precision = Precision::float16;
  expect_matches_host(std::move(node), 2e-3);
}

TEST_P(RecurrentKinds, match_the_host_without_what_may_be_left_out) {
  NodeCase node = full_case(attributes_of(GetParam()), {});
  for (std::size_t i = 2; i < node.inputs.size(); ++i) node.inputs[i] = {};
  expect_matches_host(std::move(node), 1e-6);
}

// 6 * 1400 words of state are more than the 32 KiB of shared memory that llvmpipe has.
TEST_P(RecurrentKinds, match_the_host_where_the_state_is_large) {
  RecurrentAttributes attributes = attributes_of(GetParam());
  expect_matches_host(full_case(std::move(attributes), {.steps = 2, .batch = 1, .hidden = 1400}), 1e-4);
}

INSTANTIATE_TEST_SUITE_P(Recurrent, RecurrentKinds,
                         ::testing::Values(RecurrentKind::simple, RecurrentKind::gated,
                                           RecurrentKind::gated_reset_after, RecurrentKind::long_short_term));

TEST(Recurrent, matches_the_host_with_every_activation_and_a_clip) {
  for (std::uint8_t code = 0; code <= static_cast<std::uint8_t>(RecurrentActivation::softplus); code += 2) {
    RecurrentAttributes attributes = attributes_of(RecurrentKind::gated, {false, true});
    for (std::size_t i = 0; i < attributes.activations.size(); ++i) {
      const auto last = static_cast<std::uint8_t>(RecurrentActivation::softplus);
      const auto function = static_cast<RecurrentActivation>((code + i % 2) % (last + 1));
      attributes.activations[i] = {function, 0.7F, 0.2F};
    }
    attributes.clip = 0.9F;
    expect_matches_host(full_case(std::move(attributes), {}), 1e-6);
  }
}

TEST(Recurrent, matches_the_host_in_other_types) {
  expect_matches_host(full_case(attributes_of(RecurrentKind::long_short_term), {}, DType::float64), 1e-6);
  RecurrentAttributes coupled = attributes_of(RecurrentKind::long_short_term);
  coupled.input_forget = true;
  expect_matches_host(full_case(std::move(coupled), {}, DType::float16), 2e-3);
}

}  // namespace
}  // namespace lapilli::testing
