#include "ops/grid_sampling.h"

#include <algorithm>
#include <cmath>
#include <format>
#include <numeric>

#include "base/failure.h"
#include "ops/host_loop.h"

namespace lapilli {
namespace {

constexpr std::size_t most_axes = 3;  // src/kernels/grid_sampling.comp
constexpr double cubic_coefficient = -0.75;

// A coordinate mirrored at the bounds until it lies between them.
double reflect(double x, double low, double high) {
  const double range = high - low;
  if (!(range > 0)) return low;
  const double over = x < low ? low - x : x > high ? x - high : 0;
  if (over == 0) return x;
  const double turns = std::floor(over / range), rest = over - turns * range;
  const bool from_low = (x < low) == (std::fmod(turns, 2) == 0);
  return from_low ? low + rest : high - rest;
}

// Along one axis: the elements that count, -1 for a zero outside, and their weights.
struct HostTaps {
  std::vector<std::int64_t> places;
  std::vector<double> weights;

  HostTaps(const GridAttributes& grid, double x, std::int64_t extent) {
    const auto last = static_cast<double>(extent - 1);
    const double low = grid.align_corners ? 0 : -0.5, high = grid.align_corners ? last : last + 0.5;
    if (grid.kernel == SamplingKernel::nearest) x = std::nearbyint(x);
    if (grid.padding == GridPadding::border) x = std::clamp(x, -3.0, last + 3);
    if (grid.padding == GridPadding::reflection) x = reflect(x, low, high);
    const int count = grid.kernel == SamplingKernel::nearest ? 1 : grid.kernel == SamplingKernel::linear ? 2 : 4;
    const int before = count / 2 - 1;
    const double first = grid.kernel == SamplingKernel::nearest ? std::nearbyint(x) : std::floor(x) - before;
    for (int tap = 0; tap < count; ++tap) {
      double place = first + tap;
      weights.push_back(count == 1 ? 1 : sampling_weight(grid.kernel, x - place, cubic_coefficient));
      if (grid.padding == GridPadding::border) place = std::clamp(place, 0.0, last);
      if (grid.padding == GridPadding::reflection)
        place = std::clamp(std::nearbyint(reflect(place, low, high)), 0.0, last);
      places.push_back(place >= 0 && place <= last ? static_cast<std::int64_t>(place) : -1);
    }
  }
};

// The coordinate of each spatial axis of the data in elements.
std::vector<double> coordinates_of(const GridAttributes& grid, std::span<const double> tuple,
                                   std::span<const std::int64_t> spatial, std::span<const std::int64_t> extents) {
  std::vector<double> result;
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    const double value = tuple[grid.last_axis_first ? extents.size() - 1 - axis : axis];
    const auto extent = static_cast<double>(extents[axis]);
    if (grid.in_elements) {
      std::int64_t base = *grid.base[axis].offset.constant();
      for (std::size_t i = 0; i < spatial.size(); ++i) base += grid.base[axis].steps[i] * spatial[i];
      result.push_back(value + static_cast<double>(base));
    } else {
      result.push_back(grid.align_corners ? (value + 1) / 2 * (extent - 1) : ((value + 1) * extent - 1) / 2);
    }
  }
  return result;
}

// The weighted sum at one tuple, in the plane of the data that begins at `plane`.
double interpolate(std::span<const double> data, std::int64_t plane, std::span<const HostTaps> taps,
                   std::span<const std::int64_t> strides) {
  std::vector<std::int64_t> counts, step(taps.size(), 0);
  for (const HostTaps& axis : taps) counts.push_back(static_cast<std::int64_t>(axis.places.size()));
  double sum = 0;
  do {
    double weight = 1;
    std::int64_t place = plane;
    for (std::size_t i = 0; i < taps.size(); ++i) {
      const auto at = static_cast<std::size_t>(step[i]);
      weight = taps[i].places[at] < 0 ? 0 : weight * taps[i].weights[at];
      place += taps[i].places[at] * strides[i];
    }
    if (weight != 0) sum += weight * data[static_cast<std::size_t>(place)];
  } while (next_index(step, counts));
  return sum;
}

}  // namespace

std::shared_ptr<const FusedOperator> GridSampling::with_epilogue(PointwiseChain chain, DType output_dtype) const {
  return std::make_shared<GridSampling>(attributes_, std::move(chain), output_dtype);
}

std::string GridSampling::own_attributes() const {
  constexpr std::array<std::string_view, 3> kernels{"nearest", "linear", "cubic"};
  constexpr std::array<std::string_view, 3> paddings{"zeros", "border", "reflection"};
  return std::format("{}, {} outside{}", kernels[static_cast<std::size_t>(attributes_.kernel)],
                     paddings[static_cast<std::size_t>(attributes_.padding)],
                     attributes_.align_corners ? ", corners aligned" : "");
}

std::vector<Fact> GridSampling::infer_own(std::span<const Fact> inputs, Assumptions& assumptions) const {
  const Fact &data = inputs[0], &grid = inputs[1];
  const std::size_t axes = std::max<std::size_t>(data.shape.size(), 2) - 2;
  if (axes < 1 || axes > most_axes || grid.shape.size() < 3) {
    fail(ErrorCode::invalid_model, "data {} and grid {}; kernels sample one to {} spatial axes", data.to_string(),
         grid.to_string(), most_axes);
  }
  if (!is_floating_point(grid.dtype)) {
    fail(ErrorCode::invalid_model, "the grid {} is not of a floating-point type", grid.to_string());
  }
  if (attributes_.kernel != SamplingKernel::nearest && data.dtype == DType::string) {
    fail(ErrorCode::invalid_model, "text is not interpolated: {}", data.to_string());
  }
  if (!assumptions.equal(data.shape[0], grid.shape[0]) ||
      !assumptions.equal(grid.shape.back(), static_cast<std::int64_t>(axes))) {
    fail(ErrorCode::invalid_model, "the grid {} does not have the batch of {} and {} coordinates", grid.to_string(),
         data.to_string(), axes);
  }
  Shape shape(grid.shape.begin(), grid.shape.end() - 1);
  shape.insert(shape.begin() + 1, data.shape[1]);
  for (std::size_t axis = 2; axis < data.shape.size(); ++axis) {
    if (assumptions.equal(data.shape[axis], 0) && !assumptions.equal(element_count(shape), 0)) {
      fail(ErrorCode::invalid_model, "axis {} of {} has no elements to sample", axis, data.to_string());
    }
  }
  return {Fact::of(data.dtype, std::move(shape))};
}

std::vector<Tensor> GridSampling::evaluate_own(std::span<const Tensor> inputs) const {
  if (bit_width(inputs[0].dtype()) < 8 || inputs[0].dtype() == DType::string) return {};
  const bool as_they_are = attributes_.kernel == SamplingKernel::nearest && !is_floating_point(inputs[0].dtype());
  Tensor data = as_they_are ? Tensor::allocate(DType::float64, inputs[0].shape())
                            : evaluate_chain({}, inputs.first(1), DType::float64);
  // The nearest integers keep all their bits: their numbers stand for them, and 0 for what lies outside.
  if (as_they_are) std::iota(data.mutable_elements<double>().begin(), data.mutable_elements<double>().end(), 1.0);
  const Tensor grid = evaluate_chain({}, inputs.subspan(1, 1), DType::float64);
  const std::vector<std::int64_t> strides = row_major_strides(data.shape());
  const auto extents = std::span(data.shape()).subspan(2), spatial_strides = std::span(strides).subspan(2);
  std::vector<std::int64_t> sizes(grid.shape().begin(), grid.shape().end() - 1);
  sizes.insert(sizes.begin() + 1, data.shape()[1]);
  Tensor output = Tensor::allocate(DType::float64, sizes);
  std::vector<std::int64_t> index(sizes.size(), 0), grid_sizes(grid.shape().begin(), grid.shape().end() - 1);
  const std::vector<std::int64_t> grid_strides = row_major_strides(grid_sizes);
  for (std::int64_t i = 0; i < output.element_count(); ++i, next_index(index, sizes)) {
    const auto spatial = std::span<const std::int64_t>(index).subspan(2);
    const std::int64_t tuple = index[0] * grid_strides[0] + offset_of(spatial, std::span(grid_strides).subspan(1));
    const auto values =
        grid.elements<double>().subspan(static_cast<std::size_t>(tuple) * extents.size(), extents.size());
    const std::vector<double> coordinates = coordinates_of(attributes_, values, spatial, extents);
    std::vector<HostTaps> taps;
    for (std::size_t axis = 0; axis < extents.size(); ++axis)
      taps.emplace_back(attributes_, coordinates[axis], extents[axis]);
    output.mutable_elements<double>()[static_cast<std::size_t>(i)] =
        interpolate(data.elements<double>(), index[0] * strides[0] + index[1] * strides[1], taps, spatial_strides);
  }
  if (!as_they_are) return {cut_off(output, inputs[0].dtype())};
  return {take_elements(inputs[0], output, Tensor::allocate(inputs[0].dtype(), {1}))};
}

Dim GridSampling::operation_count(std::span<const Fact> inputs, std::span<const Fact> outputs) const {
  if (attributes_.kernel == SamplingKernel::nearest) return 0;
  Dim count = element_count(outputs[0].shape) * Dim(2);
  for (std::size_t axis = 2; axis < inputs[0].shape.size(); ++axis)
    count = count * Dim(attributes_.kernel == SamplingKernel::linear ? 2 : 4);
  return count;
}

}  // namespace lapilli
