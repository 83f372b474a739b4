#include "ops/sampling.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <format>
#include <functional>
#include <numeric>

#include "base/checked.h"
#include "base/text.h"
#include "ops/host_loop.h"

namespace lapilli {
namespace {

constexpr std::size_t most_axes = 3;  // src/kernels/sampling.comp

std::string_view to_string(SamplingKernel kernel) {
  return kernel == SamplingKernel::nearest ? "nearest" : kernel == SamplingKernel::linear ? "linear" : "cubic";
}

// A coordinate as whole + fraction, which is on the same side of 1/2 as rest / divisor, 0 <= rest < divisor.
struct Coordinate {
  std::int64_t whole = 0, rest = 0, divisor = 1;
  double fraction = 0;
};

Coordinate coordinate_of(std::int64_t index, std::int64_t step, std::int64_t begin, std::int64_t divisor) {
  const std::int64_t numerator = checked_add(checked_multiply(index, step), begin);
  const std::int64_t rest = ((numerator % divisor) + divisor) % divisor;
  return {(numerator - rest) / divisor, rest, divisor, static_cast<double>(rest) / static_cast<double>(divisor)};
}

// A coordinate that is no fraction of integers.
Coordinate coordinate_of(double value) {
  const double whole = std::floor(value), fraction = value - whole;
  const std::int64_t quarters = fraction == 0 ? 0 : fraction < 0.5 ? 1 : fraction == 0.5 ? 2 : 3;
  return {static_cast<std::int64_t>(whole), quarters, 4, fraction};
}

std::int64_t nearest(const Coordinate& coordinate, NearestRounding rounding) {
  const std::int64_t twice = 2 * coordinate.rest;
  const bool next = rounding == NearestRounding::half_down ? twice > coordinate.divisor
                    : rounding == NearestRounding::half_up ? twice >= coordinate.divisor
                                                           : rounding == NearestRounding::up && coordinate.rest > 0;
  return coordinate.whole + (next ? 1 : 0);
}

// Everything about one axis as numbers.
struct AxisNumbers {
  std::int64_t size, step, begin, divisor;
  double stretch;  // of the kernel

  AxisNumbers(const SamplingAxis& axis, bool antialias)
      : size(*axis.size.constant()),
        step(*axis.step.constant()),
        begin(*axis.begin.constant()),
        divisor(*axis.divisor.constant()),
        stretch(antialias ? std::max(1.0, static_cast<double>(*axis.spread.constant()) /
                                              static_cast<double>(*axis.spread_divisor.constant()))
                          : 1.0) {}
};

// Adds up the input along one axis; the others stay.
Tensor apply_weights(const Tensor& input, std::size_t axis, const SamplingTable& table, double extrapolation) {
  std::vector<std::int64_t> sizes = input.shape();
  const std::int64_t extent = sizes[axis];
  const auto inner = std::accumulate(sizes.begin() + static_cast<std::ptrdiff_t>(axis) + 1, sizes.end(),
                                     std::int64_t{1}, std::multiplies<>());
  sizes[axis] = static_cast<std::int64_t>(table.first.size());
  Tensor output = Tensor::allocate(DType::float64, sizes);
  const auto source = input.elements<double>();
  const auto target = output.mutable_elements<double>();
  for (std::int64_t i = 0; i < output.element_count(); ++i) {
    const std::int64_t column = i % inner, row = i / inner % sizes[axis], outer = i / inner / sizes[axis];
    const std::int64_t first = table.first[static_cast<std::size_t>(row)];
    double& result = target[static_cast<std::size_t>(i)];
    result = first == SamplingTable::outside ? extrapolation : 0;
    for (std::int64_t tap = 0; tap < table.taps && first != SamplingTable::outside; ++tap) {
      const double weight = table.weights[static_cast<std::size_t>(row * table.taps + tap)];
      const std::int64_t place = std::clamp<std::int64_t>(first + tap, 0, extent - 1);
      if (weight != 0) result += weight * source[static_cast<std::size_t>((outer * extent + place) * inner + column)];
    }
  }
  return output;
}

}  // namespace

double sampling_weight(SamplingKernel kernel, double distance, double cubic_coefficient) noexcept {
  const double x = std::abs(distance), a = cubic_coefficient;
  if (kernel == SamplingKernel::linear) return std::max(0.0, 1 - x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

std::shared_ptr<const FusedOperator> Sampling::with_epilogue(PointwiseChain chain, DType output_dtype) const {
  return std::make_shared<Sampling>(attributes_, std::move(chain), output_dtype);
}

std::string Sampling::own_attributes() const {
  std::vector<std::string> parts{std::string(to_string(attributes_.kernel))};
  if (attributes_.antialias) parts.emplace_back("antialias");
  if (attributes_.crop) parts.emplace_back("of a region");
  if (attributes_.result != DType::undefined) parts.push_back(std::format("to {}", to_string(attributes_.result)));
  for (const SamplingAxis& axis : attributes_.axes) {
    parts.push_back(std::format("axis {} to {} at (i*({})+{})/({})", axis.axis, axis.size.to_string(),
                                axis.step.to_string(), axis.begin.to_string(), axis.divisor.to_string()));
  }
  return join(parts, ", ");
}

Dim Sampling::taps(const SamplingAxis& axis) const {
  if (attributes_.kernel == SamplingKernel::nearest) return 1;
  const Dim half = attributes_.kernel == SamplingKernel::linear ? 1 : 2;
  if (!attributes_.antialias) return Dim(2) * half;
  return Dim(2) * Dim::ceil_divide(half * Dim::maximum(axis.spread, axis.spread_divisor), axis.spread_divisor);
}

Tensor cut_off(const Tensor& numbers, DType dtype) {
  if (is_floating_point(dtype)) return evaluate_chain({}, {&numbers, 1}, dtype);
  Tensor cut = Tensor::allocate(DType::float64, numbers.shape());
  const int bits = static_cast<int>(bit_width(dtype));
  const double high = std::ldexp(1.0, is_signed_integer(dtype) ? bits - 1 : bits) - 1;
  const double low = is_signed_integer(dtype) ? -std::ldexp(1.0, bits - 1) : 0;
  constexpr double nudge = 1.0 / 8192;
  std::ranges::transform(numbers.elements<double>(), cut.mutable_elements<double>().begin(),
                         [&](double x) { return x == 0 ? x : std::clamp(x + std::copysign(nudge, x), low, high); });
  return evaluate_chain({}, {&cut, 1}, dtype);
}

Tensor take_elements(const Tensor& input, const Tensor& numbers, const Tensor& fill) {
  Tensor output = Tensor::allocate(input.dtype(), numbers.shape());
  const std::size_t width = bit_width(input.dtype()) / 8;
  for (std::size_t i = 0; i < static_cast<std::size_t>(output.element_count()); ++i) {
    const auto number = static_cast<std::size_t>(numbers.elements<double>()[i]);
    const std::byte* source = number == 0 ? fill.bytes().data() : input.bytes().data() + (number - 1) * width;
    std::memcpy(output.mutable_bytes().data() + i * width, source, width);
  }
  return output;
}

SamplingTable Sampling::table(std::size_t index, std::int64_t extent, std::span<const double> region) const {
  const SamplingAxis& axis = attributes_.axes[index];
  const AxisNumbers numbers(axis, attributes_.antialias);
  SamplingTable result;
  result.taps = *taps(axis).constant();
  std::vector<double> weights(static_cast<std::size_t>(result.taps));
  for (std::int64_t i = 0; i < numbers.size; ++i) {
    Coordinate at = coordinate_of(i, numbers.step, numbers.begin, numbers.divisor);
    if (attributes_.crop) {
      const double start = region[index], end = region[index + attributes_.axes.size()];
      const double relative = static_cast<double>(at.whole) + at.fraction, last = static_cast<double>(extent - 1);
      const double place = last * (start + (end - start) * relative);
      const bool inside = place >= 0 && place <= last;
      at = inside ? coordinate_of(place) : Coordinate{};
      if (!inside) {
        result.first.push_back(SamplingTable::outside);
        if (attributes_.kernel != SamplingKernel::nearest)
          result.weights.insert(result.weights.end(), weights.size(), 0.0);
        continue;
      }
    }
    if (attributes_.kernel == SamplingKernel::nearest) {
      result.first.push_back(
          static_cast<std::int32_t>(std::clamp<std::int64_t>(nearest(at, axis.rounding), 0, extent - 1)));
      continue;
    }
    const std::int64_t before = result.taps / 2 - 1, first = at.whole - before;
    double total = 0;
    for (std::int64_t tap = 0; tap < result.taps; ++tap) {
      const double distance = (static_cast<double>(tap - before) - at.fraction) / numbers.stretch;
      const bool dropped = attributes_.exclude_outside && (first + tap < 0 || first + tap >= extent);
      double& weight = weights[static_cast<std::size_t>(tap)];
      weight = dropped ? 0 : sampling_weight(attributes_.kernel, distance, attributes_.cubic_coefficient);
      total += weight;
    }
    result.first.push_back(static_cast<std::int32_t>(first));
    for (const double weight : weights) result.weights.push_back(weight / total);
  }
  return result;
}

std::vector<Fact> Sampling::infer_own(std::span<const Fact> inputs, Assumptions& assumptions) const {
  const Fact& input = inputs[0];
  if (attributes_.axes.empty() || attributes_.axes.size() > most_axes) {
    fail(ErrorCode::internal, "{} axes are sampled at once", attributes_.axes.size());
  }
  const bool interpolates = attributes_.kernel != SamplingKernel::nearest;
  if (interpolates ? input.dtype == DType::string : result_dtype(input.dtype) != input.dtype) {
    fail(ErrorCode::invalid_model, "{} cannot become {}", input.to_string(), own_attributes());
  }
  Shape shape = input.shape;
  for (const SamplingAxis& axis : attributes_.axes) {
    if (axis.axis < 0 || axis.axis >= input.rank())
      fail(ErrorCode::invalid_model, "axis {} of {}", axis.axis, input.to_string());
    Dim& size = shape[static_cast<std::size_t>(axis.axis)];
    if (assumptions.less(axis.size, 0)) {
      fail(ErrorCode::invalid_model, "axis {} of {} is resized to {}", axis.axis, input.to_string(),
           axis.size.to_string());
    }
    if (assumptions.equal(size, 0) && !assumptions.equal(axis.size, 0)) {
      fail(ErrorCode::invalid_model, "axis {} of {} has no elements to resize to {}", axis.axis, input.to_string(),
           axis.size.to_string());
    }
    size = axis.size;
  }
  if (attributes_.crop && (inputs[1].dtype != region_dtype(input.dtype) ||
                           inputs[1].shape != Shape{Dim(static_cast<std::int64_t>(2 * attributes_.axes.size()))})) {
    fail(ErrorCode::invalid_model, "the region {} has not two {} for each of {} axes", inputs[1].to_string(),
         to_string(region_dtype(input.dtype)), attributes_.axes.size());
  }
  return {Fact::of(result_dtype(input.dtype), std::move(shape))};
}

std::vector<Tensor> Sampling::evaluate_own(std::span<const Tensor> inputs) const {
  const Tensor& input = inputs[0];
  if (bit_width(input.dtype()) < 8 || input.dtype() == DType::string) return {};
  Assumptions none({});
  std::vector<Fact> facts;
  for (const Tensor& tensor : inputs) facts.push_back(Fact::of(tensor.dtype(), to_shape(tensor.shape())));
  const std::vector<std::int64_t> sizes = *to_numbers(infer_own(facts, none)[0].shape);
  if (element_count(sizes) == 0) return {Tensor::allocate(result_dtype(input.dtype()), sizes)};
  const Tensor edges = attributes_.crop ? evaluate_chain({}, inputs.subspan(1, 1), DType::float64) : Tensor();
  const std::span<const double> region = attributes_.crop ? edges.elements<double>() : std::span<const double>();
  const bool as_they_are = attributes_.kernel == SamplingKernel::nearest && !is_floating_point(input.dtype());
  Tensor numbers =
      as_they_are ? Tensor::allocate(DType::float64, input.shape()) : evaluate_chain({}, {&input, 1}, DType::float64);
  // The nearest integers keep all their bits: their numbers stand for them.
  if (as_they_are)
    std::iota(numbers.mutable_elements<double>().begin(), numbers.mutable_elements<double>().end(), 1.0);
  for (std::size_t i = 0; i < attributes_.axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(attributes_.axes[i].axis);
    SamplingTable rows = table(i, numbers.shape()[axis], region);
    if (rows.weights.empty()) rows.weights.assign(rows.first.size(), 1.0);
    numbers = apply_weights(numbers, axis, rows, as_they_are ? 0 : attributes_.extrapolation);
  }
  if (!as_they_are) return {cut_off(numbers, result_dtype(input.dtype()))};
  const std::array extrapolation{static_cast<double>(attributes_.extrapolation)};
  return {
      take_elements(input, numbers, cut_off(Tensor::of<double>(DType::float64, {}, extrapolation), input.dtype()))};
}

Dim Sampling::operation_count(std::span<const Fact> /*inputs*/, std::span<const Fact> outputs) const {
  Dim count = element_count(outputs[0].shape);
  for (const SamplingAxis& axis : attributes_.axes) count = count * taps(axis);
  return attributes_.kernel == SamplingKernel::nearest ? Dim(0) : count * Dim(2);
}

}  // namespace lapilli
