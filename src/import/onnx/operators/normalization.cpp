// Softmax and its relatives, and normalizations with statistics.
#include "ops/normalization.h"

#include <algorithm>
#include <array>
#include <format>
#include <numeric>
#include <utility>

#include "import/onnx/operators/node_builder.h"
#include "ops/reduction.h"

namespace lapilli::onnx {
namespace {

std::vector<int> axes_from(int first, std::size_t rank) {
  std::vector<int> axes(rank - static_cast<std::size_t>(first));
  std::iota(axes.begin(), axes.end(), first);
  return axes;
}

// Before opset 13 the axis splits the shape in two and all axes from it on are one row; from then on it is one axis.
std::vector<int> softmax_axes(NodeBuilder& node) {
  const std::size_t rank = node.rank(node.input(0));
  if (node.opset() >= 13) return {node.axis(node.integer("axis", -1), rank)};
  const std::int64_t wanted = node.integer("axis", 1);
  if (std::cmp_equal(wanted, rank)) return {};
  return axes_from(node.axis(wanted, rank), rank);
}

template <NormalizationKind kind>
void build_softmax(NodeBuilder& node) {
  NormalizationAttributes attributes;
  attributes.kind = kind;
  attributes.axes = softmax_axes(node);
  node.set_output(0, node.add(std::make_shared<Normalization>(std::move(attributes)), {node.input(0)}));
}

// 1 at the first largest element of the row, 0 elsewhere.
void build_hardmax(NodeBuilder& node) {
  const ValueId x = node.input(0);
  const Shape shape = node.shape(x);
  const std::vector<int> axes = softmax_axes(node);
  ValueId rows = x;
  std::size_t axis = axes.empty() ? 0 : static_cast<std::size_t>(axes[0]);
  if (axes.size() != 1) {
    const std::span all(shape);
    rows = node.reshape(x, {element_count(all.first(axis)), element_count(all.subspan(axis))});
    axis = 1;
  }
  const ValueId index =
      node.add(std::make_shared<ExtremeIndex>(ReductionFunction::first_largest, static_cast<int>(axis)), {rows});
  const ValueId positions = node.cast(node.positions(node.shape(rows)[axis], axis, node.rank(rows)), DType::int64);
  const ValueId hits = node.cast(node.pointwise(PointwiseFunction::equal, {index, positions}), node.dtype(x));
  node.set_output(0, node.reshape(hits, shape));
}

ValueId scale_and_add(NodeBuilder& node, ValueId value, ValueId scale, ValueId bias) {
  if (scale != no_value) value = node.pointwise(PointwiseFunction::multiply, {value, scale});
  if (bias != no_value) value = node.pointwise(PointwiseFunction::add, {value, bias});
  return value;
}

void build_layer_normalization(NodeBuilder& node) {
  const ValueId x = node.input(0);
  NormalizationAttributes attributes;
  attributes.kind = NormalizationKind::standard_score;
  attributes.axes = axes_from(node.axis(node.integer("axis", -1), node.rank(x)), node.rank(x));
  attributes.epsilon = node.real("epsilon", 1e-5F);
  attributes.statistics = node.wants_output(1) || node.wants_output(2);
  const std::vector<ValueId> results = node.add_all(std::make_shared<Normalization>(std::move(attributes)), {x});
  node.set_output(0, scale_and_add(node, results[0], node.input(1), node.has_input(2) ? node.input(2) : no_value));
  for (std::size_t i = 1; i < results.size(); ++i) node.set_output(i, results[i]);
}

void build_rms_normalization(NodeBuilder& node) {
  const ValueId x = node.input(0);
  NormalizationAttributes attributes;
  attributes.kind = NormalizationKind::root_mean_square;
  attributes.axes = axes_from(node.axis(node.integer("axis", -1), node.rank(x)), node.rank(x));
  attributes.epsilon = node.real("epsilon", 1e-5F);
  node.set_output(0, scale_and_add(node, node.add(std::make_shared<Normalization>(std::move(attributes)), {x}),
                                   node.input(1), no_value));
}

void build_instance_normalization(NodeBuilder& node) {
  const ValueId x = node.input(0);
  NormalizationAttributes attributes;
  attributes.kind = NormalizationKind::standard_score;
  attributes.axes = axes_from(2, node.rank(x));
  attributes.epsilon = node.real("epsilon", 1e-5F);
  const ValueId score = node.add(std::make_shared<Normalization>(std::move(attributes)), {x});
  const std::size_t rank = node.rank(x);
  node.set_output(
      0, scale_and_add(node, score, node.per_channel(node.input(1), rank), node.per_channel(node.input(2), rank)));
}

// Up to opset 20 scale and bias are given for each group, from 21 on for each channel.
ValueId group_parameter(NodeBuilder& node, ValueId value, std::int64_t groups) {
  const Shape& shape = node.shape(node.input(0));
  if (node.opset() >= 21) return node.per_channel(value, shape.size());
  const Dim channels = Dim::floor_divide(shape[1], groups);
  const ValueId column = node.reshape(value, {groups, 1});
  Shape wide(2);
  wide = {Dim(groups), channels};
  const ValueId ones = node.cast(
      node.constant(Tensor::allocate(DType::float32, {1, node.assumptions().number(channels)})), node.dtype(value));
  return node.per_channel(node.reshape(node.pointwise(PointwiseFunction::add, {column, ones}), {shape[1]}),
                          shape.size());
}

void build_group_normalization(NodeBuilder& node) {
  const ValueId x = node.input(0);
  const std::int64_t groups = node.integer("num_groups", 0);
  if (groups <= 0) node.fail_model(std::format("num_groups is {}", groups));
  NormalizationAttributes attributes;
  attributes.kind = NormalizationKind::standard_score;
  attributes.axes = axes_from(1, node.rank(x));
  attributes.epsilon = node.real("epsilon", 1e-5F);
  attributes.channel_groups = groups;
  const ValueId score = node.add(std::make_shared<Normalization>(std::move(attributes)), {x});
  node.set_output(0, scale_and_add(node, score, group_parameter(node, node.input(1), groups),
                                   group_parameter(node, node.input(2), groups)));
}

void build_mean_variance_normalization(NodeBuilder& node) {
  const ValueId x = node.input(0);
  NormalizationAttributes attributes;
  attributes.kind = NormalizationKind::standard_score;
  for (const std::int64_t axis : node.integers("axes").value_or(std::vector<std::int64_t>{0, 2, 3})) {
    attributes.axes.push_back(node.axis(axis, node.rank(x)));
  }
  std::ranges::sort(attributes.axes);
  node.set_output(0, node.add(std::make_shared<Normalization>(std::move(attributes)), {x}));
}

// Each row over its norm.
void build_lp_normalization(NodeBuilder& node) {
  const ValueId x = node.input(0);
  const int axis = node.axis(node.integer("axis", -1), node.rank(x));
  const std::int64_t p = node.integer("p", 2);
  if (p != 1 && p != 2) node.fail_model(std::format("p is {}, neither 1 nor 2", p));
  const auto sum = std::make_shared<Reduction>(
      ReductionFunction::sum, p == 1 ? Preparation::absolute : Preparation::square, std::vector{axis});
  ValueId norm = node.add(sum, {x});
  if (p == 2) norm = node.pointwise(PointwiseFunction::square_root, {norm});
  // Where all elements are zero, so are the results.
  const ValueId empty = node.pointwise(PointwiseFunction::equal, {norm}, {Immediate::of(0)});
  norm = node.pointwise(PointwiseFunction::select, {empty, node.scalar(node.dtype(norm), 1), norm});
  node.set_output(0, node.pointwise(PointwiseFunction::divide, {x, norm}));
}

constexpr std::array records{
    OperatorRecord{"GroupNormalization", 18, build_group_normalization, {types::floats}},
    OperatorRecord{"Hardmax", 1, build_hardmax, {types::floats}},
    OperatorRecord{"InstanceNormalization", 1, build_instance_normalization, {types::floats}},
    OperatorRecord{"LayerNormalization", 17, build_layer_normalization, {types::floats}},
    OperatorRecord{"LogSoftmax", 1, build_softmax<NormalizationKind::log_softmax>, {types::floats}},
    OperatorRecord{"LpNormalization", 1, build_lp_normalization, {types::floats}},
    OperatorRecord{"MeanVarianceNormalization", 9, build_mean_variance_normalization, {types::floats}},
    OperatorRecord{"RMSNormalization", 23, build_rms_normalization, {types::floats}},
    OperatorRecord{"Softmax", 1, build_softmax<NormalizationKind::softmax>, {types::floats}},
};

}  // namespace

std::span<const OperatorRecord> normalization_operators() { return records; }

}  // namespace lapilli::onnx
