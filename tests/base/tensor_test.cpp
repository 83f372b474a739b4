#include "lapilli/tensor.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <limits>

#include "lapilli/error.h"

namespace lapilli {
namespace {

TEST(Tensor, HoldsElements) {
  const std::array<float, 6> values{0, 1, 2, 3, 4, 5};
  const Tensor tensor = Tensor::of<float>(DType::float32, {2, 3}, values);
  EXPECT_EQ(tensor.element_count(), 6);
  EXPECT_EQ(tensor.elements<float>()[4], 4.0F);
  EXPECT_EQ(tensor.reshaped({3, 2}).elements<float>().data(), tensor.elements<float>().data());
}

TEST(Tensor, PacksNarrowTypes) {
  EXPECT_EQ(byte_count(DType::int4, 3), 2U);
  EXPECT_EQ(Tensor::allocate(DType::uint4, {5}).bytes().size(), 3U);
}

TEST(Tensor, HoldsNoElements) {
  Tensor tensor = Tensor::allocate(DType::float32, {0, 3});
  EXPECT_TRUE(tensor.mutable_bytes().empty());
  EXPECT_TRUE(Tensor().aligned().bytes().empty());
}

TEST(Tensor, CopiesUnalignedViews) {
  alignas(4) std::array<std::byte, 9> bytes{};
  const float value = 1.5F;
  std::memcpy(bytes.data() + 5, &value, sizeof(value));
  const Tensor unaligned = Tensor::view(DType::float32, {1}, std::span(bytes).subspan(5, 4), nullptr);
  EXPECT_THROW((void)unaligned.elements<float>(), Error);
  EXPECT_EQ(unaligned.aligned().elements<float>()[0], 1.5F);
  const Tensor aligned = Tensor::view(DType::float32, {1}, std::span(bytes).subspan(4, 4), nullptr);
  EXPECT_EQ(aligned.aligned().bytes().data(), aligned.bytes().data());
}

TEST(Tensor, RefusesWhatCannotBe) {
  const std::array<std::int64_t, 3> huge{1LL << 40, 1LL << 40, 2};
  EXPECT_THROW((void)element_count(huge), Error);
  EXPECT_THROW((void)Tensor::allocate(DType::float32, {-1}), Error);
  EXPECT_THROW((void)Tensor::allocate(DType::float32, {2}).elements<double>(), Error);
  EXPECT_THROW((void)Tensor::allocate(DType::float32, {2}).reshaped({3}), Error);
  const std::array<float, 2> values{0, 1};
  EXPECT_THROW((void)Tensor::of<float>(DType::float32, {3}, values), Error);
  EXPECT_THROW((void)byte_count(DType::float64, std::numeric_limits<std::int64_t>::max()), Error);
}

TEST(Tensor, ZeroSizedDimensionsWinOverHugeOnes) {
  const std::array<std::int64_t, 3> shape{1LL << 40, 0, 1LL << 20};
  EXPECT_EQ(element_count(shape), 0);
}

}  // namespace
}  // namespace lapilli
