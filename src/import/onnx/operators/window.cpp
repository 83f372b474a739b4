// Pools and other operators that look at a window.
#include "ops/window.h"

#include <array>
#include <format>
#include <numeric>

#include "import/onnx/operators/node_builder.h"
#include "import/onnx/operators/window_attributes.h"

namespace lapilli::onnx {
namespace {

WindowAttributes pool_attributes(NodeBuilder& node) {
  const std::size_t rank = node.rank(node.input(0));
  if (rank < 3)
    node.fail_model(std::format("the input {} has no spatial axes", node.fact(node.input(0)).to_string()));
  const auto kernel = node.integers("kernel_shape");
  if (!kernel || kernel->size() != rank - 2)
    node.fail_model(std::format("kernel_shape does not name {} sizes", rank - 2));
  for (const std::int64_t size : *kernel) {
    if (size <= 0 || size > 0x7FFFFFFF) node.fail_model(std::format("kernel_shape has the value {}", size));
  }
  const WindowGeometry geometry = window_geometry(node, to_shape(*kernel));
  WindowAttributes attributes;
  for (std::size_t i = 0; i < kernel->size(); ++i) {
    attributes.axes.push_back({static_cast<int>(i + 2), (*kernel)[i], geometry.strides[i], geometry.dilations[i],
                               geometry.pads_begin[i], geometry.pads_end[i]});
  }
  attributes.round_up = node.integer("ceil_mode", 0) != 0;
  return attributes;
}

void build_max_pool(NodeBuilder& node) {
  WindowAttributes attributes = pool_attributes(node);
  attributes.indices = node.wants_output(1);
  if (node.integer("storage_order", 0) != 0) attributes.index_order = IndexOrder::column_major;
  const std::vector<ValueId> results = node.add_all(std::make_shared<Window>(std::move(attributes)), {node.input(0)});
  for (std::size_t i = 0; i < results.size(); ++i) node.set_output(i, results[i]);
}

void build_average_pool(NodeBuilder& node) {
  WindowAttributes attributes = pool_attributes(node);
  attributes.function = ReductionFunction::mean;
  attributes.count_padding = node.integer("count_include_pad", 0) != 0;
  node.set_output(0, node.add(std::make_shared<Window>(std::move(attributes)), {node.input(0)}));
}

// The p-th root of a sum of p-th powers.
ValueId root(NodeBuilder& node, ValueId sum, double exponent) {
  if (exponent == 1) return sum;
  if (exponent == 2) return node.pointwise(PointwiseFunction::square_root, {sum});
  return node.pointwise(PointwiseFunction::power, {sum}, {Immediate::of(1 / exponent)});
}

double norm_exponent(NodeBuilder& node) {
  if (node.opset() < 2) return node.real("p", 2.0F);
  return static_cast<double>(node.integer("p", 2));
}

void set_power(Preparation& preparation, double exponent) {
  preparation = exponent == 1   ? Preparation::absolute
                : exponent == 2 ? Preparation::square
                                : Preparation::absolute_power;
}

void build_lp_pool(NodeBuilder& node) {
  WindowAttributes attributes = pool_attributes(node);
  attributes.function = ReductionFunction::sum;
  attributes.exponent = norm_exponent(node);
  set_power(attributes.preparation, attributes.exponent);
  const double exponent = attributes.exponent;
  node.set_output(0,
                  root(node, node.add(std::make_shared<Window>(std::move(attributes)), {node.input(0)}), exponent));
}

std::vector<int> spatial_axes(NodeBuilder& node) {
  const std::size_t rank = node.rank(node.input(0));
  if (rank < 2) node.fail_model(std::format("the input {} has no channels", node.fact(node.input(0)).to_string()));
  std::vector<int> axes(rank - 2);
  std::iota(axes.begin(), axes.end(), 2);
  return axes;
}

template <ReductionFunction function>
void build_global_pool(NodeBuilder& node) {
  node.set_output(
      0, node.add(std::make_shared<Reduction>(function, Preparation::none, spatial_axes(node)), {node.input(0)}));
}

void build_global_lp_pool(NodeBuilder& node) {
  const double exponent = norm_exponent(node);
  const ValueId x = node.input(0);
  if (exponent != 1 && exponent != 2) {
    const ValueId absolute = node.pointwise(PointwiseFunction::absolute, {x});
    const ValueId powers = node.pointwise(PointwiseFunction::power, {absolute}, {Immediate::of(exponent)});
    const auto sum = std::make_shared<Reduction>(ReductionFunction::sum, Preparation::none, spatial_axes(node));
    return node.set_output(0, root(node, node.add(sum, {powers}), exponent));
  }
  Preparation preparation{};
  set_power(preparation, exponent);
  const auto sum = std::make_shared<Reduction>(ReductionFunction::sum, preparation, spatial_axes(node));
  node.set_output(0, root(node, node.add(sum, {x}), exponent));
}

// x / (bias + alpha * mean of squares over `size` channels)^beta, the mean counting channels outside as zeros.
void build_local_response_normalization(NodeBuilder& node) {
  const std::int64_t size = node.integer("size", 0);
  if (size <= 0 || size > 0x7FFFFFFF) node.fail_model(std::format("size {}", size));
  WindowAttributes attributes;
  attributes.function = ReductionFunction::mean;
  attributes.preparation = Preparation::square;
  attributes.count_padding = true;
  attributes.axes = {{1, size, 1, 1, (size - 1) / 2, size / 2}};
  const ValueId x = node.input(0);
  ValueId scale = node.add(std::make_shared<Window>(std::move(attributes)), {x});
  scale = node.pointwise(PointwiseFunction::multiply, {scale}, {Immediate::of(node.real("alpha", 1e-4F))});
  scale = node.pointwise(PointwiseFunction::add, {scale}, {Immediate::of(node.real("bias", 1.0F))});
  scale = node.pointwise(PointwiseFunction::power, {scale}, {Immediate::of(node.real("beta", 0.75F))});
  node.set_output(0, node.pointwise(PointwiseFunction::divide, {x, scale}));
}

constexpr std::array records{
    OperatorRecord{"AveragePool", 1, build_average_pool, {types::floats}},
    OperatorRecord{"GlobalAveragePool", 1, build_global_pool<ReductionFunction::mean>, {types::floats}},
    OperatorRecord{"GlobalLpPool", 1, build_global_lp_pool, {types::floats}},
    OperatorRecord{"GlobalMaxPool", 1, build_global_pool<ReductionFunction::maximum>, {types::floats}},
    OperatorRecord{"LRN", 1, build_local_response_normalization, {types::floats}},
    OperatorRecord{"LpPool", 1, build_lp_pool, {types::floats}},
    OperatorRecord{"MaxPool", 1, build_max_pool, {types::floats | types::bytes}},
};

}  // namespace

std::span<const OperatorRecord> window_operators() { return records; }

}  // namespace lapilli::onnx
