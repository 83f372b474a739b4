#pragma once

#include <cstdint>

#include "ops/fused.h"

namespace lapilli {

enum class RegionPoolingKind : std::uint8_t {
  aligned_mean,     ///< the mean of interpolated samples
  aligned_maximum,  ///< the largest weighted neighbour of all samples
  maximum,          ///< the largest element; 0 for a bin without any
};

struct RegionPoolingAttributes {
  RegionPoolingKind kind = RegionPoolingKind::aligned_mean;
  std::int64_t height = 1, width = 1;  ///< bins of each region
  /// Samples along each axis of a bin; 0: as many as the bin has elements, rounded up. Of the aligned kinds.
  std::int64_t samples = 0;
  float scale = 1;          ///< of the regions' corners, to elements
  bool half_pixel = false;  ///< element 0 covers 0 to 1 instead of -0.5 to 0.5; such regions may be smaller than 1
};

/// Regions of images, each cut into bins that become one element (RoiAlign, region-of-interest pooling).
///
/// Inputs: data [N, C, H, W], regions [R, 4] of corners x1, y1, x2, y2, both floating-point, and for each region the
/// number of its image, [R] int64 or int32. Output [R, C, height, width]. A number past the last image means that
/// one.
class RegionPooling final : public FusedOperator {
 public:
  explicit RegionPooling(RegionPoolingAttributes attributes, PointwiseChain epilogue = {},
                         DType output_dtype = DType::undefined)
      : FusedOperator(std::move(epilogue), output_dtype), attributes_(attributes) {}

  [[nodiscard]] std::string_view name() const override { return "RegionPooling"; }
  [[nodiscard]] std::size_t own_input_count() const override { return 3; }
  [[nodiscard]] std::shared_ptr<const FusedOperator> with_epilogue(PointwiseChain chain,
                                                                   DType output_dtype) const override;
  [[nodiscard]] const RegionPoolingAttributes& pooling() const noexcept { return attributes_; }

 protected:
  [[nodiscard]] std::vector<Fact> infer_own(std::span<const Fact> inputs, Assumptions& assumptions) const override;
  [[nodiscard]] std::string own_attributes() const override;

 private:
  RegionPoolingAttributes attributes_;
};

}  // namespace lapilli
