// Operators that only move elements.
#include "ops/movement.h"

#include <algorithm>
#include <array>
#include <format>
#include <iterator>
#include <limits>
#include <numeric>

#include "import/onnx/operators/node_builder.h"

namespace lapilli::onnx {
namespace {

void build_transpose(NodeBuilder& node) {
  const std::size_t rank = node.rank(node.input(0));
  std::vector<int> permutation;
  if (const auto wanted = node.integers("perm")) {
    for (const std::int64_t axis : *wanted) permutation.push_back(node.axis(axis, rank));
  } else {
    for (std::size_t i = rank; i-- > 0;) permutation.push_back(static_cast<int>(i));
  }
  node.set_output(0, node.add(std::make_shared<Transpose>(std::move(permutation)), {node.input(0)}));
}

// An operand without elements is dropped, whatever its rank (users of old exporters join with an empty vector).
void build_concat(NodeBuilder& node) {
  std::vector<ValueId> operands;
  for (std::size_t i = 0; i < node.input_count(); ++i) {
    if (node.shape(node.input(i)) != Shape{Dim(0)}) operands.push_back(node.input(i));
  }
  if (operands.empty()) operands.push_back(node.input(0));
  constexpr std::int64_t default_axis = 1;
  const int axis = node.axis(node.integer("axis", default_axis), node.rank(operands[0]));
  if (operands.size() == 1) return node.set_output(0, operands[0]);
  node.set_output(0, node.add(std::make_shared<Concat>(axis), std::move(operands)));
}

struct Bounds {
  std::vector<Dim> start, size, step;
};

Bounds whole(const Shape& shape) {
  return {std::vector<Dim>(shape.size(), Dim(0)), shape, std::vector<Dim>(shape.size(), Dim(1))};
}

void build_split(NodeBuilder& node) {
  const ValueId value = node.input(0);
  const Shape& shape = node.shape(value);
  const auto axis = static_cast<std::size_t>(node.axis(node.integer("axis", 0), shape.size()));
  std::vector<Dim> sizes;
  auto wanted = node.integers_from("split", 1, 13);
  if (node.opset() >= 18 && wanted.has_value() == node.has_attribute("num_outputs"))
    node.fail_model("one of split and num_outputs has to be given");
  if (wanted) {
    sizes = std::move(*wanted);
  } else {
    const auto parts = static_cast<std::int64_t>(node.has_attribute("num_outputs")
                                                     ? static_cast<std::size_t>(node.integer("num_outputs", 0))
                                                     : node.outputs().size());
    if (parts <= 0) node.fail_model(std::format("a split into {} parts", parts));
    const Dim part = Dim::ceil_divide(shape[axis], parts);
    sizes.assign(static_cast<std::size_t>(parts), part);
    sizes.back() = shape[axis] - part * Dim(parts - 1);
  }
  if (sizes.size() != node.outputs().size())
    node.fail_model(std::format("{} parts for {} outputs", sizes.size(), node.outputs().size()));
  Dim total = 0;
  for (const Dim& size : sizes) total = total + size;
  if (!node.assumptions().equal(total, shape[axis])) {
    node.fail_model(
        std::format("parts of {} in all do not split axis {} of {}", total.to_string(), axis, shape_text(shape)));
  }
  Dim position = 0;
  for (std::size_t i = 0; i < node.outputs().size(); ++i) {
    Bounds bounds = whole(shape);
    bounds.start[axis] = position;
    bounds.size[axis] = sizes[i];
    position = position + sizes[i];
    node.set_output(i, node.add(std::make_shared<Slice>(bounds.start, bounds.size, bounds.step), {value}));
  }
}

// A bound counted from the end when negative, then kept within [low, high].
Dim clamp_bound(NodeBuilder& node, Dim bound, const Dim& size, const Dim& low, const Dim& high) {
  Assumptions& assumptions = node.assumptions();
  constexpr std::int64_t beyond = std::int64_t{1} << 60U;  // exporters write INT64_MAX for "to the end"
  if (const auto number = bound.constant()) {
    if (*number >= beyond) return high;
    if (*number <= -beyond) return low;
  }
  if (assumptions.less(bound, 0)) bound = bound + size;
  if (assumptions.less(bound, low)) return low;
  return assumptions.less(high, bound) ? high : bound;
}

void slice_axis(NodeBuilder& node, Bounds& bounds, std::size_t axis, const Dim& start, const Dim& end,
                std::int64_t step) {
  const Dim size = bounds.size[axis];
  if (step == 0) node.fail_model(std::format("the step of axis {} is 0", axis));
  constexpr std::int64_t farthest = std::numeric_limits<std::int32_t>::max();  // past every axis
  step = std::clamp(step, -farthest, farthest);
  const bool forward = step > 0;
  const Dim low = forward ? Dim(0) : Dim(-1), high = forward ? size : size - Dim(1);
  const Dim from = clamp_bound(node, start, size, Dim(0), high);
  const Dim to = clamp_bound(node, end, size, low, high);
  const Dim distance = forward ? to - from : from - to;
  // Backwards, the last element of none would be taken for one.
  const bool nothing = !forward && node.assumptions().equal(size, 0);
  const bool empty = nothing || !node.assumptions().less(0, distance);
  bounds.start[axis] = empty ? Dim(0) : from;
  bounds.size[axis] = empty ? Dim(0) : Dim::ceil_divide(distance, forward ? step : -step);
  bounds.step[axis] = step;
}

void build_slice(NodeBuilder& node) {
  const Shape& shape = node.shape(node.input(0));
  const auto starts = node.integers_from("starts", 1, 10), ends = node.integers_from("ends", 2, 10);
  if (!starts || !ends || starts->size() != ends->size())
    node.fail_model("starts and ends are missing or differ in length");
  const auto axes = node.integers_from("axes", 3, 10), steps = node.integers_from("", 4, 10);
  Bounds bounds = whole(shape);
  for (std::size_t i = 0; i < starts->size(); ++i) {
    if (axes && i >= axes->size()) node.fail_model("fewer axes than starts");
    if (steps && i >= steps->size()) node.fail_model("fewer steps than starts");
    const std::int64_t wanted = axes ? node.assumptions().number((*axes)[i]) : static_cast<std::int64_t>(i);
    const auto axis = static_cast<std::size_t>(node.axis(wanted, shape.size()));
    const std::int64_t step = steps ? node.assumptions().number((*steps)[i]) : 1;
    slice_axis(node, bounds, axis, (*starts)[i], (*ends)[i], step);
  }
  node.set_output(0, node.add(std::make_shared<Slice>(bounds.start, bounds.size, bounds.step), {node.input(0)}));
}

// The marked axes in groups, one a node: all of them at once would be more loops than kernels have, or copies whose
// number is a power of theirs. One group at least.
std::vector<std::vector<std::size_t>> axes_of_nodes(const std::vector<bool>& marked) {
  constexpr std::size_t together = 3;
  std::vector<std::vector<std::size_t>> groups(1);
  for (std::size_t axis = 0; axis < marked.size(); ++axis) {
    if (!marked[axis]) continue;
    if (groups.back().size() == together) groups.emplace_back();
    groups.back().push_back(axis);
  }
  return groups;
}

// Each axis becomes two, of which the first is repeated.
void build_tile(NodeBuilder& node) {
  const Shape& shape = node.shape(node.input(0));
  const std::vector<Dim> repeats = node.integers(1);
  if (repeats.size() != shape.size())
    node.fail_model(std::format("{} repeats for {}", repeats.size(), shape_text(shape)));
  ValueId value = node.input(0);
  std::vector<bool> repeated;
  std::ranges::transform(repeats, std::back_inserter(repeated), [](const Dim& times) { return times != Dim(1); });
  for (const std::vector<std::size_t>& part : axes_of_nodes(repeated)) {
    Shape split, expanded, merged = node.shape(value);
    for (std::size_t i = 0; i < shape.size(); ++i) {
      const Dim times = std::ranges::contains(part, i) ? repeats[i] : Dim(1);
      split.insert(split.end(), {Dim(1), merged[i]});
      expanded.insert(expanded.end(), {times, merged[i]});
      merged[i] = times * merged[i];
    }
    const ValueId wide = node.reshape(value, std::move(split));
    value = node.reshape(node.add(std::make_shared<Expand>(std::move(expanded)), {wide}), std::move(merged));
  }
  node.set_output(0, value);
}

PadMode pad_mode(NodeBuilder& node) {
  const std::string mode = node.text("mode", "constant");
  if (mode == "constant") return PadMode::constant;
  if (mode == "edge") return PadMode::edge;
  if (mode == "reflect") return PadMode::reflect;
  if (mode == "wrap") return PadMode::wrap;
  node.fail_model(std::format("mode '{}' is none of constant, edge, reflect, wrap", mode));
}

// The value to pad with, a scalar; nothing for zero.
std::optional<ValueId> pad_value(NodeBuilder& node) {
  const DType dtype = node.dtype(node.input(0));
  if (node.opset() >= 11) return node.has_input(2) ? std::optional(node.reshape(node.input(2), {})) : std::nullopt;
  const std::array value{node.real("value", 0.0F)};
  return node.cast(node.constant(Tensor::of<float>(DType::float32, {}, value)), dtype);
}

// Pads with elements of the input, some axes after the others.
ValueId repeat_edges(NodeBuilder& node, PadMode mode, ValueId value, std::span<const Dim> before,
                     std::span<const Dim> after) {
  std::vector<bool> padded;
  for (std::size_t i = 0; i < before.size(); ++i) padded.push_back(before[i] != Dim(0) || after[i] != Dim(0));
  for (const std::vector<std::size_t>& part : axes_of_nodes(padded)) {
    std::vector<Dim> front(before.size(), Dim(0)), back(before.size(), Dim(0));
    for (const std::size_t axis : part) {
      front[axis] = before[axis];
      back[axis] = after[axis];
    }
    value = node.add(std::make_shared<Pad>(mode, std::move(front), std::move(back), Tensor()), {value});
  }
  return value;
}

// Negative pads cut, and what is cut is cut first.
void build_pad(NodeBuilder& node) {
  ValueId value = node.input(0);
  const std::size_t rank = node.rank(value);
  const auto pads = node.opset() >= 11 ? std::optional(node.integers(1))
                                       : node.integers_from(node.opset() >= 2 ? "pads" : "paddings", 1, 11);
  if (!pads) node.fail_model("no pads are given");
  std::vector<int> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  if (node.opset() >= 18 && node.has_input(3)) {
    axes.clear();
    for (const Dim& axis : node.integers(3)) axes.push_back(node.axis(node.assumptions().number(axis), rank));
  }
  if (pads->size() != 2 * axes.size()) node.fail_model(std::format("{} pads for {} axes", pads->size(), axes.size()));
  std::vector<Dim> before(rank, Dim(0)), after(rank, Dim(0));
  Bounds cut = whole(node.shape(value));
  bool cuts = false;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(axes[i]);
    const Dim &front = (*pads)[i], &back = (*pads)[i + axes.size()];
    const bool cuts_front = node.assumptions().less(front, 0), cuts_back = node.assumptions().less(back, 0);
    if (cuts_front) cut.start[axis] = Dim(0) - front;
    cut.size[axis] = cut.size[axis] + (cuts_front ? front : Dim(0)) + (cuts_back ? back : Dim(0));
    if (node.assumptions().less(cut.size[axis], 0))
      node.fail_model(std::format("more than the whole of axis {} is cut off", axis));
    before[axis] = cuts_front ? Dim(0) : front;
    after[axis] = cuts_back ? Dim(0) : back;
    cuts = cuts || cuts_front || cuts_back;
  }
  if (cuts) value = node.add(std::make_shared<Slice>(cut.start, cut.size, cut.step), {value});
  const PadMode mode = pad_mode(node);
  if (mode != PadMode::constant) return node.set_output(0, repeat_edges(node, mode, value, before, after));
  const std::optional<ValueId> fill = pad_value(node);
  const Tensor known = fill ? node.fact(*fill).constant : Tensor();
  std::vector<ValueId> inputs{value};
  if (fill && !known.defined()) inputs.push_back(*fill);
  node.set_output(
      0, node.add(std::make_shared<Pad>(mode, std::move(before), std::move(after), known), std::move(inputs)));
}

ValueId permute(NodeBuilder& node, ValueId value, Shape split, std::vector<int> permutation, Shape merged) {
  const ValueId wide = node.reshape(value, std::move(split));
  return node.reshape(node.add(std::make_shared<Transpose>(std::move(permutation)), {wide}), std::move(merged));
}

std::int64_t block_size(NodeBuilder& node) {
  const std::int64_t block = node.integer("blocksize", 0);
  if (block <= 0 || block > 1 << 15) node.fail_model(std::format("blocksize {}", block));
  if (node.rank(node.input(0)) != 4)
    node.fail_model(std::format("the input {} is not of rank 4", node.fact(node.input(0)).to_string()));
  return block;
}

bool channels_first(NodeBuilder& node) {
  const std::string mode = node.text("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") node.fail_model(std::format("mode '{}' is none of DCR, CRD", mode));
  return mode == "CRD";
}

void build_depth_to_space(NodeBuilder& node) {
  const std::int64_t b = block_size(node);
  const Shape shape = node.shape(node.input(0));
  const Dim channels = Dim::floor_divide(shape[1], b * b);
  Shape merged{shape[0], channels, shape[2] * Dim(b), shape[3] * Dim(b)};
  if (channels_first(node)) {
    return node.set_output(0, permute(node, node.input(0), {shape[0], channels, b, b, shape[2], shape[3]},
                                      {0, 1, 4, 2, 5, 3}, std::move(merged)));
  }
  node.set_output(0, permute(node, node.input(0), {shape[0], b, b, channels, shape[2], shape[3]}, {0, 3, 4, 1, 5, 2},
                             std::move(merged)));
}

void build_space_to_depth(NodeBuilder& node) {
  const std::int64_t b = block_size(node);
  const Shape shape = node.shape(node.input(0));
  const Dim height = Dim::floor_divide(shape[2], b), width = Dim::floor_divide(shape[3], b);
  node.set_output(
      0, permute(node, node.input(0), {shape[0], shape[1], height, b, width, b},
                 channels_first(node) ? std::vector<int>{0, 1, 3, 5, 2, 4} : std::vector<int>{0, 3, 5, 1, 2, 4},
                 {shape[0], shape[1] * Dim(b * b), height, width}));
}

constexpr std::array records{
    OperatorRecord{"Concat", 1, build_concat, {types::tensors}},
    OperatorRecord{"DepthToSpace", 1, build_depth_to_space, {types::tensors}},
    OperatorRecord{"Pad", 1, build_pad, {types::all, types::sizes, types::all, types::indices}},
    OperatorRecord{"Slice", 1, build_slice, {types::tensors, types::indices}},
    OperatorRecord{"SpaceToDepth", 1, build_space_to_depth, {types::tensors}},
    OperatorRecord{"Split", 1, build_split, {types::tensors, types::sizes}},
    OperatorRecord{"Tile", 6, build_tile, {types::tensors, types::sizes}},
    OperatorRecord{"Transpose", 1, build_transpose, {types::all}},
};

}  // namespace

std::span<const OperatorRecord> movement_operators() { return records; }

}  // namespace lapilli::onnx
