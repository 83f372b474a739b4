// Sequences: positions, as the ONNX specification has them.
#include <gtest/gtest.h>

#include "flow/host_node.h"
#include "support/node_runner.h"

namespace lapilli::testing {
namespace {

Value sequence_of(const std::vector<std::int64_t>& numbers) {
  std::vector<Value> elements;
  for (const std::int64_t number : numbers) elements.emplace_back(integer_tensor({}, {number}));
  return Value::sequence(std::move(elements));
}

std::vector<std::int64_t> numbers_in(const Value& sequence) {
  std::vector<std::int64_t> numbers;
  for (const Value& element : sequence.elements()) numbers.push_back(integers_of(element.tensor())[0]);
  return numbers;
}

Tensor position(std::int64_t value) { return integer_tensor({}, {value}); }

TEST(Sequence, PositionsCountFromEitherEnd) {
  const Value sequence = sequence_of({10, 20});
  const auto at = [&](std::int64_t place) { return run_on_host("SequenceAt", {sequence, position(place)}, 1)[0]; };
  EXPECT_EQ(integers_of(at(-2).tensor())[0], 10);
  EXPECT_EQ(integers_of(at(1).tensor())[0], 20);
  for (const std::int64_t place : {-3, 2}) {
    EXPECT_NE(error_of([&] { at(place); }).find("of 2 elements"), std::string::npos) << place;
  }
}

TEST(Sequence, InsertsInFrontOfAPosition) {
  const Value sequence = sequence_of({10, 20});
  const auto insert = [&](std::int64_t place) {
    return numbers_in(run_on_host("SequenceInsert", {sequence, position(5), position(place)}, 1)[0]);
  };
  EXPECT_EQ(insert(-2), (std::vector<std::int64_t>{5, 10, 20}));
  EXPECT_EQ(insert(-1), (std::vector<std::int64_t>{10, 5, 20}));
  EXPECT_EQ(insert(2), (std::vector<std::int64_t>{10, 20, 5}));
  for (const std::int64_t place : {-3, 3}) EXPECT_NE(error_of([&] { insert(place); }), "") << place;
}

TEST(Sequence, ErasesAPosition) {
  const auto erase = [&](std::int64_t place) {
    return numbers_in(run_on_host("SequenceErase", {sequence_of({10, 20}), position(place)}, 1)[0]);
  };
  EXPECT_EQ(erase(-2), (std::vector<std::int64_t>{20}));
  for (const std::int64_t place : {-3, 2}) EXPECT_NE(error_of([&] { erase(place); }), "") << place;
  EXPECT_NE(error_of([] { run_on_host("SequenceErase", {sequence_of({})}, 1); }), "");
}

}  // namespace
}  // namespace lapilli::testing
