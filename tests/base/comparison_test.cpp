#include "base/comparison.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "base/half.h"

namespace lapilli {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

template <class T>
Tensor vector_of(DType dtype, const std::vector<T>& values) {
  return Tensor::of<T>(dtype, {static_cast<std::int64_t>(values.size())}, values);
}

Tensor floats(const std::vector<float>& values) { return vector_of(DType::float32, values); }

TEST(Comparison, RelativeErrorIsThatOfTheNorms) {
  // ‖(0, 1)‖ / ‖(3, 4)‖
  EXPECT_DOUBLE_EQ(compare(floats({3, 5}), floats({3, 4})).relative_error, 0.2);
  EXPECT_TRUE(compare(floats({3, 5}), floats({3, 4})).mismatch.empty());
  // Nothing to be relative to.
  EXPECT_DOUBLE_EQ(compare(floats({3, 4}), floats({0, 0})).relative_error, 5);
  EXPECT_DOUBLE_EQ(compare(floats({}), floats({})).relative_error, 0);
}

TEST(Comparison, InfinitiesAndNanMustBeInTheSamePlaces) {
  EXPECT_TRUE(compare(floats({nan, infinity, 1}), floats({nan, infinity, 1})).mismatch.empty());
  EXPECT_DOUBLE_EQ(compare(floats({nan, infinity, 1}), floats({nan, infinity, 1})).relative_error, 0);
  EXPECT_FALSE(compare(floats({infinity}), floats({-infinity})).mismatch.empty());
  EXPECT_FALSE(compare(floats({nan}), floats({1})).mismatch.empty());
  EXPECT_FALSE(compare(floats({1}), floats({nan})).mismatch.empty());
  EXPECT_FALSE(compare(floats({1e30F}), floats({infinity})).mismatch.empty());
}

TEST(Comparison, IntegersMustBeEqual) {
  const auto big = std::numeric_limits<std::int64_t>::max();
  EXPECT_TRUE(compare(vector_of<std::int64_t>(DType::int64, {big}), vector_of<std::int64_t>(DType::int64, {big}))
                  .mismatch.empty());
  // The two are one and the same as float64.
  const Difference difference =
      compare(vector_of<std::int64_t>(DType::int64, {1, big}), vector_of<std::int64_t>(DType::int64, {1, big - 1}));
  EXPECT_EQ(difference.mismatch,
            "1 of 2 elements differ, the first at [1]: 9223372036854775807, expected 9223372036854775806");
}

TEST(Comparison, OtherTypesAndShapesAreSaid) {
  EXPECT_EQ(compare(floats({1}), vector_of<double>(DType::float64, {1})).mismatch,
            "is float32[1], expected float64[1]");
  EXPECT_EQ(compare(floats({1, 2}), floats({1})).mismatch, "is float32[2], expected float32[1]");
  EXPECT_TRUE(std::isinf(compare(floats({1, 2}), floats({1})).relative_error));
}

TEST(Comparison, StringsAndPackedElements) {
  EXPECT_TRUE(compare(Tensor::of_strings({1}, {"a"}), Tensor::of_strings({1}, {"a"})).mismatch.empty());
  EXPECT_EQ(compare(Tensor::of_strings({1}, {"a"}), Tensor::of_strings({1}, {"b"})).mismatch,
            "1 of 1 elements differ, the first at [0]: 'a', expected 'b'");
  // -1, 7 and -8, after which half a byte is not used.
  Tensor first = Tensor::allocate(DType::int4, {3}), second = Tensor::allocate(DType::int4, {3});
  const std::array<std::uint8_t, 2> bytes{0x7F, 0x08}, others{0x7F, 0xF8};
  for (std::size_t i = 0; i < 2; ++i) {
    first.mutable_bytes()[i] = static_cast<std::byte>(bytes[i]);
    second.mutable_bytes()[i] = static_cast<std::byte>(others[i]);
  }
  EXPECT_EQ(element_as_double(first, 0), -1);
  EXPECT_EQ(element_as_double(first, 1), 7);
  EXPECT_EQ(element_as_double(first, 2), -8);
  EXPECT_TRUE(compare(first, second).mismatch.empty());
}

}  // namespace
}  // namespace lapilli
