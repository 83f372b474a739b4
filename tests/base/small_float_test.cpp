#include "base/small_float.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "base/half.h"
#include "base/packed.h"

namespace lapilli {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

constexpr std::array signed_types{DType::float8e4m3fn,   DType::float8e4m3fnuz, DType::float8e5m2,
                                  DType::float8e5m2fnuz, DType::float4e2m1,     DType::float6e2m3,
                                  DType::float6e3m2};

unsigned code(DType dtype, float value, Overflow overflow = Overflow::saturate) {
  return small_float_code(dtype, value, overflow);
}

// From "OCP 8-bit Floating Point Specification" 1.0 and "OCP Microscaling Formats (MX) Specification" 1.0.
TEST(SmallFloat, KnownValues) {
  EXPECT_EQ(small_float_value(DType::float8e4m3fn, 0x7E), 448.0F);
  EXPECT_EQ(small_float_value(DType::float8e4m3fn, 0x08), 0x1p-6F);
  EXPECT_EQ(small_float_value(DType::float8e4m3fn, 0x01), 0x1p-9F);
  EXPECT_TRUE(std::isnan(small_float_value(DType::float8e4m3fn, 0xFF)));
  EXPECT_EQ(small_float_value(DType::float8e5m2, 0x7B), 57344.0F);
  EXPECT_EQ(small_float_value(DType::float8e5m2, 0x01), 0x1p-16F);
  EXPECT_EQ(small_float_value(DType::float8e5m2, 0xFC), -infinity);
  EXPECT_TRUE(std::isnan(small_float_value(DType::float8e5m2, 0x7D)));
  EXPECT_EQ(small_float_value(DType::float6e3m2, 0x1F), 28.0F);
  EXPECT_EQ(small_float_value(DType::float6e3m2, 0x01), 0.0625F);
  EXPECT_EQ(small_float_value(DType::float6e2m3, 0x3F), -7.5F);
  EXPECT_EQ(small_float_value(DType::float6e2m3, 0x01), 0.125F);
  EXPECT_EQ(small_float_value(DType::float4e2m1, 0x7), 6.0F);
  EXPECT_EQ(small_float_value(DType::float4e2m1, 0x9), -0.5F);
  EXPECT_EQ(small_float_value(DType::float8e8m0, 0x00), 0x1p-127F);
  EXPECT_EQ(small_float_value(DType::float8e8m0, 0x7F), 1.0F);
  EXPECT_EQ(small_float_value(DType::float8e8m0, 0xFE), 0x1p127F);
  EXPECT_TRUE(std::isnan(small_float_value(DType::float8e8m0, 0xFF)));
  // Noune et al. 2022, "8-bit Numerical Formats for Deep Neural Networks".
  EXPECT_EQ(small_float_value(DType::float8e4m3fnuz, 0x7F), 240.0F);
  EXPECT_EQ(small_float_value(DType::float8e5m2fnuz, 0x7F), 57344.0F);
  EXPECT_TRUE(std::isnan(small_float_value(DType::float8e4m3fnuz, 0x80)));
}

// The tables of ONNX's operator Cast.
TEST(SmallFloat, SaturatesAsOnnxSays) {
  for (const float large : {infinity, 1e30F}) {
    EXPECT_EQ(code(DType::float8e4m3fn, large), 0x7EU);
    EXPECT_EQ(code(DType::float8e4m3fn, -large), 0xFEU);
    EXPECT_EQ(code(DType::float8e4m3fnuz, large), 0x7FU);
    EXPECT_EQ(code(DType::float8e5m2, large), 0x7BU);
    EXPECT_EQ(code(DType::float8e5m2fnuz, -large), 0xFFU);
    EXPECT_EQ(code(DType::float8e4m3fn, large, Overflow::special), 0x7FU);
    EXPECT_EQ(code(DType::float8e4m3fnuz, -large, Overflow::special), 0x80U);
    EXPECT_EQ(code(DType::float8e5m2, -large, Overflow::special), 0xFCU);
    EXPECT_EQ(code(DType::float8e5m2fnuz, large, Overflow::special), 0x80U);
    EXPECT_EQ(code(DType::float4e2m1, large, Overflow::special), 0x7U);
    EXPECT_EQ(code(DType::float8e8m0, large), large == infinity ? 0xFEU : 0xE3U);
  }
  EXPECT_EQ(code(DType::float8e8m0, infinity, Overflow::special), 0xFFU);
  EXPECT_EQ(code(DType::float8e4m3fn, -0.0F), 0x80U);
  EXPECT_EQ(code(DType::float8e4m3fnuz, -0.0F), 0x00U);
  EXPECT_EQ(code(DType::float8e5m2fnuz, -1e-30F), 0x00U);
  for (const DType dtype :
       {DType::float8e4m3fn, DType::float8e4m3fnuz, DType::float8e5m2, DType::float8e5m2fnuz, DType::float8e8m0}) {
    EXPECT_TRUE(std::isnan(rounded_to_small_float(dtype, not_a_number, Overflow::saturate)));
    EXPECT_TRUE(std::isnan(rounded_to_small_float(dtype, not_a_number, Overflow::special)));
  }
}

TEST(SmallFloat, EveryCodeKeepsItsValue) {
  for (const DType dtype : signed_types) {
    for (unsigned bits = 0; bits < 1U << bit_width(dtype); ++bits) {
      const float value = small_float_value(dtype, static_cast<std::uint8_t>(bits));
      if (!std::isnan(value)) EXPECT_EQ(code(dtype, value, Overflow::special), bits) << to_string(dtype);
    }
  }
  for (unsigned bits = 0; bits < 0xFF; ++bits) {
    EXPECT_EQ(code(DType::float8e8m0, small_float_value(DType::float8e8m0, static_cast<std::uint8_t>(bits))), bits);
  }
}

// The nearest of all values, found by comparing with each; ties to the even code.
unsigned nearest_code(DType dtype, float magnitude) {
  unsigned best = 0;
  double distance = std::numeric_limits<double>::infinity();
  for (unsigned bits = 0; bits < 1U << (bit_width(dtype) - 1); ++bits) {
    const double value = small_float_value(dtype, static_cast<std::uint8_t>(bits));
    if (!std::isfinite(value)) continue;
    const double other = std::abs(value - static_cast<double>(magnitude));
    if (other < distance || (other == distance && bits % 2 == 0)) {
      best = bits;
      distance = other;
    }
  }
  return best;
}

TEST(SmallFloat, RoundsToTheNearest) {
  std::mt19937 generator(1);
  for (const DType dtype : signed_types) {
    for (int i = 0; i < 2000; ++i) {
      const float value = std::ldexp(static_cast<float>(generator() % 4096), static_cast<int>(generator() % 40) - 30);
      EXPECT_EQ(code(dtype, value), nearest_code(dtype, value)) << to_string(dtype) << " " << value;
    }
    // Half way between neighbours.
    for (unsigned bits = 0; bits + 1 < 1U << (bit_width(dtype) - 1); ++bits) {
      const float low = small_float_value(dtype, static_cast<std::uint8_t>(bits));
      const float middle = (low + small_float_value(dtype, static_cast<std::uint8_t>(bits + 1))) / 2;
      if (!std::isfinite(middle)) continue;
      EXPECT_EQ(code(dtype, middle), bits % 2 == 0 ? bits : bits + 1) << to_string(dtype) << " " << middle;
      EXPECT_EQ(code(dtype, std::nextafter(middle, 0.0F)), bits);
      EXPECT_EQ(code(dtype, std::nextafter(middle, infinity)), bits + 1);
    }
  }
}

TEST(SmallFloat, PowersOfTwo) {
  EXPECT_EQ(power_of_two_above(5.0F), 8.0F);
  EXPECT_EQ(power_of_two_above(-4.0F), 4.0F);
  EXPECT_EQ(power_of_two_below(7.9F), 4.0F);
  EXPECT_EQ(power_of_two_above(3e38F), infinity);
  EXPECT_EQ(power_of_two_below(0x1.8p-127F), 0x1p-127F);
  EXPECT_EQ(power_of_two_above(0.0F), 0.0F);
  EXPECT_EQ(code(DType::float8e8m0, 1.5F), 0x80U);  // a tie goes up
  EXPECT_EQ(code(DType::float8e8m0, 1.49F), 0x7FU);
  EXPECT_EQ(code(DType::float8e8m0, 0x1.8p-127F), 0x01U);
  EXPECT_EQ(code(DType::float8e8m0, 0x1.7p-127F), 0x00U);
  EXPECT_EQ(code(DType::float8e8m0, 0x1p-140F), 0x00U);
  EXPECT_EQ(code(DType::float8e8m0, 0x1p-140F, Overflow::special), 0xFFU);
}

#ifdef __FLT16_MAX__
TEST(SmallFloat, RoundingToOddLosesNothingForTheNextRounding) {
  std::mt19937_64 generator(2);
  for (int i = 0; i < 100000; ++i) {
    // Close to ties of binary16: 11 bits, a half, and a little.
    const auto top = static_cast<double>(1024 + generator() % 1024) + 0.5;
    const double little = std::ldexp(static_cast<double>(generator() % 7) - 3.0, -40);
    const double value = std::ldexp(top + little, static_cast<int>(generator() % 30) - 26);
    const auto judge = std::bit_cast<std::uint16_t>(static_cast<_Float16>(value));
    EXPECT_EQ(Half(rounded_to_odd(value)).bits, judge) << value;
  }
}
#endif

// Bits from the lowest of the first byte on.
TEST(Packed, TwoFourAndSixBits) {
  const std::array two{std::byte{0b11'10'01'00}, std::byte{0b10}};
  std::array<std::byte, 5> elements{};
  unpack_elements(DType::uint2, two, elements);
  EXPECT_EQ(elements, (std::array{std::byte{0}, std::byte{1}, std::byte{2}, std::byte{3}, std::byte{2}}));
  unpack_elements(DType::int2, two, elements);
  EXPECT_EQ(elements, (std::array{std::byte{0}, std::byte{1}, std::byte{0xFE}, std::byte{0xFF}, std::byte{0xFE}}));
  std::array<std::byte, 2> again{};
  pack_elements(DType::int2, elements, again);
  EXPECT_EQ(again, two);

  const std::array four{std::byte{0x7A}, std::byte{0x08}};
  std::array<std::byte, 3> nibbles{};
  unpack_elements(DType::int4, four, nibbles);
  EXPECT_EQ(nibbles, (std::array{std::byte{0xFA}, std::byte{7}, std::byte{0xF8}}));

  // 0x3F, 0x01, 0x20, 0x15, 0x2A: each from bit 6 * i on.
  const std::array<std::byte, 5> codes{std::byte{0x3F}, std::byte{0x01}, std::byte{0x20}, std::byte{0x15},
                                       std::byte{0x2A}};
  std::array<std::byte, 4> six{};
  pack_elements(DType::float6e2m3, codes, six);
  EXPECT_EQ(six, (std::array{std::byte{0x7F}, std::byte{0x00}, std::byte{0x56}, std::byte{0x2A}}));
  std::array<std::byte, 5> unpacked{};
  unpack_elements(DType::float6e2m3, six, unpacked);
  EXPECT_EQ(unpacked, codes);
  EXPECT_EQ(byte_count(DType::float6e3m2, 5), 4U);
  EXPECT_EQ(byte_count(DType::uint2, 5), 2U);
}

}  // namespace
}  // namespace lapilli
