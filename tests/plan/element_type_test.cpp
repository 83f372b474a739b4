// Element types through the kernels: conversions, moves, and what quantization needs of divisions.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "base/comparison.h"
#include "base/packed.h"
#include "base/small_float.h"
#include "ops/gather.h"
#include "ops/movement.h"
#include "ops/pointwise.h"
#include "support/node_runner.h"

namespace lapilli::testing {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

OperatorPointer cast_to(DType dtype, PointwiseFunction function = PointwiseFunction::cast) {
  return make_pointwise(function, dtype, 1);
}

std::vector<int> codes_on_device(DType dtype, PointwiseFunction function, const std::vector<float>& values) {
  const Tensor source = float_tensor({static_cast<std::int64_t>(values.size())}, values);
  const Tensor codes = unpacked_tensor(run_node({cast_to(dtype, function), {source}, {}, Precision::float32})[0]);
  const auto bytes = codes.bytes();
  std::vector<int> result;
  for (const std::byte byte : bytes) result.push_back(static_cast<int>(byte));
  return result;
}

// From the tables of ONNX's operator Cast and of the OCP specifications.
TEST(ElementTypes, KnownCodes) {
  using enum PointwiseFunction;
  EXPECT_EQ(
      codes_on_device(DType::float8e4m3fn, cast, {1, -0.0F, 448, 464, 465, infinity, -1e9F, 0x1p-10F, 0x1.8p-9F}),
      (std::vector{0x38, 0x80, 0x7E, 0x7E, 0x7E, 0x7E, 0xFE, 0x00, 0x02}));
  EXPECT_EQ(codes_on_device(DType::float8e4m3fn, cast_unsaturated, {464, 465, -infinity, not_a_number}),
            (std::vector{0x7E, 0x7F, 0xFF, 0x7F}));
  EXPECT_EQ(codes_on_device(DType::float8e5m2, cast_unsaturated, {57344, 61439, 61440, -infinity}),
            (std::vector{0x7B, 0x7B, 0x7C, 0xFC}));
  EXPECT_EQ(codes_on_device(DType::float8e4m3fnuz, cast, {-0.0F, 240, 300, 1}),
            (std::vector{0x00, 0x7F, 0x7F, 0x40}));
  EXPECT_EQ(codes_on_device(DType::float4e2m1, cast, {6, 7, -5, 0.25F, 0.75F, -infinity}),
            (std::vector{0x7, 0x7, 0xE, 0x0, 0x2, 0xF}));
  EXPECT_EQ(codes_on_device(DType::float8e8m0, cast, {1, 1.5F, 1.4F, 0x1p127F, infinity}),
            (std::vector{0x7F, 0x80, 0x7F, 0xFE, 0xFE}));
}

std::vector<float> hard_values(DType dtype) {
  std::vector<float> values{0, -0.0F, infinity, -infinity, not_a_number, 1e30F, -1e30F, 1e-30F, 65504, 65520, 1e-6F};
  std::mt19937 generator(3);
  for (int i = 0; i < 200; ++i) {
    const float size = std::ldexp(static_cast<float>(generator() % 512 + 1), static_cast<int>(generator() % 40) - 28);
    values.push_back(generator() % 2 == 0 ? size : -size);
  }
  if (dtype == DType::float8e8m0) {
    for (float& value : values) value = std::abs(value);
  }
  return values;
}

// There and back in one chain, where no memory lies between, and stored between.
TEST(ElementTypes, RoundAsTheHostDoes) {
  for (const DType dtype :
       {DType::float16, DType::bfloat16, DType::float8e4m3fn, DType::float8e4m3fnuz, DType::float8e5m2,
        DType::float8e5m2fnuz, DType::float4e2m1, DType::float6e2m3, DType::float6e3m2, DType::float8e8m0}) {
    const std::vector<float> values = hard_values(dtype);
    const Tensor source = float_tensor({static_cast<std::int64_t>(values.size())}, values);
    for (const auto function : {PointwiseFunction::cast, PointwiseFunction::cast_unsaturated}) {
      PointwiseChain chain;
      const std::uint8_t narrow = chain.add(function, dtype, {0, 0, 0});
      chain.add(PointwiseFunction::cast, DType::float32, {narrow, 0, 0});
      for (const OperatorPointer& op :
           {cast_to(dtype, function), OperatorPointer(std::make_shared<Pointwise>(chain, DType::float32))}) {
        const Tensor result = run_node({op, {source}, {}, Precision::float32})[0];
        const Difference difference = compare(result, op->evaluate(std::span(&source, 1))[0]);
        EXPECT_EQ(difference.mismatch, "") << to_string(dtype) << " " << op->attributes();
        EXPECT_EQ(difference.relative_error, 0) << to_string(dtype) << " " << op->attributes();
      }
    }
  }
}

// All bits arrive, those of codes that are no numbers too.
TEST(ElementTypes, MovesKeepEveryCode) {
  for (const DType dtype : {DType::float8e4m3fnuz, DType::float8e5m2, DType::float6e3m2, DType::int4, DType::uint2}) {
    Tensor codes = Tensor::allocate(DType::uint8, {16, 16});
    for (std::size_t i = 0; i < 256; ++i)
      codes.mutable_elements<std::uint8_t>()[i] = static_cast<std::uint8_t>(i * 37 % (1U << bit_width(dtype)));
    const Tensor source = is_packed(dtype) ? packed_tensor(dtype, codes) : bit_cast_tensor(dtype, codes);
    const Tensor turned =
        run_node({std::make_shared<Transpose>(std::vector{1, 0}), {source}, {}, Precision::float32})[0];
    const Tensor chosen =
        run_node({std::make_shared<Gather>(1), {source, integer_tensor({2}, {3, -1})}, {}, Precision::float32})[0];
    const auto code = [](const Tensor& tensor, std::size_t index) {
      return static_cast<unsigned>(unpacked_tensor(tensor).bytes()[index]);
    };
    for (std::size_t i = 0; i < 16; ++i) {
      EXPECT_EQ(code(turned, i * 16 + 5), code(source, std::size_t{5} * 16 + i)) << to_string(dtype);
      EXPECT_EQ(code(chosen, i * 2), code(source, i * 16 + 3)) << to_string(dtype);
      EXPECT_EQ(code(chosen, i * 2 + 1), code(source, i * 16 + 15)) << to_string(dtype);
    }
  }
}

// Correctly rounded, as the host's own division is: ties of quantization depend on the last bit.
TEST(ElementTypes, DivisionIsExact) {
  std::mt19937 generator(4);
  std::vector<float> left, right, expected;
  for (int i = 0; i < 5000; ++i) {
    left.push_back(
        std::ldexp(static_cast<float>(generator() % (1U << 24U)) + 1, static_cast<int>(generator() % 40) - 40));
    right.push_back(
        std::ldexp(static_cast<float>(generator() % (1U << 24U)) + 1, static_cast<int>(generator() % 20) - 30));
    expected.push_back(left.back() / right.back());
  }
  const auto op = make_pointwise(PointwiseFunction::divide, DType::float32, 2);
  EXPECT_EQ(
      floats_of(run_node({op, {float_tensor({5000}, left), float_tensor({5000}, right)}, {}, Precision::float32})[0]),
      expected);
}

// Numbers of any bits with each other, so that quotients are of any size; zeros, infinities and what is no number
// too.
template <class T, class Bits>
void expect_exact_remainders(DType dtype) {
  constexpr auto infinite = std::numeric_limits<T>::infinity();
  const std::vector<T> edges{0,
                             -T{0},
                             1,
                             -1,
                             3,
                             infinite,
                             -infinite,
                             std::numeric_limits<T>::quiet_NaN(),
                             std::numeric_limits<T>::denorm_min(),
                             std::numeric_limits<T>::max()};
  std::vector<T> left, right;
  for (const T x : edges) {
    for (const T y : edges) {
      left.push_back(x);
      right.push_back(y);
    }
  }
  std::mt19937_64 generator(6);
  for (int i = 0; i < 20000; ++i) {
    left.push_back(std::bit_cast<T>(static_cast<Bits>(generator())));
    const T any = std::bit_cast<T>(static_cast<Bits>(generator()));
    right.push_back(i % 2 == 0 ? any
                               : std::ldexp(left.back(), -static_cast<int>(generator() % 60)) * static_cast<T>(0.9));
  }
  const std::vector<std::int64_t> shape{static_cast<std::int64_t>(left.size())};
  const std::vector<Tensor> inputs{Tensor::of<T>(dtype, shape, std::span<const T>(left)),
                                   Tensor::of<T>(dtype, shape, std::span<const T>(right))};
  const auto of = [&](PointwiseFunction function) {
    return run_node({make_pointwise(function, dtype, 2), inputs, {}, Precision::float32})[0];
  };
  const Tensor remainders = of(PointwiseFunction::remainder), modulos = of(PointwiseFunction::modulo);
  const auto same = [](T one, T other) {
    return (std::isnan(one) && std::isnan(other)) || std::bit_cast<Bits>(one) == std::bit_cast<Bits>(other);
  };
  for (std::size_t i = 0; i < left.size(); ++i) {
    const T x = left[i], y = right[i], rest = std::fmod(x, y);
    const T turned = rest == 0 ? std::copysign(rest, y) : std::signbit(rest) == std::signbit(y) ? rest : rest + y;
    EXPECT_TRUE(same(remainders.elements<T>()[i], rest)) << x << " " << y << " " << remainders.elements<T>()[i];
    // A device may take subnormals for 0 in the sum.
    if (std::abs(y) < T{0x1p30} * std::numeric_limits<T>::min()) continue;
    EXPECT_TRUE(same(modulos.elements<T>()[i], turned)) << x << " " << y << " " << modulos.elements<T>()[i];
  }
}

TEST(ElementTypes, RemaindersAreExact) {
  expect_exact_remainders<float, std::uint32_t>(DType::float32);
  expect_exact_remainders<double, std::uint64_t>(DType::float64);
}

// Subnormals are numbers: they are true, whatever the device makes of them in arithmetic.
TEST(ElementTypes, SubnormalsAreTrue) {
  const Tensor source = float_tensor({4}, {0, -0.0F, 0x1p-140F, -0x1p-149F});
  const Tensor result = run_node({cast_to(DType::boolean), {source}, {}, Precision::float32})[0];
  EXPECT_EQ(integers_of(result), (std::vector<std::int64_t>{0, 0, 1, 1}));
}

}  // namespace
}  // namespace lapilli::testing
