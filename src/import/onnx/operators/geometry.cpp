// Operators on places in images: grids, regions, crops, columns.
#include <algorithm>
#include <array>
#include <format>
#include <numeric>

#include "import/onnx/operators/node_builder.h"
#include "import/onnx/operators/window_attributes.h"
#include "ops/contraction.h"
#include "ops/determinant.h"
#include "ops/grid_sampling.h"
#include "ops/movement.h"
#include "ops/region_pooling.h"
#include "ops/scatter.h"

namespace lapilli::onnx {
namespace {

void require_rank(NodeBuilder& node, std::size_t index, std::size_t rank) {
  if (node.rank(node.input(index)) == rank) return;
  node.fail_model(
      std::format("input {} is {} and not of rank {}", index, node.fact(node.input(index)).to_string(), rank));
}

// The elements [start, start + size) of the last axis.
ValueId last_columns(NodeBuilder& node, ValueId value, std::int64_t start, std::int64_t size) {
  Shape shape = node.shape(value);
  std::vector<Dim> starts(shape.size(), Dim(0)), steps(shape.size(), Dim(1));
  starts.back() = start;
  shape.back() = size;
  return node.add(std::make_shared<Slice>(std::move(starts), std::move(shape), std::move(steps)), {value});
}

void build_grid_sample(NodeBuilder& node) {
  GridAttributes attributes;
  const std::string mode = node.text("mode", node.opset() >= 20 ? "linear" : "bilinear");
  if (mode == "nearest") {
    attributes.kernel = SamplingKernel::nearest;
  } else if (mode == "cubic" || mode == "bicubic") {
    attributes.kernel = SamplingKernel::cubic;
  } else if (mode != "linear" && mode != "bilinear") {
    node.fail_model(std::format("mode '{}' is none of nearest, linear, bilinear, cubic, bicubic", mode));
  }
  const std::string padding = node.text("padding_mode", "zeros");
  if (padding == "border") {
    attributes.padding = GridPadding::border;
  } else if (padding == "reflection") {
    attributes.padding = GridPadding::reflection;
  } else if (padding != "zeros") {
    node.fail_model(std::format("padding_mode '{}' is none of zeros, border, reflection", padding));
  }
  attributes.align_corners = node.integer("align_corners", 0) != 0;
  require_rank(node, 1, node.rank(node.input(0)));
  node.set_output(0, node.add(std::make_shared<GridSampling>(std::move(attributes)), {node.input(0), node.input(1)}));
}

// Coordinates of `count` elements from -1 to 1: of their centres, or with the first and last one at the ends.
ValueId even_coordinates(NodeBuilder& node, std::int64_t count, bool align_corners, Shape shape, DType dtype) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto index = static_cast<double>(i), total = static_cast<double>(count);
    const double aligned = count == 1 ? 0 : 2 * index / (total - 1) - 1;
    values.push_back(align_corners ? aligned : (2 * index + 1) / total - 1);
  }
  const ValueId wide = node.constant(Tensor::of<double>(DType::float64, {count}, values));
  return node.reshape(node.cast(wide, dtype), std::move(shape));
}

// theta [N, k, k + 1] times the coordinates (x, y, ..., 1) of each element of an image.
void build_affine_grid(NodeBuilder& node) {
  const ValueId theta = node.input(0);
  const std::vector<Dim> size = node.integers(1);
  const std::size_t axes = std::max<std::size_t>(size.size(), 2) - 2;
  const auto columns = static_cast<std::int64_t>(axes);
  require_rank(node, 0, 3);
  if (axes < 1 || !node.assumptions().equal(node.shape(theta)[1], columns) ||
      !node.assumptions().equal(node.shape(theta)[2], columns + 1) ||
      !node.assumptions().equal(node.shape(theta)[0], size[0])) {
    node.fail_model(std::format("theta {} does not fit the size {}", node.fact(theta).to_string(), shape_text(size)));
  }
  const bool align_corners = node.integer("align_corners", 0) != 0;
  const auto column = [&](std::int64_t index) {
    Shape wide(axes + 2, Dim(1));
    wide.front() = size[0];
    wide.back() = columns;
    return node.reshape(last_columns(node, theta, index, 1), std::move(wide));
  };
  ValueId grid = column(columns);
  for (std::size_t axis = 0; axis < axes; ++axis) {
    const std::int64_t extent = node.assumptions().number(size[axis + 2]);
    constexpr std::int64_t longest = 1 << 24;
    if (extent < 0 || extent > longest) node.fail_model(std::format("a grid of {} elements along an axis", extent));
    Shape shape(axes + 2, Dim(1));
    shape[axis + 1] = extent;
    const ValueId places = even_coordinates(node, extent, align_corners, std::move(shape), node.dtype(theta));
    const ValueId part =
        node.pointwise(PointwiseFunction::multiply, {places, column(columns - 1 - static_cast<std::int64_t>(axis))});
    grid = node.pointwise(PointwiseFunction::add, {part, grid});
  }
  node.set_output(0, grid);
}

void build_roi_align(NodeBuilder& node) {
  RegionPoolingAttributes attributes;
  const std::string mode = node.text("mode", "avg");
  if (mode != "avg" && mode != "max") node.fail_model(std::format("mode '{}' is none of avg, max", mode));
  if (mode == "max") attributes.kind = RegionPoolingKind::aligned_maximum;
  attributes.height = node.integer("output_height", 1);
  attributes.width = node.integer("output_width", 1);
  attributes.samples = node.integer("sampling_ratio", 0);
  attributes.scale = node.real("spatial_scale", 1.0F);
  if (node.opset() >= 16) {
    const std::string coordinates = node.text("coordinate_transformation_mode", "half_pixel");
    if (coordinates != "half_pixel" && coordinates != "output_half_pixel") {
      node.fail_model(
          std::format("coordinate_transformation_mode '{}' is none of half_pixel, output_half_pixel", coordinates));
    }
    attributes.half_pixel = coordinates == "half_pixel";
  }
  node.set_output(
      0, node.add(std::make_shared<RegionPooling>(attributes), {node.input(0), node.input(1), node.input(2)}));
}

// Regions [R, 5] begin with the number of their image.
void build_max_roi_pool(NodeBuilder& node) {
  RegionPoolingAttributes attributes;
  attributes.kind = RegionPoolingKind::maximum;
  const auto bins = node.integers("pooled_shape");
  if (!bins || bins->size() != 2) node.fail_model("pooled_shape does not name two sizes");
  attributes.height = (*bins)[0];
  attributes.width = (*bins)[1];
  attributes.scale = node.real("spatial_scale", 1.0F);
  require_rank(node, 1, 2);
  const ValueId regions = node.input(1);
  if (!node.assumptions().equal(node.shape(regions)[1], 5))
    node.fail_model(std::format("the regions {} have not five numbers each", node.fact(regions).to_string()));
  const ValueId images =
      node.cast(node.reshape(last_columns(node, regions, 0, 1), {node.shape(regions)[0]}), DType::int32);
  node.set_output(0, node.add(std::make_shared<RegionPooling>(attributes),
                              {node.input(0), last_columns(node, regions, 1, 4), images}));
}

void build_center_crop_pad(NodeBuilder& node) {
  ValueId value = node.input(0);
  const Shape shape = node.shape(value);
  const std::vector<Dim> wanted = node.integers(1);
  std::vector<int> axes(shape.size());
  std::iota(axes.begin(), axes.end(), 0);
  if (const auto named = node.integers("axes")) {
    axes.clear();
    for (const std::int64_t axis : *named) axes.push_back(node.axis(axis, shape.size()));
  }
  if (wanted.size() != axes.size()) node.fail_model(std::format("{} sizes for {} axes", wanted.size(), axes.size()));
  std::vector<Dim> start(shape.size(), Dim(0)), step(shape.size(), Dim(1)), before = start, after = start;
  Shape cut = shape;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(axes[i]);
    if (node.assumptions().less(wanted[i], 0))
      node.fail_model(std::format("axis {} gets the size {}", axis, wanted[i].to_string()));
    if (node.assumptions().less(wanted[i], shape[axis])) {
      start[axis] = Dim::floor_divide(shape[axis] - wanted[i], 2);
      cut[axis] = wanted[i];
    } else {
      before[axis] = Dim::floor_divide(wanted[i] - shape[axis], 2);
      after[axis] = wanted[i] - shape[axis] - before[axis];
    }
  }
  value = node.add(std::make_shared<Slice>(std::move(start), std::move(cut), std::move(step)), {value});
  node.set_output(
      0, node.add(std::make_shared<Pad>(PadMode::constant, std::move(before), std::move(after), Tensor()), {value}));
}

// Overlapping blocks summed up: a transposed convolution whose weights pick one element of the block for each
// channel.
void build_col2im(NodeBuilder& node) {
  require_rank(node, 0, 3);
  const Shape shape = node.shape(node.input(0));
  const std::vector<Dim> image = node.integers(1), block = node.integers(2);
  const std::size_t spatial = image.size();
  if (spatial == 0 || block.size() != spatial)
    node.fail_model(std::format("an image {} and a block {}", shape_text(image), shape_text(block)));
  const WindowGeometry geometry = explicit_geometry(node, spatial);
  std::vector<std::int64_t> weight_shape{0, 1};
  Shape columns{shape[0], shape[1]};
  std::int64_t places = 1;
  for (std::size_t i = 0; i < spatial; ++i) {
    const std::int64_t size = node.assumptions().number(block[i]);
    constexpr std::int64_t largest_block = 1 << 12;
    if (size <= 0 || places * size > largest_block) node.fail_model(std::format("a block {}", shape_text(block)));
    places *= size;
    weight_shape.push_back(size);
    const Dim room =
        image[i] + geometry.pads_begin[i] + geometry.pads_end[i] - Dim(geometry.dilations[i] * (size - 1) + 1);
    columns.push_back(Dim::floor_divide(room, geometry.strides[i]) + Dim(1));
  }
  const std::int64_t channels = node.assumptions().number(shape[1]) / places;
  if (channels * places != node.assumptions().number(shape[1]) || channels == 0)
    node.fail_model(std::format("{} channels are not whole blocks {}", shape[1].to_string(), shape_text(block)));
  weight_shape[0] = channels * places;
  Tensor weights = Tensor::allocate(DType::float32, weight_shape);
  for (std::int64_t i = 0; i < channels * places; ++i)
    weights.mutable_elements<float>()[static_cast<std::size_t>(i * places + i % places)] = 1;
  ConvolutionAttributes attributes;
  attributes.transposed = true;
  attributes.strides = geometry.strides;
  attributes.dilations = geometry.dilations;
  attributes.pads_begin = geometry.pads_begin;
  attributes.pads_end = geometry.pads_end;
  attributes.group = channels;
  attributes.output_size = image;
  const DType dtype = node.dtype(node.input(0));
  const ValueId x = node.reshape(node.as_real(node.input(0)), std::move(columns));
  const ValueId sums = node.add(std::make_shared<Convolution>(std::move(attributes)),
                                {x, node.cast(node.constant(weights), node.dtype(x))});
  node.set_output(0, node.cast(sums, dtype));
}

// Elements at offsets from the places of a convolution's window, one column a place, times the weights.
void build_deform_conv(NodeBuilder& node) {
  const ValueId x = node.input(0), w = node.input(1), offset = node.input(2);
  const Shape shape = node.shape(x), kernel = node.shape(w);
  const std::size_t axes = std::max<std::size_t>(shape.size(), 2) - 2;
  if (axes == 0 || kernel.size() != shape.size() || node.rank(offset) != shape.size()) {
    node.fail_model(std::format("{}, {} and {} do not fit together", node.fact(x).to_string(),
                                node.fact(w).to_string(), node.fact(offset).to_string()));
  }
  const WindowGeometry geometry = explicit_geometry(node, axes);
  const std::int64_t group = node.integer("group", 1), offset_groups = node.integer("offset_group", 1);
  if (group <= 0 || offset_groups <= 0)
    node.fail_model(std::format("group {} and offset_group {}", group, offset_groups));
  const Shape places(kernel.begin() + 2, kernel.end()),
      output(node.shape(offset).begin() + 2, node.shape(offset).end());
  const Dim batch = shape[0] * Dim(offset_groups), window = element_count(places);

  GridAttributes attributes;
  attributes.in_elements = true;
  attributes.last_axis_first = false;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    GridBase base{Dim(0) - geometry.pads_begin[axis], std::vector<std::int64_t>(2 * axes, 0)};
    base.steps[axis] = geometry.dilations[axis];
    base.steps[axes + axis] = geometry.strides[axis];
    attributes.base.push_back(std::move(base));
  }
  const auto grouped = [&](const Shape& inner) {
    Shape result{batch};
    result.insert(result.end(), places.begin(), places.end());
    result.insert(result.end(), inner.begin(), inner.end());
    return result;
  };
  // [N, groups * window * axes, out...] with the coordinates last.
  Shape split{Dim(static_cast<std::int64_t>(axes))};
  split.insert(split.end(), output.begin(), output.end());
  std::vector<int> coordinates_last(2 * axes + 2);
  std::iota(coordinates_last.begin(), coordinates_last.end(), 0);
  std::rotate(coordinates_last.begin() + static_cast<std::ptrdiff_t>(axes) + 1,
              coordinates_last.begin() + static_cast<std::ptrdiff_t>(axes) + 2, coordinates_last.end());
  const ValueId grid =
      node.add(std::make_shared<Transpose>(std::move(coordinates_last)), {node.reshape(offset, grouped(split))});
  Shape data{batch, Dim::floor_divide(shape[1], offset_groups)};
  data.insert(data.end(), shape.begin() + 2, shape.end());
  ValueId columns =
      node.add(std::make_shared<GridSampling>(std::move(attributes)), {node.reshape(x, std::move(data)), grid});
  if (node.has_input(4)) {
    Shape masked = grouped(output);
    masked.insert(masked.begin() + 1, Dim(1));
    columns = node.pointwise(PointwiseFunction::multiply, {columns, node.reshape(node.input(4), std::move(masked))});
  }
  const Dim depth = kernel[1] * window;
  columns = node.reshape(columns, {shape[0], group, depth, element_count(output)});
  const ValueId weights = node.reshape(w, {group, Dim::floor_divide(kernel[0], group), depth});
  ValueId result = node.add(std::make_shared<MatMul>(), {weights, columns});
  Shape image{shape[0], kernel[0]};
  image.insert(image.end(), output.begin(), output.end());
  result = node.reshape(result, std::move(image));
  if (node.has_input(3))
    result = node.pointwise(PointwiseFunction::add, {result, node.per_channel(node.input(3), shape.size())});
  node.set_output(0, result);
}

// Elements go back to where a pool found them; each stays in its own channel. What is asked for beyond the size that
// the pool had is zero.
void build_max_unpool(NodeBuilder& node) {
  const ValueId x = node.input(0), places = node.input(1);
  const Shape shape = node.shape(x);
  const std::size_t axes = std::max<std::size_t>(shape.size(), 2) - 2;
  const auto kernel = node.integers("kernel_shape");
  if (axes == 0 || !kernel || kernel->size() != axes || node.rank(places) != shape.size()) {
    node.fail_model(std::format("kernel_shape does not name {} sizes, or the indices {} do not fit", axes,
                                node.fact(places).to_string()));
  }
  const WindowGeometry geometry = explicit_geometry(node, axes);
  Shape pooled{shape[0], shape[1]};
  for (std::size_t i = 0; i < axes; ++i) {
    pooled.push_back((shape[i + 2] - Dim(1)) * Dim(geometry.strides[i]) + Dim((*kernel)[i]) - geometry.pads_begin[i] -
                     geometry.pads_end[i]);
  }
  const Dim planes = shape[0] * shape[1], plane = element_count(std::span(pooled).subspan(2));
  const Dim count = element_count(std::span(shape).subspan(2));
  const ValueId extent = node.reshape(node.sizes({plane}), {1, 1});
  const ValueId local = node.pointwise(PointwiseFunction::modulo,
                                       {node.reshape(node.cast(places, DType::int64), {planes, count}), extent});
  const ValueId zero = node.constant(Tensor::allocate(node.dtype(x), {1, 1}));
  const ValueId zeros = node.add(std::make_shared<Expand>(Shape{planes, plane}), {zero});
  const auto scatter = std::make_shared<Scatter>(std::make_shared<GatherElements>(1), PointwiseFunction::identity);
  ValueId result = node.add(scatter, {zeros, local, node.reshape(x, {planes, count})});
  result = node.reshape(result, pooled);
  if (node.has_input(2)) {
    const std::vector<Dim> wanted = node.integers(2);
    if (wanted.size() != pooled.size())
      node.fail_model(std::format("output_shape {} for {}", shape_text(wanted), shape_text(pooled)));
    const std::vector<Dim> before(pooled.size(), Dim(0)), step(pooled.size(), Dim(1));
    std::vector<Dim> after;
    Shape cut;
    for (std::size_t i = 0; i < pooled.size(); ++i) {
      const bool cuts = node.assumptions().less(wanted[i], pooled[i]);
      cut.push_back(cuts ? wanted[i] : pooled[i]);
      after.push_back(cuts ? Dim(0) : wanted[i] - pooled[i]);
    }
    result = node.add(std::make_shared<Slice>(before, std::move(cut), step), {result});
    result = node.add(std::make_shared<Pad>(PadMode::constant, before, std::move(after), Tensor()), {result});
  }
  node.set_output(0, result);
}

void build_determinant(NodeBuilder& node) {
  node.set_output(0, node.add(std::make_shared<Determinant>(), {node.input(0)}));
}

constexpr std::array records{
    OperatorRecord{"AffineGrid", 20, build_affine_grid, {types::floats, types::sizes}},
    OperatorRecord{"CenterCropPad", 18, build_center_crop_pad, {types::tensors, types::indices}},
    OperatorRecord{"Col2Im", 18, build_col2im, {types::plain, types::sizes}},
    OperatorRecord{"DeformConv", 19, build_deform_conv, {types::floats}},
    OperatorRecord{"Det", 11, build_determinant, {types::floats}},
    OperatorRecord{"GridSample", 16, build_grid_sample, {types::plain, types::floats}},
    OperatorRecord{"MaxRoiPool", 1, build_max_roi_pool, {types::floats}},
    OperatorRecord{"MaxUnpool", 9, build_max_unpool, {types::floats, types::sizes}},
    OperatorRecord{"RoiAlign", 10, build_roi_align, {types::floats, types::floats, types::sizes}},
};

}  // namespace

std::span<const OperatorRecord> geometry_operators() { return records; }

}  // namespace lapilli::onnx
