#include "program/pack.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>
#include <random>

#include "base/half.h"
#include "lapilli/error.h"

namespace lapilli {
namespace {

std::vector<float> random_values(std::size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> distribution(-4, 4);
  std::vector<float> values(count);
  for (float& value : values) value = distribution(generator);
  return values;
}

std::vector<std::byte> packed(const Tensor& source, const Packing& packing) {
  std::vector<std::byte> bytes(packed_bytes(packing), std::byte{0xAA});
  pack(source, packing, bytes);
  return bytes;
}

template <class T>
T element(const std::vector<std::byte>& bytes, std::size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

/// The definition in program.h, element by element.
float defined(const std::vector<float>& source, const Packing& packing, std::int64_t element_index) {
  std::int64_t index = packing.source_offset;
  for (std::size_t d = packing.shape.size(); d-- > 0;) {
    const std::int64_t position = element_index % packing.shape[d];
    element_index /= packing.shape[d];
    if (position >= packing.source_extent[d]) return 0;
    index += position * packing.source_stride[d];
  }
  return source[static_cast<std::size_t>(index)];
}

void expect_as_defined(const std::vector<float>& values, const Packing& packing) {
  const auto count = static_cast<std::int64_t>(values.size());
  const std::vector<std::byte> bytes = packed(Tensor::of<float>(DType::float32, {count}, values), packing);
  for (std::int64_t i = 0; i < element_count(packing.shape); ++i) {
    const float wanted = defined(values, packing, i);
    const auto at = static_cast<std::size_t>(i);
    switch (packing.dtype) {
      case DType::float32: ASSERT_EQ(element<float>(bytes, at), wanted) << i; break;
      case DType::float16: ASSERT_EQ(element<Half>(bytes, at).bits, Half(wanted).bits) << i; break;
      case DType::bfloat16: ASSERT_EQ(element<BFloat16>(bytes, at).bits, BFloat16(wanted).bits) << i; break;
      default: FAIL();
    }
  }
}

TEST(Pack, FollowsItsDefinition) {
  const std::vector<float> values = random_values(std::size_t{4} * 5 * 6 * 7, 1);
  for (const DType dtype : {DType::float32, DType::float16, DType::bfloat16}) {
    expect_as_defined(values, {dtype, {4, 5, 6, 7}, {4, 5, 6, 7}, {210, 42, 7, 1}, 0});  // as it is
    expect_as_defined(values, {dtype, {6, 7, 5, 8}, {6, 7, 5, 4}, {7, 1, 42, 210}, 0});  // OIHW to HWIO, O padded
    expect_as_defined(values, {dtype, {5, 5, 6, 8}, {4, 5, 6, 7}, {210, 42, 7, 1}, 0});  // padded at both ends
    expect_as_defined(values, {dtype, {5, 6, 7}, {5, 6, 7}, {42, 7, -1}, 6});            // reversed
    expect_as_defined(values, {dtype, {3, 4}, {3, 4}, {0, 1}, 10});                      // repeated
    expect_as_defined(values, {dtype, {3, 4}, {3, 0}, {4, 1}, 0});                       // nothing but zeros
    expect_as_defined(values, {dtype, {1, 840, 1}, {1, 840, 1}, {9, 1, 9}, 0});
    expect_as_defined(values, {dtype, {}, {}, {}, 5});  // a scalar
  }
}

TEST(Pack, SplitsLongRowsAndManyRows) {
  const std::vector<float> values = random_values(600000, 2);
  expect_as_defined(values, {DType::float16, {600000}, {600000}, {1}, 0});
  expect_as_defined(values, {DType::float32, {2, 400000}, {2, 300000}, {300000, 1}, 0});
  expect_as_defined(values, {DType::float32, {200000, 4}, {200000, 3}, {3, 1}, 0});
}

TEST(Pack, TurnsColumnsIntoRows) {
  const std::vector<float> values = random_values(770000, 3);
  for (const DType dtype : {DType::float32, DType::float16}) {
    expect_as_defined(values, {dtype, {700, 1104}, {700, 1100}, {1, 700}, 0});
    expect_as_defined(values, {dtype, {710, 1100}, {699, 1099}, {1, 700}, 1});
    expect_as_defined(values, {dtype, {9, 136, 200}, {9, 130, 199}, {1, 9, 1170}, 5});
    expect_as_defined(values, {dtype, {2, 3, 65, 66}, {2, 2, 65, 66}, {66, 8580, 1, 130}, 0});
    expect_as_defined(values, {dtype, {2, 200000}, {2, 200000}, {1, 3}, 0});
  }
}

TEST(Pack, NarrowsIntegersToTheNearest) {
  const std::array<std::int64_t, 4> values{-5, INT64_MAX, INT64_MIN, INT32_MAX};
  const auto bytes = packed(Tensor::of<std::int64_t>(DType::int64, {4}, values), {DType::int32, {4}, {4}, {1}, 0});
  EXPECT_EQ(element<std::int32_t>(bytes, 0), -5);
  EXPECT_EQ(element<std::int32_t>(bytes, 1), INT32_MAX);
  EXPECT_EQ(element<std::int32_t>(bytes, 2), INT32_MIN);
  EXPECT_EQ(element<std::int32_t>(bytes, 3), INT32_MAX);
}

TEST(Pack, RefusesToReadOutsideOfTheSource) {
  const Tensor source = Tensor::allocate(DType::float32, {10});
  EXPECT_THROW((void)packed(source, {DType::float32, {11}, {11}, {1}, 0}), Error);
  EXPECT_THROW((void)packed(source, {DType::float32, {2}, {2}, {1}, 9}), Error);
  EXPECT_THROW((void)packed(source, {DType::float32, {2}, {2}, {-1}, 0}), Error);
  EXPECT_THROW((void)packed(source, {DType::float32, {3, 2}, {3, 2}, {INT64_MAX, 1}, 0}), Error);
  EXPECT_THROW((void)packed(source, {DType::float32, {2}, {2, 1}, {1}, 0}), Error);
  EXPECT_THROW((void)packed(source, {DType::int32, {2}, {2}, {1}, 0}), Error);
}

}  // namespace
}  // namespace lapilli
