#pragma once

#include <cstdint>
#include <vector>

#include "ops/sampling.h"

namespace lapilli {

/// What lies outside of the data.
enum class GridPadding : std::uint8_t { zeros, border, reflection };

/// A number that depends on the place in the output alone: offset + sum over spatial axes of steps[i] * index[i].
struct GridBase {
  Dim offset;
  std::vector<std::int64_t> steps;  ///< one a spatial axis of the output
};

struct GridAttributes {
  SamplingKernel kernel = SamplingKernel::linear;
  GridPadding padding = GridPadding::zeros;
  /// Of coordinates from -1 to 1: whether these are the centres of the first and last element, or their outer edges.
  bool align_corners = false;
  /// Coordinates count elements, from `base` on, one for each spatial axis of the data; else they run from -1 to 1.
  bool in_elements = false;
  std::vector<GridBase> base;
  /// Tuples name the last axis first.
  bool last_axis_first = true;
};

/// Elements of the data at places that coordinates say, interpolated in between.
///
/// Inputs: data [N, C, d1..dk] of any numbers, k from 1 to 3, and a grid [N, o1..om, k] of floating-point
/// coordinates. Output [N, C, o1..om]; integers are cut off (cut_off). Nearest takes the even one of two neighbours
/// at a tie; cubic has coefficient -0.75.
class GridSampling final : public FusedOperator {
 public:
  explicit GridSampling(GridAttributes attributes, PointwiseChain epilogue = {},
                        DType output_dtype = DType::undefined)
      : FusedOperator(std::move(epilogue), output_dtype), attributes_(std::move(attributes)) {}

  [[nodiscard]] std::string_view name() const override { return "GridSampling"; }
  [[nodiscard]] std::size_t own_input_count() const override { return 2; }
  [[nodiscard]] std::shared_ptr<const FusedOperator> with_epilogue(PointwiseChain chain,
                                                                   DType output_dtype) const override;
  [[nodiscard]] Dim operation_count(std::span<const Fact> inputs, std::span<const Fact> outputs) const override;
  [[nodiscard]] const GridAttributes& grid() const noexcept { return attributes_; }

 protected:
  [[nodiscard]] std::vector<Fact> infer_own(std::span<const Fact> inputs, Assumptions& assumptions) const override;
  [[nodiscard]] std::vector<Tensor> evaluate_own(std::span<const Tensor> inputs) const override;
  [[nodiscard]] std::string own_attributes() const override;

 private:
  GridAttributes attributes_;
};

}  // namespace lapilli
