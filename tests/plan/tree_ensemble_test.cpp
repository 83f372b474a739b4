#include "ops/tree_ensemble.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "ops/pair_coupling.h"
#include "ops/pointwise.h"
#include "support/node_runner.h"

namespace lapilli::testing {
namespace {

using Integers = std::vector<std::int64_t>;

struct Tables {
  std::vector<std::int32_t> nodes, roots, starts{0}, targets;
  std::vector<double> splits, weights;
};

// Full trees of random decisions of all modes; each leaf has shares for some of the targets.
Tables random_tables(int trees, int depth, int features, int targets) {
  std::mt19937 random(7);
  const auto below = [&](int count) { return static_cast<std::int32_t>(random() % static_cast<unsigned>(count)); };
  Tables tables;
  for (int tree = 0; tree < trees; ++tree) {
    const auto first = static_cast<std::int32_t>(tables.splits.size());
    const auto leaf = static_cast<std::int32_t>(tables.starts.size()) - 1;
    const std::int32_t inner = (1 << depth) - 1;
    tables.roots.push_back(depth == 0 ? -1 - leaf : first);
    for (std::int32_t i = 0; i < inner; ++i) {
      const auto way = [&](std::int32_t child) {
        return child < inner ? first + child : -1 - (leaf + child - inner);
      };
      tables.nodes.insert(tables.nodes.end(),
                          {below(features), below(6) + below(2) * missing_is_true, way(2 * i + 1), way(2 * i + 2)});
      tables.splits.push_back(below(5) - 2);
    }
    for (std::int32_t i = 0; i <= inner; ++i) {
      for (std::int32_t target = 0; target < targets; ++target) {
        if (below(3) == 0) continue;
        tables.targets.push_back(target);
        tables.weights.push_back(below(1000) / 64.0 - 5);
      }
      tables.starts.push_back(static_cast<std::int32_t>(tables.targets.size()));
    }
  }
  if (tables.splits.empty()) {
    tables.nodes = {0, 0, -1, -1};
    tables.splits = {0};
  }
  return tables;
}

Tensor integer_table(std::vector<std::int64_t> shape, std::span<const std::int32_t> values) {
  return Tensor::of<std::int32_t>(DType::int32, std::move(shape), values);
}

Tensor real_table(DType dtype, std::span<const double> values) {
  const Tensor wide = Tensor::of<double>(DType::float64, {static_cast<std::int64_t>(values.size())}, values);
  return evaluate_chain({}, {&wide, 1}, dtype);
}

// Whole numbers and some that are missing, so that equal values occur.
Tensor random_rows(DType dtype, std::int64_t count, std::int64_t width) {
  std::mt19937 random(3);
  std::vector<double> values;
  for (std::int64_t i = 0; i < count * width; ++i) {
    const auto drawn = static_cast<double>(random() % 6U);
    values.push_back(drawn == 5 ? std::nan("") : drawn - 2);
  }
  return real_table(dtype, values).reshaped({count, width});
}

NodeCase ensemble(ReductionFunction function, const Tables& tables, std::int64_t targets, const Tensor& rows) {
  const auto size = [](const auto& table) { return static_cast<std::int64_t>(table.size()); };
  return {std::make_shared<TreeEnsemble>(function, targets),
          {rows, integer_table({size(tables.splits), 4}, tables.nodes), real_table(rows.dtype(), tables.splits),
           integer_table({size(tables.roots)}, tables.roots), integer_table({size(tables.starts)}, tables.starts),
           integer_table({size(tables.targets)}, tables.targets), real_table(rows.dtype(), tables.weights)},
          {},
          Precision::float32};
}

TEST(TreeEnsemble, matches_the_host) {
  for (const ReductionFunction function :
       {ReductionFunction::sum, ReductionFunction::minimum, ReductionFunction::maximum}) {
    for (const DType dtype : {DType::float32, DType::float64}) {
      const Tables tables = random_tables(37, 4, 5, 3);
      expect_matches_host(ensemble(function, tables, 3, random_rows(dtype, 70, 5)), 1e-6);
    }
  }
}

TEST(TreeEnsemble, takes_odd_sizes) {
  const Tables many = random_tables(1000, 3, 2, 1);
  expect_matches_host(ensemble(ReductionFunction::sum, many, 1, random_rows(DType::float32, 1, 2)), 1e-6);
  const Tables leaf = random_tables(1, 0, 1, 9);
  expect_matches_host(ensemble(ReductionFunction::sum, leaf, 9, random_rows(DType::float32, 3, 1)), 1e-6);
  expect_matches_host(ensemble(ReductionFunction::sum, many, 1, random_rows(DType::float32, 0, 2)), 0);
}

// Two classes: the probabilities are those of the pair. Three: what LIBSVM's method gives for pairs that agree.
TEST(PairCoupling, finds_probabilities) {
  expect_matches_host(
      {std::make_shared<PairCoupling>(2), {float_tensor({3, 1}, {0.5F, 0.9F, 0.001F})}, {}, Precision::float32},
      1e-5);
  for (const std::int64_t classes : {3, 7}) {
    const Tensor pairs = random_tensor(DType::float32, {40, classes * (classes - 1) / 2}, 0.01, 0.99);
    expect_matches_host({std::make_shared<PairCoupling>(classes), {pairs}, {}, Precision::float32}, 1e-4);
  }
  // Shares 0.5, 0.3 and 0.2 say 5/8, 5/7 and 3/5 of their pairs.
  const Tensor shares = run_node({std::make_shared<PairCoupling>(3),
                                  {float_tensor({1, 3}, {5.0F / 8, 5.0F / 7, 3.0F / 5})},
                                  {},
                                  Precision::float32})[0];
  EXPECT_NEAR(floats_of(shares)[0], 0.5, 0.005);
  EXPECT_NEAR(floats_of(shares)[1], 0.3, 0.005);
  EXPECT_NEAR(floats_of(shares)[2], 0.2, 0.005);
}

}  // namespace
}  // namespace lapilli::testing
