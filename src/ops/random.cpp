#include "ops/random.h"

#include <cmath>
#include <format>
#include <numbers>

#include "base/failure.h"
#include "ops/pointwise.h"

namespace lapilli {
namespace {

constexpr double fraction_24 = 1.0 / (1 << 24U);

// The arithmetic of src/kernels/random.comp.
double draw(const RandomAttributes& random, const std::array<std::uint32_t, 4>& words) {
  if (random.distribution == Distribution::normal) {
    const double radius = std::sqrt(-2 * std::log(((words[0] >> 8U) + 1) * fraction_24));
    return random.first + random.second * radius * std::cos(2 * std::numbers::pi * (words[1] >> 8U) * fraction_24);
  }
  double fraction = (words[0] >> 8U) * fraction_24;
  if (random.dtype == DType::float64) fraction = fraction + (words[1] >> 3U) * std::ldexp(1.0, -53);
  return random.first + fraction * (random.second - random.first);
}

}  // namespace

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) noexcept {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53U} * counter[0], b = std::uint64_t{0xCD9E8D57U} * counter[2];
    counter = {static_cast<std::uint32_t>(b >> 32U) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
               static_cast<std::uint32_t>(a >> 32U) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key[0] += 0x9E3779B9U;
    key[1] += 0xBB67AE85U;
  }
  return counter;
}

std::string Random::attributes() const {
  return std::format("{} ({}, {}), seed {}, stream {}",
                     attributes_.distribution == Distribution::uniform ? "uniform" : "normal", attributes_.first,
                     attributes_.second, attributes_.seed, attributes_.stream);
}

std::vector<Fact> Random::infer(std::span<const Fact> /*inputs*/, Assumptions& /*assumptions*/) const {
  if (!is_floating_point(attributes_.dtype)) {
    fail(ErrorCode::invalid_model, "random numbers of type {}", to_string(attributes_.dtype));
  }
  return {Fact::of(attributes_.dtype, attributes_.shape)};
}

std::vector<Tensor> Random::evaluate(std::span<const Tensor> /*inputs*/) const {
  const auto shape = to_numbers(attributes_.shape);
  if (!shape || bit_width(attributes_.dtype) < 16) return {};
  Tensor result = Tensor::allocate(DType::float64, *shape);
  const std::array key{static_cast<std::uint32_t>(attributes_.seed),
                       static_cast<std::uint32_t>(attributes_.seed >> 32U)};
  std::uint32_t number = 0;
  for (double& element : result.mutable_elements<double>()) {
    element = draw(attributes_, philox({number++, 0, attributes_.stream, 0}, key));
  }
  return {evaluate_chain({}, {&result, 1}, attributes_.dtype)};
}

}  // namespace lapilli
