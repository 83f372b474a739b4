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
  std::vector<SamplingAxis> axes;  ///< one to three; with antialias, one
};

/// One axis with numbers for sizes, and what becomes of it.
struct SamplingTable {
  std::int64_t taps = 1;            ///< elements that a result is made of
  std::vector<std::int32_t> first;  ///< of each result; `outside` for one that is extrapolated
  std::vector<float> weights;       ///< [results, taps]; empty for nearest
  static constexpr std::int32_t outside = INT32_MIN;
};

/// Elements at even steps along some axes of the input, interpolated in between: resizing of every kind.
///
/// Elements past the edge are the edge's. Inputs: the data, floating-point except for nearest; with crop, a float32
/// region [starts of the axes..., their ends...].
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
  [[nodiscard]] SamplingTable table(std::size_t index, std::int64_t extent, std::span<const float> region) const;

 protected:
  [[nodiscard]] std::vector<Fact> infer_own(std::span<const Fact> inputs, Assumptions& assumptions) const override;
  [[nodiscard]] std::vector<Tensor> evaluate_own(std::span<const Tensor> inputs) const override;
  [[nodiscard]] std::string own_attributes() const override;

 private:
  SamplingAttributes attributes_;
};

/// The weight of an element `distance` away from the coordinate, before weights are scaled to the sum 1.
double sampling_weight(SamplingKernel kernel, double distance, double cubic_coefficient) noexcept;

}  // namespace lapilli
