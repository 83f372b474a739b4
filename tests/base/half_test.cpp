#include "base/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace lapilli {
namespace {

// Values from the tables of IEEE 754-2019 binary16 (Wikipedia, "Half-precision floating-point format").
TEST(Half, KnownValues) {
  EXPECT_EQ(Half(1.0F).bits, 0x3C00);
  EXPECT_EQ(Half(-2.0F).bits, 0xC000);
  EXPECT_EQ(Half(65504.0F).bits, 0x7BFF);
  EXPECT_EQ(Half(0.33325195F).bits, 0x3555);
  EXPECT_EQ(Half(6.1035156e-5F).bits, 0x0400);  // smallest normal
  EXPECT_EQ(Half(5.9604645e-8F).bits, 0x0001);  // smallest subnormal
  EXPECT_EQ(Half(-0.0F).bits, 0x8000);
}

TEST(Half, RoundsToNearestEvenAndOverflows) {
  EXPECT_EQ(Half(2049.0F).bits, Half(2048.0F).bits);
  EXPECT_EQ(Half(2051.0F).bits, Half(2052.0F).bits);
  EXPECT_EQ(Half(65519.0F).bits, 0x7BFF);
  EXPECT_EQ(Half(65520.0F).bits, 0x7C00);
  EXPECT_EQ(Half(2.98023224e-8F).bits, 0x0000);  // half of the smallest subnormal, a tie
  EXPECT_EQ(Half(2.9802326e-8F).bits, 0x0001);
  EXPECT_TRUE(std::isnan(static_cast<float>(Half(std::numeric_limits<float>::quiet_NaN()))));
}

#ifdef __FLT16_MAX__
// The compiler's own binary16 as the judge, for every half and for every 2^10th float between them.
TEST(Half, AgreesWithTheCompilerEverywhere) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    Half half;
    half.bits = static_cast<std::uint16_t>(bits);
    const auto judge = static_cast<float>(std::bit_cast<_Float16>(half.bits));
    if (std::isnan(judge)) continue;
    ASSERT_EQ(static_cast<float>(half), judge) << bits;
  }
  for (std::uint64_t bits = 0; bits < 0x100000000ULL; bits += 1021) {
    const auto value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    if (std::isnan(value)) continue;
    ASSERT_EQ(Half(value).bits, std::bit_cast<std::uint16_t>(static_cast<_Float16>(value))) << bits;
  }
}
#endif

TEST(BFloat16, RoundsToNearestEven) {
  EXPECT_EQ(BFloat16(1.0F).bits, 0x3F80);
  EXPECT_EQ(BFloat16(std::bit_cast<float>(0x3F808000U)).bits, 0x3F80);
  EXPECT_EQ(BFloat16(std::bit_cast<float>(0x3F818000U)).bits, 0x3F82);
  EXPECT_EQ(static_cast<float>(BFloat16(-3.0F)), -3.0F);
}

}  // namespace
}  // namespace lapilli
