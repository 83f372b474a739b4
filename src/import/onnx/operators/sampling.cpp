// Resizing.
#include "ops/sampling.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <format>
#include <limits>
#include <numeric>

#include "import/onnx/operators/node_builder.h"
#include "ops/gather.h"

namespace lapilli::onnx {
namespace {

// A positive number as a fraction.
struct Ratio {
  Dim numerator = 1, denominator = 1;

  void reduce() {
    const auto top = numerator.constant(), bottom = denominator.constant();
    if (!top || !bottom || *top <= 0 || *bottom <= 0) return;
    const std::int64_t divisor = std::gcd(*top, *bottom);
    numerator = *top / divisor;
    denominator = *bottom / divisor;
  }
};

// The fraction with the smallest denominator between two positive numbers (continued fractions).
std::pair<double, double> simplest_between(double low, double high) {
  const double whole = std::floor(low);
  if (whole == low) return {whole, 1};
  if (whole + 1 <= high) return {whole + 1, 1};
  const auto [numerator, denominator] = simplest_between(1 / (high - whole), 1 / (low - whole));
  return {whole * numerator + denominator, numerator};
}

// What a float32 scale stands for: the simplest fraction that rounds to it, so that 0.6 is 3/5 and ties stay ties.
Ratio ratio_of(NodeBuilder& node, float scale) {
  constexpr float largest = 0x1p30F;
  if (!(scale >= 1 / largest && scale <= largest))
    node.fail_model(std::format("the scale {}; scales are positive, from 2^-30 to 2^30", scale));
  const double exact = scale, up = std::nextafter(scale, largest * 2), down = std::nextafter(scale, 0.0F);
  constexpr double within = 0.49;  // of the distance to the next float32
  const auto [numerator, denominator] =
      simplest_between(exact - (exact - down) * within, exact + (up - exact) * within);
  return {static_cast<std::int64_t>(numerator), static_cast<std::int64_t>(denominator)};
}

enum class CoordinateMode : std::uint8_t {
  half_pixel,
  half_pixel_symmetric,
  pytorch_half_pixel,
  align_corners,
  asymmetric,
  tf_half_pixel_for_nn,
  tf_crop_and_resize,
};

// One axis of a resize.
struct Resizing {
  std::size_t axis = 0;
  Dim input, output;
  Ratio scale;
  bool exact = false;  // the scale is output / input
};

// How a node of any version says what to do.
struct ResizeAttributes {
  CoordinateMode mode = CoordinateMode::half_pixel;
  NearestRounding rounding = NearestRounding::half_down;
  bool ceil_when_shrinking = false;
  SamplingAttributes sampling;
};

bool is_identity(const Resizing& axis) { return axis.scale.numerator == axis.scale.denominator; }

// Coordinates of results (SamplingAxis) from what ONNX says, with scale = q / p:
// half_pixel (i + 1/2) / scale - 1/2 = (2pi + p - q) / 2q, and so on.
void set_coordinates(NodeBuilder& node, CoordinateMode mode, const Resizing& from, SamplingAxis& axis) {
  const Dim &q = from.scale.numerator, &p = from.scale.denominator;
  const bool to_one = node.assumptions().equal(from.output, 1);
  // With corners aligned, the last result lies at the last element. The length counts before it is rounded down.
  const Dim corner_step = from.exact ? from.input - Dim(1) : (from.input - Dim(1)) * p;
  const Dim corner_divisor = from.exact ? from.output - Dim(1) : from.input * q - p;
  const bool one_corner = !node.assumptions().less(0, corner_divisor);
  const auto set = [&](Dim step, Dim begin, Dim divisor) {
    axis.step = std::move(step);
    axis.begin = std::move(begin);
    axis.divisor = std::move(divisor);
  };
  switch (mode) {
    case CoordinateMode::asymmetric: return set(p, 0, q);
    case CoordinateMode::tf_half_pixel_for_nn: return set(Dim(2) * p, p, Dim(2) * q);
    case CoordinateMode::pytorch_half_pixel:
      if (to_one) return set(0, 0, 1);
      [[fallthrough]];
    case CoordinateMode::half_pixel: return set(Dim(2) * p, p - q, Dim(2) * q);
    case CoordinateMode::half_pixel_symmetric:
      return set(Dim(2) * p, (from.exact ? Dim(0) : from.input * q - from.output * p) + p - q, Dim(2) * q);
    case CoordinateMode::align_corners: return one_corner ? set(0, 0, 1) : set(corner_step, 0, corner_divisor);
    case CoordinateMode::tf_crop_and_resize:
      return one_corner ? set(0, 1, 2) : set(from.exact ? Dim(1) : p, 0, corner_divisor);
  }
}

SamplingAxis sampling_axis(NodeBuilder& node, const ResizeAttributes& attributes, const Resizing& from) {
  SamplingAxis axis;
  axis.axis = static_cast<int>(from.axis);
  axis.size = from.output;
  axis.spread = from.scale.denominator;
  axis.spread_divisor = from.scale.numerator;
  axis.rounding = attributes.rounding;
  if (attributes.ceil_when_shrinking && node.assumptions().less(from.scale.numerator, from.scale.denominator)) {
    axis.rounding = NearestRounding::up;
  }
  set_coordinates(node, attributes.mode, from, axis);
  return axis;
}

// As many nodes as it takes for all axes. `region` is [starts..., ends...] of `axes`, or nothing. Integers are real
// numbers from one node to the next; those that float32 does not hold go through as few nodes as there can be.
ValueId resample(NodeBuilder& node, const ResizeAttributes& attributes, std::span<const Resizing> axes,
                 std::optional<ValueId> region) {
  ValueId value = node.input(0);
  const DType dtype = node.dtype(value);
  const bool stays = is_floating_point(dtype) || attributes.sampling.kernel == SamplingKernel::nearest;
  const std::size_t together = attributes.sampling.antialias && (stays || bit_width(dtype) <= 8) ? 1 : 3;
  for (std::size_t first = 0; first < axes.size(); first += together) {
    const auto part = axes.subspan(first, std::min(together, axes.size() - first));
    SamplingAttributes sampling = attributes.sampling;
    if (!stays) sampling.result = first + together < axes.size() ? DType::float32 : dtype;
    std::vector<std::int64_t> places;
    for (const Resizing& axis : part) sampling.axes.push_back(sampling_axis(node, attributes, axis));
    std::vector<ValueId> inputs{value};
    if (region) {
      for (std::size_t i = 0; i < 2 * part.size(); ++i) {
        places.push_back(
            static_cast<std::int64_t>(i < part.size() ? first + i : axes.size() + first + i - part.size()));
      }
      const Tensor chosen =
          Tensor::of<std::int64_t>(DType::int64, {static_cast<std::int64_t>(places.size())}, places);
      inputs.push_back(node.add(std::make_shared<Gather>(0), {*region, node.constant(chosen)}));
    }
    value = node.add(std::make_shared<Sampling>(std::move(sampling)), std::move(inputs));
  }
  return value;
}

std::vector<float> real_values(NodeBuilder& node, std::size_t index) {
  const Tensor& constant = node.constant(index);
  const Tensor values = evaluate_chain({}, {&constant, 1}, DType::float32);
  return {values.elements<float>().begin(), values.elements<float>().end()};
}

void set_scales(NodeBuilder& node, std::span<Resizing> axes, std::span<const float> scales) {
  if (scales.size() != axes.size()) node.fail_model(std::format("{} scales for {} axes", scales.size(), axes.size()));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    axes[i].scale = ratio_of(node, scales[i]);
    axes[i].output = Dim::floor_divide(axes[i].input * axes[i].scale.numerator, axes[i].scale.denominator);
  }
}

// One scale for all axes, the smallest or the largest of those that the sizes ask for.
void keep_aspect_ratio(NodeBuilder& node, std::span<Resizing> axes, bool smallest) {
  std::size_t chosen = 0;
  for (std::size_t i = 1; i < axes.size(); ++i) {
    const Dim own = axes[i].output * axes[chosen].input, best = axes[chosen].output * axes[i].input;
    if (smallest ? node.assumptions().less(own, best) : node.assumptions().less(best, own)) chosen = i;
  }
  const Ratio scale = axes[chosen].scale;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (i == chosen) continue;
    axes[i].scale = scale;
    axes[i].exact = false;
    axes[i].output =
        Dim::floor_divide(Dim(2) * axes[i].input * scale.numerator + scale.denominator, Dim(2) * scale.denominator);
  }
}

void set_sizes(NodeBuilder& node, std::span<Resizing> axes, std::span<const Dim> sizes) {
  if (sizes.size() != axes.size()) node.fail_model(std::format("{} sizes for {} axes", sizes.size(), axes.size()));
  for (std::size_t i = 0; i < axes.size(); ++i) {
    axes[i].output = sizes[i];
    axes[i].scale = {sizes[i], axes[i].input};
    axes[i].scale.reduce();
    axes[i].exact = true;
  }
  const std::string policy = node.text("keep_aspect_ratio_policy", "stretch");
  if (policy == "stretch" || axes.empty()) return;
  if (policy != "not_larger" && policy != "not_smaller") {
    node.fail_model(std::format("keep_aspect_ratio_policy '{}' is none of stretch, not_larger, not_smaller", policy));
  }
  keep_aspect_ratio(node, axes, policy == "not_larger");
}

std::vector<Resizing> named_axes(NodeBuilder& node) {
  const Shape& shape = node.shape(node.input(0));
  std::vector<Resizing> axes;
  if (const auto wanted = node.integers("axes")) {
    for (const std::int64_t axis : *wanted) {
      const auto at = static_cast<std::size_t>(node.axis(axis, shape.size()));
      if (std::ranges::contains(axes, at, &Resizing::axis))
        node.fail_model(std::format("axis {} is named twice", at));
      axes.push_back({at, shape[at], shape[at], {}, false});
    }
    return axes;
  }
  for (std::size_t i = 0; i < shape.size(); ++i) axes.push_back({i, shape[i], shape[i], {}, false});
  return axes;
}

template <class Value>
Value choose(NodeBuilder& node, std::string_view name, std::string_view otherwise,
             std::span<const std::pair<std::string_view, Value>> values) {
  const std::string text = node.text(name, otherwise);
  std::string known;
  for (const auto& [word, value] : values) {
    if (word == text) return value;
    known += std::format("{}{}", known.empty() ? "" : ", ", word);
  }
  node.fail_model(std::format("{} '{}' is none of {}", name, text, known));
}

SamplingKernel kernel_of(NodeBuilder& node) {
  using enum SamplingKernel;
  static constexpr std::array<std::pair<std::string_view, SamplingKernel>, 4> kernels{
      {{"nearest", nearest}, {"linear", linear}, {"bilinear", linear}, {"cubic", cubic}}};
  return choose<SamplingKernel>(node, "mode", "nearest", kernels);
}

ResizeAttributes resize_attributes(NodeBuilder& node) {
  using enum CoordinateMode;
  static constexpr std::array<std::pair<std::string_view, CoordinateMode>, 7> modes{
      {{"half_pixel", half_pixel},
       {"half_pixel_symmetric", half_pixel_symmetric},
       {"pytorch_half_pixel", pytorch_half_pixel},
       {"align_corners", align_corners},
       {"asymmetric", asymmetric},
       {"tf_half_pixel_for_nn", tf_half_pixel_for_nn},
       {"tf_crop_and_resize", tf_crop_and_resize}}};
  static constexpr std::array<std::pair<std::string_view, NearestRounding>, 4> roundings{
      {{"round_prefer_floor", NearestRounding::half_down},
       {"round_prefer_ceil", NearestRounding::half_up},
       {"floor", NearestRounding::down},
       {"ceil", NearestRounding::up}}};
  ResizeAttributes attributes;
  attributes.mode = choose<CoordinateMode>(node, "coordinate_transformation_mode", "half_pixel", modes);
  attributes.rounding = choose<NearestRounding>(node, "nearest_mode", "round_prefer_floor", roundings);
  attributes.sampling.kernel = kernel_of(node);
  attributes.sampling.cubic_coefficient = node.real("cubic_coeff_a", -0.75F);
  attributes.sampling.exclude_outside = node.integer("exclude_outside", 0) != 0;
  attributes.sampling.antialias =
      node.integer("antialias", 0) != 0 && attributes.sampling.kernel != SamplingKernel::nearest;
  attributes.sampling.crop = attributes.mode == tf_crop_and_resize;
  attributes.sampling.extrapolation = node.real("extrapolation_value", 0.0F);
  return attributes;
}

// Whether the region, where it is known, leaves an axis as it is.
bool keeps_axis(NodeBuilder& node, ValueId region, std::size_t axis, std::size_t axes) {
  const Fact& fact = node.fact(region);
  if (!fact.constant.defined()) return false;
  const Tensor values = evaluate_chain({}, {&fact.constant, 1}, DType::float64);
  return values.elements<double>()[axis] == 0 && values.elements<double>()[axis + axes] == 1;
}

void build_resize(NodeBuilder& node) {
  std::vector<Resizing> axes = named_axes(node);
  const ResizeAttributes attributes = resize_attributes(node);
  const bool by_sizes = node.has_input(3);
  const bool has_scales = node.has_input(2) && node.shape(node.input(2)) != Shape{Dim(0)};
  if (by_sizes == has_scales) node.fail_model("one of scales and sizes has to be given");
  if (by_sizes) {
    set_sizes(node, axes, node.integers(3));
  } else {
    set_scales(node, axes, real_values(node, 2));
  }
  std::optional<ValueId> region;
  if (attributes.sampling.crop) {
    region = node.cast(node.input(1), Sampling::region_dtype(node.dtype(node.input(0))));
    if (node.shape(*region) != Shape{Dim(static_cast<std::int64_t>(2 * axes.size()))}) {
      node.fail_model(std::format("roi {} for {} axes", node.fact(*region).to_string(), axes.size()));
    }
  }
  std::vector<Resizing> changed;
  std::vector<std::int64_t> starts, ends;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (is_identity(axes[i]) && (!region || keeps_axis(node, *region, i, axes.size()))) continue;
    changed.push_back(axes[i]);
    starts.push_back(static_cast<std::int64_t>(i));
    ends.push_back(static_cast<std::int64_t>(i + axes.size()));
  }
  if (region) {
    starts.insert(starts.end(), ends.begin(), ends.end());
    const Tensor chosen = Tensor::of<std::int64_t>(DType::int64, {static_cast<std::int64_t>(starts.size())}, starts);
    region = node.add(std::make_shared<Gather>(0), {*region, node.constant(chosen)});
  }
  node.set_output(0, resample(node, attributes, changed, region));
}

// Upsample, and Resize before opset 11: coordinates are divided by the scale, and the nearest element is the one
// before, or, where the axis shrinks, the one behind.
void build_scaling(NodeBuilder& node, std::span<const float> scales) {
  std::vector<Resizing> axes = named_axes(node), changed;
  set_scales(node, axes, scales);
  std::ranges::copy_if(axes, std::back_inserter(changed), [](const Resizing& axis) { return !is_identity(axis); });
  ResizeAttributes attributes;
  attributes.mode = CoordinateMode::asymmetric;
  attributes.rounding = NearestRounding::down;
  attributes.ceil_when_shrinking = true;
  attributes.sampling.kernel = kernel_of(node);
  node.set_output(0, resample(node, attributes, changed, std::nullopt));
}

void build_scaling_by_input(NodeBuilder& node) { build_scaling(node, real_values(node, 1)); }

void build_scaling_by_attribute(NodeBuilder& node) {
  const auto* scales = node.node().find<std::vector<float>>("scales");
  if (scales == nullptr) node.fail_model("no scales are given");
  build_scaling(node, *scales);
}

void build_scaling_of_images(NodeBuilder& node) {
  if (node.rank(node.input(0)) != 4)
    node.fail_model(std::format("the input {} is not of rank 4", node.fact(node.input(0)).to_string()));
  build_scaling(node, std::array{1.0F, 1.0F, node.real("height_scale", 0), node.real("width_scale", 0)});
}

constexpr std::array records{
    OperatorRecord{"Resize", 10, build_scaling_by_input, {types::plain, types::single, TypeSet()}},
    OperatorRecord{"Resize", 11, build_resize, {types::plain, types::floats, types::single, types::sizes}},
    OperatorRecord{"Upsample", 1, build_scaling_of_images, {types::plain, TypeSet()}},
    OperatorRecord{"Upsample", 7, build_scaling_by_attribute, {types::plain, TypeSet()}},
    OperatorRecord{"Upsample", 9, build_scaling_by_input, {types::plain, types::single}},
};

}  // namespace

std::span<const OperatorRecord> sampling_operators() { return records; }

}  // namespace lapilli::onnx
