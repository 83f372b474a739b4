// Operators that follow from where an element lies: triangles, identity matrices, one-hot rows, ranges, reversals.
#include <array>
#include <format>
#include <numeric>

#include "base/checked.h"
#include "import/onnx/operators/node_builder.h"
#include "import/onnx/tensor_reader.h"
#include "ops/gather.h"
#include "ops/movement.h"

namespace lapilli::onnx {
namespace {

using Function = PointwiseFunction;

// The number of the diagonal as an int32 that sums with positions cannot overflow.
ValueId diagonal(NodeBuilder& node, ValueId k) {
  constexpr std::int64_t beyond = std::int64_t{1} << 30U;
  const ValueId near =
      node.pointwise(Function::clamp, {k},
                     {Immediate::of_integer(DType::int64, -beyond), Immediate::of_integer(DType::int64, beyond)});
  return node.cast(node.reshape(near, {}), DType::int32);
}

void build_triangle(NodeBuilder& node) {
  const ValueId x = node.input(0);
  const Shape shape = node.shape(x);
  if (shape.size() < 2) node.fail_model(std::format("{} has no rows and columns", node.fact(x).to_string()));
  const ValueId rows = node.positions(shape[shape.size() - 2], 0, 2), columns = node.positions(shape.back(), 1, 2);
  const ValueId edge =
      node.has_input(1) ? node.pointwise(Function::add, {rows, diagonal(node, node.input(1))}) : rows;
  const bool upper = node.integer("upper", 1) != 0;
  const ValueId kept =
      node.pointwise(Function::less_or_equal, upper ? std::vector{edge, columns} : std::vector{columns, edge});
  node.set_output(0, node.pointwise(Function::select, {kept, x}, {Immediate::of(0)}));
}

void build_eye_like(NodeBuilder& node) {
  const ValueId x = node.input(0);
  const Shape shape = node.shape(x);
  if (shape.size() != 2) node.fail_model(std::format("{} is no matrix", node.fact(x).to_string()));
  const DType dtype =
      node.has_attribute("dtype") ? read_dtype(checked_cast<std::int32_t>(node.integer("dtype", 0))) : node.dtype(x);
  const std::array values{node.integer("k", 0)};
  const ValueId k = diagonal(node, node.constant(Tensor::of<std::int64_t>(DType::int64, {}, values)));
  const ValueId edge = node.pointwise(Function::add, {node.positions(shape[0], 0, 2), k});
  node.set_output(0, node.cast(node.pointwise(Function::equal, {edge, node.positions(shape[1], 1, 2)}), dtype));
}

// An index outside [-depth, depth) makes a row without the on-value.
void build_one_hot(NodeBuilder& node) {
  const ValueId values = node.input(2);
  const std::size_t rank = node.rank(node.input(0)) + 1;
  const int axis = node.axis(node.integer("axis", -1), rank);
  const std::vector<Dim> depths =
      is_floating_point(node.dtype(node.input(1)))
          ? std::vector<Dim>{static_cast<std::int64_t>(Immediate::of_tensor(node.constant(1)).real)}
          : node.integers(1);
  if (depths.size() != 1 || node.assumptions().less(depths[0], 0)) {
    node.fail_model(std::format("depth {} is not one size", shape_text(depths)));
  }
  if (node.rank(values) != 1 || !node.assumptions().equal(node.shape(values)[0], 2)) {
    node.fail_model(std::format("values {} are not two: off and on", node.fact(values).to_string()));
  }
  const Dim& depth = depths[0];
  const ValueId indices = node.cast(node.input(0), DType::int64);
  const ValueId from_end = node.pointwise(Function::add, {indices, node.reshape(node.sizes({depth}), {})});
  const ValueId negative = node.pointwise(Function::less, {indices}, {Immediate::of_integer(DType::int64, 0)});
  const ValueId place = node.pointwise(Function::select, {negative, from_end, indices});
  const ValueId numbers = node.cast(node.positions(depth, static_cast<std::size_t>(axis), rank), DType::int64);
  const std::array new_axes{axis};
  const ValueId hit = node.pointwise(Function::equal, {node.unsqueeze(place, new_axes), numbers});
  const auto value = [&](std::int64_t index) {
    const std::vector<Dim> start{index}, size{1}, step{1};
    return node.reshape(node.add(std::make_shared<Slice>(start, size, step), {values}), {});
  };
  node.set_output(0, node.pointwise(Function::select, {hit, value(1), value(0)}));
}

// Elements before the length of a sequence in reverse order; the others stay.
void build_reverse_sequence(NodeBuilder& node) {
  ValueId x = node.input(0);
  const std::size_t rank = node.rank(x);
  if (rank < 2) node.fail_model(std::format("{} has no time and batch", node.fact(x).to_string()));
  const std::int64_t batch = node.integer("batch_axis", 1), time = node.integer("time_axis", 0);
  if (batch + time != 1 || batch * time != 0) {
    node.fail_model(std::format("batch_axis {} and time_axis {} are not 0 and 1", batch, time));
  }
  std::vector<int> swapped(rank);
  std::iota(swapped.begin(), swapped.end(), 0);
  std::swap(swapped[0], swapped[1]);
  const auto swap = [&](ValueId value) { return node.add(std::make_shared<Transpose>(swapped), {value}); };
  if (batch == 1) x = swap(x);
  const Dim batches = node.shape(x)[0], times = node.shape(x)[1];
  const ValueId lengths = node.reshape(node.cast(node.input(1), DType::int32), {batches, 1});
  const ValueId position = node.positions(times, 1, 2);
  const ValueId last = node.pointwise(Function::subtract, {lengths}, {Immediate::of_integer(DType::int32, 1)});
  const ValueId place =
      node.pointwise(Function::select, {node.pointwise(Function::less, {position, lengths}),
                                        node.pointwise(Function::subtract, {last, position}), position});
  const ValueId reversed = node.add(std::make_shared<GatherTuples>(1), {x, node.reshape(place, {batches, times, 1})});
  node.set_output(0, batch == 1 ? swap(reversed) : reversed);
}

constexpr std::array records{
    OperatorRecord{"EyeLike", 9, build_eye_like, {types::plain}},
    OperatorRecord{"OneHot", 9, build_one_hot, {types::numbers, types::numbers, types::tensors}},
    OperatorRecord{"ReverseSequence", 10, build_reverse_sequence, {types::tensors, types::sizes}},
    OperatorRecord{"Trilu", 14, build_triangle, {types::tensors, types::sizes}},
};

}  // namespace

std::span<const OperatorRecord> position_operators() { return records; }

}  // namespace lapilli::onnx
