#include "ops/suppression.h"

#include <gtest/gtest.h>

#include <array>
#include <optional>

#include "ops/pointwise.h"
#include "ops/sort.h"
#include "support/node_runner.h"

namespace lapilli::testing {
namespace {

using Integers = std::vector<std::int64_t>;

struct Boxes {
  Tensor boxes, scores;
  std::int32_t most = 0;
  float overlap = 0;
  std::optional<float> least_score;
  bool centred = false;
};

Tensor int32_scalar(std::int32_t value) {
  const std::array values{value};
  return Tensor::of<std::int32_t>(DType::int32, {}, values);
}

NodeCase suppression(const Boxes& boxes) {
  const Sort sort(SortKey::element, 2, true, boxes.scores.shape()[2]);
  const Tensor order = sort.evaluate(std::vector{boxes.scores})[0];
  const Tensor least = boxes.least_score ? float_tensor({}, {*boxes.least_score}) : Tensor();
  return {std::make_shared<Suppression>(boxes.centred),
          {boxes.boxes, boxes.scores, order, int32_scalar(boxes.most), float_tensor({}, {boxes.overlap}), least},
          {},
          Precision::float32};
}

Integers kept(const Boxes& boxes) {
  const Tensor result = run_node(suppression(boxes))[0];
  return integers_of(evaluate_chain({}, {&result, 1}, DType::int64));
}

// The example of ONNX's operator documents: six boxes in two places and one far off, best first 3, 0, 1, 5, 2, 4.
Boxes example() {
  return {float_tensor({1, 6, 4}, {0, 0,  1, 1,  0, 0.1F,  1, 1.1F,  0, -0.1F, 1, 0.9F,
                                   0, 10, 1, 11, 0, 10.1F, 1, 11.1F, 0, 100,   1, 101}),
          float_tensor({1, 1, 6}, {0.9F, 0.75F, 0.6F, 0.95F, 0.5F, 0.3F}),
          3,
          0.5F,
          0.0F,
          false};
}

TEST(Suppression, knows_the_values_of_onnx) {
  // In order: 3, 0, 1, 2, 4, 5.
  EXPECT_EQ(kept(example()), (Integers{1, 1, 0, 0, 0, 1}));
  Boxes two = example();
  two.most = 2;
  EXPECT_EQ(kept(two), (Integers{1, 1, 0, 0, 0, 0}));
  Boxes good = example();
  good.least_score = 0.4F;
  EXPECT_EQ(kept(good), (Integers{1, 1, 0, 0, 0, 0}));
  Boxes none = example();
  none.most = 0;
  EXPECT_EQ(kept(none), (Integers(6, 0)));
  Boxes all = example();
  all.most = 100;
  all.overlap = 1;
  all.least_score.reset();
  EXPECT_EQ(kept(all), (Integers(6, 1)));
}

TEST(Suppression, matches_the_host) {
  for (const std::int64_t count : {1, 33, 300}) {
    Boxes boxes{random_tensor(DType::float32, {2, count, 4}, 0, 9),
                random_tensor(DType::float32, {2, 3, count}, 0, 1),
                20,
                0.3F,
                0.2F,
                false};
    expect_matches_host(suppression(boxes), 0);
    boxes.centred = true;
    boxes.most = 1000;
    boxes.least_score.reset();
    expect_matches_host(suppression(boxes), 0);
  }
  const Boxes nothing{
      random_tensor(DType::float32, {2, 0, 4}), random_tensor(DType::float32, {2, 3, 0}), 5, 0.5F, 0.5F, false};
  expect_matches_host(suppression(nothing), 0);
}

}  // namespace
}  // namespace lapilli::testing
