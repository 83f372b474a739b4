#include "ops/region_pooling.h"

#include <format>

#include "base/failure.h"

namespace lapilli {

std::shared_ptr<const FusedOperator> RegionPooling::with_epilogue(PointwiseChain chain, DType output_dtype) const {
  return std::make_shared<RegionPooling>(attributes_, std::move(chain), output_dtype);
}

std::string RegionPooling::own_attributes() const {
  constexpr std::array<std::string_view, 3> kinds{"aligned mean", "aligned maximum", "maximum"};
  return std::format("{} in {} x {} bins", kinds[static_cast<std::size_t>(attributes_.kind)], attributes_.height,
                     attributes_.width);
}

std::vector<Fact> RegionPooling::infer_own(std::span<const Fact> inputs, Assumptions& assumptions) const {
  const Fact &data = inputs[0], &regions = inputs[1], &images = inputs[2];
  if (data.rank() != 4 || regions.rank() != 2 || images.rank() != 1 || !assumptions.equal(regions.shape[1], 4) ||
      !assumptions.equal(regions.shape[0], images.shape[0])) {
    fail(ErrorCode::invalid_model, "data {}, regions {} and images {} do not fit together", data.to_string(),
         regions.to_string(), images.to_string());
  }
  const bool integers = images.dtype == DType::int64 || images.dtype == DType::int32;
  if (!is_floating_point(data.dtype) || !is_floating_point(regions.dtype) || !integers) {
    fail(ErrorCode::invalid_model,
         "data {}, regions {} and images {} are not of the types that regions are pooled in", data.to_string(),
         regions.to_string(), images.to_string());
  }
  constexpr std::int64_t most = 1 << 24;
  const auto within = [](std::int64_t value, std::int64_t low) { return value >= low && value <= most; };
  if (!within(attributes_.height, 1) || !within(attributes_.width, 1) || !within(attributes_.samples, 0)) {
    fail(ErrorCode::invalid_model, "{} x {} bins with {} samples along each axis", attributes_.height,
         attributes_.width, attributes_.samples);
  }
  if (!assumptions.less(0, element_count(data.shape)) && assumptions.less(0, regions.shape[0])) {
    fail(ErrorCode::invalid_model, "the data {} have no elements for regions to take", data.to_string());
  }
  return {Fact::of(data.dtype, {regions.shape[0], data.shape[1], attributes_.height, attributes_.width})};
}

}  // namespace lapilli
