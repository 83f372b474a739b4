#pragma once

#include <cstdint>
#include <vector>

#include "ops/fused.h"

namespace lapilli {

/// Which elements along an axis a result is made of.
enum class SamplingKernel : std::uint8_t { nearest, linear, cubic };

/// Which neighbour a coordinate between two elements means.
enum class NearestRounding : std::uint8_t { half_down, half_up, down, up };

/// How one axis is resampled. Result i lies at the coordinate (i * step + begin) / divisor of the input, where
/// element j lies at j: a fraction, so that no tie is lost. Divisors are positive.
struct SamplingAxis {
  int axis = 0;
  Dim size;  ///< of the output
  Dim step = 1, begin = 0, divisor = 1;
  /// With antialias, kernels are stretched by spread / spread_divisor where that is more than 1.
  Dim spread = 1, spread_divisor = 1;
  NearestRounding rounding = NearestRounding::half_down;
};

struct SamplingAttributes {
  SamplingKernel kernel = SamplingKernel::linear;
  float cubic_coefficient = -0.75F;
  bool exclude_outside = false;  ///< weights of elements outside are dropped, and the rest scaled to the sum 1
  bool antialias = false;
  /// The coordinates above are relative to a region, input 1: 0 is its start and 1 its end, both relative to the
  /// first and last element of the input. Outside of the input the result is `extrapolation`.
  bool crop = false;
  float extrapolation = 0;
  std::vector<SamplingAxis> axes;  ///< one to three
  /// Of the results, which are cut off where these are integers (cut_off). Undefined: that of the data. Nearest has
  /// no other.
  DType result = DType::undefined;
};

/// One axis with numbers for sizes, and what becomes of it.
struct SamplingTable {
  std::int64_t taps = 1;            ///< elements that a result is made of
  std::vector<std::int32_t> first;  ///< of each result; `outside` for one that is extrapolated
  std::vector<double> weights;      ///< [results, taps]; empty for nearest
  static constexpr std::int32_t outside = INT32_MIN;
};

/// Elements at even steps along some axes of the input, interpolated in between: resizing of every kind.
///
/// Elements past the edge are the edge's. Inputs: the data, any numbers; with crop, a region [starts of the axes...,
/// their ends...] of float64 where the data are, else of float32.
class Sampling final : public FusedOperator {
 public:
  explicit Sampling(SamplingAttributes attributes, PointwiseChain epilogue = {},
                    DType output_dtype = DType::undefined)
      : FusedOperator(std::move(epilogue), output_dtype), attributes_(std::move(attributes)) {}

  [[nodiscard]] std::string_view name() const override { return "Sampling"; }
  [[nodiscard]] std::size_t own_input_count() const override { return attributes_.crop ? 2 : 1; }
  [[nodiscard]] std::shared_ptr<const FusedOperator> with_epilogue(PointwiseChain chain,
                                                                   DType output_dtype) const override;
  [[nodiscard]] Dim operation_count(std::span<const Fact> inputs, std::span<const Fact> outputs) const override;
  [[nodiscard]] const SamplingAttributes& sampling() const noexcept { return attributes_; }

  /// Elements that each result along an axis is made of.
  [[nodiscard]] Dim taps(const SamplingAxis& axis) const;
  /// The table of axis number `index`, whose sizes are numbers, for an input of `extent` elements along it.
  [[nodiscard]] SamplingTable table(std::size_t index, std::int64_t extent, std::span<const double> region) const;
  /// The type of the results before the epilogue.
  [[nodiscard]] DType result_dtype(DType data) const noexcept {
    return attributes_.result == DType::undefined ? data : attributes_.result;
  }
  /// The type of the region for data of this one.
  static DType region_dtype(DType data) noexcept { return data == DType::float64 ? DType::float64 : DType::float32; }

 protected:
  [[nodiscard]] std::vector<Fact> infer_own(std::span<const Fact> inputs, Assumptions& assumptions) const override;
  [[nodiscard]] std::vector<Tensor> evaluate_own(std::span<const Tensor> inputs) const override;
  [[nodiscard]] std::string own_attributes() const override;

 private:
  SamplingAttributes attributes_;
};

/// The weight of an element `distance` away from the coordinate, before weights are scaled to the sum 1.
double sampling_weight(SamplingKernel kernel, double distance, double cubic_coefficient) noexcept;

/// Interpolated float64 `numbers` as `dtype`. Integers are cut off as a cast cuts them, but what is an integer except
/// for the rounding of its weights stays that integer, and what is out of range becomes the nearest that is in it.
Tensor cut_off(const Tensor& numbers, DType dtype);

/// The elements of `input` with the `numbers` (float64, from 1 on); `fill`, one element of its type, for 0.
Tensor take_elements(const Tensor& input, const Tensor& numbers, const Tensor& fill);

}  // namespace lapilli
