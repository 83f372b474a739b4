#include "ir/dim.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <random>

#include "lapilli/error.h"

namespace lapilli {
namespace {

const Dim b = Dim::symbol("b"), h = Dim::symbol("h"), w = Dim::symbol("w");

TEST(Dim, equal_expressions_have_one_form) {
  EXPECT_EQ((b + h) * (b - h), b * b - h * h);
  EXPECT_EQ(h + b, b + h);
  EXPECT_EQ(b * h * w, w * b * h);
  EXPECT_EQ(b - b, Dim(0));
  EXPECT_EQ((b + 2) * 3, b * 3 + 6);
  EXPECT_NE(b, h);
  EXPECT_NE(b * 2, b);
  EXPECT_EQ(Dim::minimum(b, h), Dim::minimum(h, b));
  EXPECT_EQ(Dim::maximum(b, h), Dim::maximum(h, b));
}

TEST(Dim, divides_what_it_can) {
  EXPECT_EQ(Dim::floor_divide(b * 6 + 4, 2), b * 3 + 2);
  EXPECT_EQ(Dim::floor_divide(b * 6 + 5, 2), b * 3 + 2);
  EXPECT_EQ(Dim::ceil_divide(b * 6 + 5, 2), b * 3 + 3);
  EXPECT_EQ(Dim::floor_divide(b * h * 8, h * 4), b * 2);
  EXPECT_EQ(Dim::floor_divide(b * h, b * h), Dim(1));
  EXPECT_EQ(Dim::floor_divide(b + h, b + h), Dim(1));
  EXPECT_EQ(Dim::floor_divide(-7, 2), Dim(-4));
  EXPECT_EQ(Dim::ceil_divide(-7, 2), Dim(-3));
  EXPECT_FALSE(Dim::floor_divide(h + 1, 2).is_constant());
  EXPECT_EQ(Dim::floor_divide(h + 1, 2).evaluate({{"h", 9}}), 5);
  EXPECT_EQ(Dim::floor_divide(h + 2, 2), Dim::floor_divide(h, 2) + 1);
}

TEST(Dim, decides_the_smaller_where_symbols_do_not_matter) {
  EXPECT_EQ(Dim::minimum(b + 1, b), b);
  EXPECT_EQ(Dim::maximum(b + 1, b), b + 1);
  EXPECT_EQ(Dim::minimum(3, 5), Dim(3));
  EXPECT_EQ(Dim::maximum(b, h).evaluate({{"b", 3}, {"h", 8}}), 8);
}

TEST(Dim, says_what_it_is) {
  EXPECT_EQ((b * 2 + 1).to_string(), "2*b+1");
  EXPECT_EQ((b - h * 3).to_string(), "b-3*h");
  EXPECT_EQ(Dim::floor_divide(h + 1, 2).to_string(), "floor((h+1)/(2))");
  EXPECT_EQ(Dim(-4).to_string(), "-4");
  EXPECT_EQ(shape_text(Shape{b, 3, h * w}), "[b, 3, h*w]");
}

TEST(Dim, collects_each_symbol_once) {
  std::vector<std::string> names;
  (Dim::floor_divide(h + 1, 2) * b + Dim::maximum(w, h)).collect_symbols(names);
  std::ranges::sort(names);
  EXPECT_EQ(names, (std::vector<std::string>{"b", "h", "w"}));
}

TEST(Dim, refuses_what_it_does_not_know_or_cannot_hold) {
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  EXPECT_THROW((void)(b + h).evaluate({{"b", 1}}), Error);
  EXPECT_THROW((void)(b * largest + b), Error);
  EXPECT_THROW((void)(Dim(largest) + 1), Error);
  EXPECT_THROW((void)(b * b).evaluate({{"b", std::int64_t{1} << 32U}}), Error);
  EXPECT_THROW((void)Dim::floor_divide(b, 0), Error);
  EXPECT_THROW((void)Dim::floor_divide(b, -2), Error);
  EXPECT_THROW((void)Dim::floor_divide(b, h).evaluate({{"b", 1}, {"h", 0}}), Error);
}

TEST(Dim, counts_and_lists) {
  EXPECT_EQ(element_count(Shape{b, 3, h}), b * h * 3);
  EXPECT_EQ(element_count(Shape{}), Dim(1));
  EXPECT_EQ(to_numbers(Shape{2, 3}), (std::vector<std::int64_t>{2, 3}));
  EXPECT_FALSE(to_numbers(Shape{2, b}).has_value());
  EXPECT_EQ(evaluate(Shape{2, b}, {{"b", 5}}), (std::vector<std::int64_t>{2, 5}));
}

// An expression and the same arithmetic on numbers.
struct Pair {
  Dim dim;
  std::function<std::int64_t(const SymbolValues&)> number;
};

std::int64_t rounded_down(std::int64_t a, std::int64_t d) {
  std::int64_t quotient = a / d;
  while (quotient * d > a) --quotient;
  return quotient;
}

class RandomExpressions {
 public:
  explicit RandomExpressions(std::uint32_t seed) : generator_(seed) {}

  std::int64_t below(std::uint32_t bound) { return static_cast<std::int64_t>(generator_() % bound); }

  Pair make(int depth) {
    if (depth == 0 || below(6) == 0) return leaf();
    const Pair left = make(depth - 1), right = make(depth - 1);
    const auto f = left.number, g = right.number;
    const std::int64_t divisor = 1 + below(7);
    switch (below(6)) {
      case 0: return {left.dim + right.dim, [=](const auto& v) { return f(v) + g(v); }};
      case 1: return {left.dim - right.dim, [=](const auto& v) { return f(v) - g(v); }};
      case 2: return {left.dim * right.dim, [=](const auto& v) { return f(v) * g(v); }};
      case 3:
        return {Dim::floor_divide(left.dim, divisor), [=](const auto& v) { return rounded_down(f(v), divisor); }};
      case 4: return {Dim::minimum(left.dim, right.dim), [=](const auto& v) { return std::min(f(v), g(v)); }};
      default: return {Dim::maximum(left.dim, right.dim), [=](const auto& v) { return std::max(f(v), g(v)); }};
    }
  }

 private:
  Pair leaf() {
    const std::int64_t number = below(9);
    if (number < 4) return {Dim(number - 2), [=](const auto&) { return number - 2; }};
    const std::string name(1, "bhw"[number % 3]);
    return {Dim::symbol(name), [=](const SymbolValues& values) { return values.at(name); }};
  }

  std::mt19937 generator_;
};

TEST(Dim, random_expressions_are_worth_what_their_arithmetic_is) {
  RandomExpressions random(5);
  for (int trial = 0; trial < 2000; ++trial) {
    const Pair pair = random.make(4);
    for (int draw = 0; draw < 4; ++draw) {
      const SymbolValues values{{"b", random.below(9)}, {"h", random.below(30)}, {"w", random.below(5)}};
      ASSERT_EQ(pair.dim.evaluate(values), pair.number(values)) << pair.dim.to_string();
    }
  }
}

}  // namespace
}  // namespace lapilli
