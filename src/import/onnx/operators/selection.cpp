// Operators whose results are as large as the data say, as expand.h takes them apart: results of the largest size
// that they can have, with their true size beside them, and the cut to that size.
#include <array>
#include <format>

#include "import/onnx/operators/node_builder.h"
#include "ops/gather.h"
#include "ops/movement.h"
#include "ops/range.h"
#include "ops/reduction.h"
#include "ops/scan.h"
#include "ops/sort.h"
#include "ops/suppression.h"

namespace lapilli::onnx {
namespace {

using Function = PointwiseFunction;

ValueId size_of(NodeBuilder& node, const Dim& size) {
  return node.cast(node.reshape(node.sizes({size}), {}), DType::int32);
}

// Elements that are set, of int32 flags of shape [n].
struct Selection {
  ValueId sums;    ///< how many are set up to and with each element
  ValueId places;  ///< of the first, second, ... that is set; n behind the last one
  ValueId count;   ///< int32 of shape [1]
};

Selection select_set(NodeBuilder& node, ValueId flags) {
  const Dim n = node.shape(flags)[0];
  const ValueId sums = node.add(std::make_shared<Scan>(ReductionFunction::sum, 0), {flags});
  const ValueId one = node.scalar(DType::int32, 1);
  const ValueId numbers = node.add(std::make_shared<Range>(n), {one, one});
  const ValueId places = node.add(std::make_shared<Search>(false), {sums, numbers});
  const auto total = std::make_shared<Reduction>(ReductionFunction::sum, Preparation::none, std::vector{0});
  return {sums, places, node.add(total, {flags})};
}

// The same without places past the end.
ValueId within(NodeBuilder& node, ValueId places, const Dim& n) {
  return node.pointwise(Function::minimum, {places, size_of(node, n - Dim(1))});
}

ValueId flat(NodeBuilder& node, ValueId value) { return node.reshape(value, {element_count(node.shape(value))}); }

ValueId gather(NodeBuilder& node, ValueId value, ValueId places, int axis = 0) {
  return node.add(std::make_shared<Gather>(axis), {value, places});
}

ValueId flags_of(NodeBuilder& node, ValueId value) {
  return node.cast(node.cast(flat(node, value), DType::boolean), DType::int32);
}

void set_wide(NodeBuilder& node, std::size_t output, ValueId value) {
  if (node.wants_output(output)) node.set_output(output, node.cast(value, DType::int64));
}

// The first elements along an axis, as many as input 1 says.
void build_take(NodeBuilder& node) {
  const ValueId padded = node.input(0);
  const auto axis = static_cast<std::size_t>(node.axis(node.integer("axis", 0), node.rank(padded)));
  const std::vector<Dim> count = node.integers(1);
  if (count.size() != 1) node.fail_model(std::format("{} sizes where one is needed", count.size()));
  std::vector<Dim> size = node.shape(padded);
  const std::vector<Dim> start(size.size(), Dim(0)), step(size.size(), Dim(1));
  size[axis] = count[0];
  node.set_output(0, node.add(std::make_shared<Slice>(start, std::move(size), step), {padded}));
}

// Without an axis, of the elements in row-major order.
void build_gather_slices(NodeBuilder& node) {
  const ValueId x = node.input(0);
  const bool has_axis = node.has_attribute("axis");
  const int axis = has_axis ? node.axis(node.integer("axis", 0), node.rank(x)) : 0;
  node.set_output(0, gather(node, has_axis ? x : flat(node, x), node.input(1), axis));
}

void build_selected(NodeBuilder& node) {
  const ValueId condition = node.input(0);
  if (node.dtype(condition) != DType::boolean || node.rank(condition) != 1) {
    node.fail_model(
        std::format("the condition is {}, one axis of booleans is needed", node.fact(condition).to_string()));
  }
  const Selection selection = select_set(node, node.cast(condition, DType::int32));
  set_wide(node, 0, within(node, selection.places, node.shape(condition)[0]));
  set_wide(node, 1, selection.count);
}

// Coordinates of places in row-major order, one axis of a shape each, as int32 values of shape [n].
std::vector<ValueId> coordinates(NodeBuilder& node, ValueId places, std::span<const Dim> shape) {
  std::vector<ValueId> result(shape.size(), no_value);
  for (std::size_t axis = shape.size(); axis-- > 1;) {
    const ValueId size = size_of(node, shape[axis]);
    result[axis] = node.pointwise(Function::remainder, {places, size});
    places = node.pointwise(Function::divide, {places, size});
  }
  if (!shape.empty()) result[0] = places;
  return result;
}

void build_non_zero(NodeBuilder& node) {
  const ValueId x = node.input(0), flags = flags_of(node, x);
  const Shape shape = node.shape(x);
  const Dim n = node.shape(flags)[0];
  const Selection selection = select_set(node, flags);
  set_wide(node, 1, selection.count);
  if (shape.empty()) return node.set_output(0, node.constant(Tensor::allocate(DType::int64, {0, 1})));
  std::vector<ValueId> rows;
  for (const ValueId row : coordinates(node, within(node, selection.places, n), shape)) {
    rows.push_back(node.reshape(row, {1, n}));
  }
  set_wide(node, 0, rows.size() == 1 ? rows[0] : node.add(std::make_shared<Concat>(0), std::move(rows)));
}

// Where a slice along an axis differs from the one before, as booleans of shape [n].
ValueId differs_from_previous(NodeBuilder& node, ValueId sorted, std::size_t axis) {
  const Dim n = node.shape(sorted)[axis];
  const ValueId position = node.positions(n), zero = node.scalar(DType::int32, 0), one = node.scalar(DType::int32, 1);
  const ValueId previous =
      node.pointwise(Function::maximum, {node.pointwise(Function::subtract, {position, one}), zero});
  const ValueId before = gather(node, sorted, previous, static_cast<int>(axis));
  ValueId same = node.pointwise(Function::equal, {sorted, before});
  if (is_floating_point(node.dtype(sorted))) {
    const ValueId neither = node.pointwise(Function::logical_and, {node.pointwise(Function::is_nan, {sorted}),
                                                                   node.pointwise(Function::is_nan, {before})});
    same = node.pointwise(Function::logical_or, {same, neither});
  }
  const ValueId differs = node.cast(node.pointwise(Function::logical_not, {same}), DType::int32);
  std::vector<int> across;
  for (std::size_t i = 0; i < node.rank(sorted); ++i) {
    if (i != axis) across.push_back(static_cast<int>(i));
  }
  const auto sum = std::make_shared<Reduction>(ReductionFunction::sum, Preparation::none, std::move(across));
  return node.pointwise(Function::less, {zero, node.reshape(node.add(sum, {differs}), {n})});
}

ValueId places_in_order(NodeBuilder& node, SortKey key, ValueId value, std::size_t axis = 0) {
  return node.add(std::make_shared<Sort>(key, static_cast<int>(axis), false, node.shape(value)[axis]), {value});
}

// Groups of equal elements: where each begins, how large it is, and the group of every element.
struct Groups {
  ValueId firsts, sizes, inverse, count;
};

Groups sorted_groups(NodeBuilder& node, ValueId x, std::size_t axis) {
  const Dim n = node.shape(x)[axis];
  const ValueId order = places_in_order(node, SortKey::slice, x, axis);
  const ValueId differs = differs_from_previous(node, gather(node, x, order, static_cast<int>(axis)), axis);
  const ValueId position = node.positions(n), zero = node.scalar(DType::int32, 0), one = node.scalar(DType::int32, 1);
  const ValueId is_first =
      node.pointwise(Function::logical_or, {differs, node.pointwise(Function::equal, {position, zero})});
  const Selection starts = select_set(node, node.cast(is_first, DType::int32));
  const ValueId group = node.pointwise(Function::subtract, {starts.sums, one});
  // The places of a permutation in order are its inverse.
  const ValueId inverse = gather(node, group, places_in_order(node, SortKey::element, order));
  const ValueId next = node.pointwise(Function::add, {position, one}), end = size_of(node, n);
  const ValueId next_start = gather(node, starts.places, within(node, next, n));
  const ValueId next_or_end =
      node.pointwise(Function::select, {node.pointwise(Function::less, {next, end}), next_start, end});
  const ValueId sizes = node.pointwise(Function::subtract, {next_or_end, starts.places});
  return {gather(node, order, within(node, starts.places, n)), sizes, inverse, starts.count};
}

// The same groups in the order in which they are first met.
Groups met_groups(NodeBuilder& node, const Groups& groups) {
  const Dim n = node.shape(groups.firsts)[0];
  const ValueId exists = node.pointwise(Function::less, {node.positions(n), groups.count});
  const ValueId firsts = node.pointwise(Function::select, {exists, groups.firsts, size_of(node, n)});
  const ValueId order = places_in_order(node, SortKey::element, firsts);
  const ValueId rank = places_in_order(node, SortKey::element, order);
  return {gather(node, groups.firsts, order), gather(node, groups.sizes, order), gather(node, rank, groups.inverse),
          groups.count};
}

void build_unique(NodeBuilder& node) {
  ValueId x = node.input(0);
  const bool has_axis = node.has_attribute("axis");
  if (!has_axis) x = flat(node, x);
  const int axis = has_axis ? node.axis(node.integer("axis", 0), node.rank(x)) : 0;
  Groups groups = sorted_groups(node, x, static_cast<std::size_t>(axis));
  if (node.integer("sorted", 1) == 0) groups = met_groups(node, groups);
  set_wide(node, 0, groups.firsts);
  set_wide(node, 1, groups.inverse);
  set_wide(node, 2, groups.sizes);
  set_wide(node, 3, groups.count);
}

// The largest number of boxes a class, as an int32 of shape []; none where it is left out.
ValueId most_boxes(NodeBuilder& node) {
  if (!node.has_input(2)) return node.scalar(DType::int32, 0);
  constexpr std::int64_t largest = 0x7FFFFFFF;
  const ValueId most =
      node.pointwise(Function::clamp, {node.cast(node.input(2), DType::int64)},
                     {Immediate::of_integer(DType::int64, 0), Immediate::of_integer(DType::int64, largest)});
  return node.cast(node.reshape(most, {}), DType::int32);
}

void build_non_max_suppression(NodeBuilder& node) {
  const ValueId boxes = node.input(0), scores = node.input(1);
  if (node.rank(boxes) != 3 || node.rank(scores) != 3) {
    node.fail_model(std::format("boxes {} and scores {} are not of rank 3", node.fact(boxes).to_string(),
                                node.fact(scores).to_string()));
  }
  const std::int64_t centred = node.integer("center_point_box", 0);
  if (centred != 0 && centred != 1) node.fail_model(std::format("center_point_box is {}", centred));
  const Shape shape = node.shape(scores);
  const ValueId order = node.add(std::make_shared<Sort>(SortKey::element, 2, true, shape[2]), {scores});
  const auto threshold = [&](std::size_t i, ValueId otherwise) {
    return node.has_input(i) ? node.reshape(node.input(i), {}) : otherwise;
  };
  const ValueId kept = node.add(
      std::make_shared<Suppression>(centred == 1),
      {boxes, scores, order, most_boxes(node), threshold(3, node.scalar(DType::float32, 0)), threshold(4, no_value)});
  const ValueId flags = flat(node, kept);
  const Dim n = node.shape(flags)[0];
  const Selection selection = select_set(node, flags);
  const ValueId places = within(node, selection.places, n);
  std::vector<ValueId> columns = coordinates(node, places, shape);
  columns[2] = gather(node, flat(node, order), places);
  for (ValueId& column : columns) column = node.reshape(column, {n, 1});
  set_wide(node, 0, node.add(std::make_shared<Concat>(1), std::move(columns)));
  set_wide(node, 1, selection.count);
}

constexpr std::string_view domain = "lapilli";

constexpr std::array records{
    OperatorRecord{"GatherSlices", 1, build_gather_slices, {}, domain},
    OperatorRecord{"NonMaxSuppressionPadded",
                   1,
                   build_non_max_suppression,
                   {types::single, types::single, types::sizes, types::single},
                   domain},
    OperatorRecord{"NonZeroPadded", 1, build_non_zero, {types::plain}, domain},
    OperatorRecord{"SelectedPadded", 1, build_selected, {types::condition}, domain},
    OperatorRecord{"Take", 1, build_take, {}, domain},
    OperatorRecord{"UniquePadded", 1, build_unique, {types::tensors}, domain},
};

}  // namespace

std::span<const OperatorRecord> selection_operators() { return records; }

}  // namespace lapilli::onnx
