// Products with weights of a few bits in blocks that share a scale, as ONNX Runtime's exporters write them.
#include <array>
#include <bit>
#include <format>
#include <memory>

#include "import/onnx/operators/contraction.h"
#include "import/onnx/operators/quantization.h"
#include "ops/gather.h"
#include "ops/movement.h"

namespace lapilli::onnx {
namespace {

using Function = PointwiseFunction;

// The weights of MatMulNBits: a row for each of `rows` results, `columns` elements in `blocks` blocks.
struct Weights {
  Dim rows, columns;
  std::int64_t bits, block, blocks;

  [[nodiscard]] std::int64_t per_byte() const { return 8 / bits; }
};

Weights read_weights(NodeBuilder& node) {
  const std::int64_t columns = node.integer("K", 0), rows = node.integer("N", 0);
  const std::int64_t bits = node.integer("bits", 4), block = node.integer("block_size", 0);
  if (columns <= 0 || rows <= 0) node.fail_model(std::format("K is {} and N is {}", columns, rows));
  if (bits != 2 && bits != 4 && bits != 8)
    node.fail_unsupported(std::format("bits is {}, but may be 2, 4 or 8", bits));
  if (block < 16 || block > (std::int64_t{1} << 30) || !std::has_single_bit(static_cast<std::uint64_t>(block)))
    node.fail_model(std::format("block_size is {}, but has to be a power of 2 from 16 on", block));
  return {rows, columns, bits, block, (columns - 1) / block + 1};
}

void require_shape(NodeBuilder& node, std::string_view what, ValueId value, const Shape& expected) {
  const Shape& shape = node.shape(value);
  bool equal = shape.size() == expected.size();
  for (std::size_t i = 0; equal && i < shape.size(); ++i) equal = node.assumptions().equal(shape[i], expected[i]);
  if (!equal) {
    node.fail_model(std::format("the {} are {}, but K, N, bits and block_size need {}", what,
                                node.fact(value).to_string(), Fact::of(node.dtype(value), expected).to_string()));
  }
}

// Rows of bytes as rows of the numbers in them, the lowest bits first: [rows, bytes] to [rows, bytes * 8 / bits].
ValueId unpack(NodeBuilder& node, ValueId bytes, std::int64_t bits) {
  if (bits == 8) return bytes;
  std::vector<std::uint8_t> places;
  for (std::int64_t place = 0; place < 8; place += bits) places.push_back(static_cast<std::uint8_t>(place));
  const auto per_byte = static_cast<std::int64_t>(places.size());
  const Dim count(per_byte);
  const Shape shape = node.shape(bytes);
  const ValueId shifts = node.constant(Tensor::of<std::uint8_t>(DType::uint8, {per_byte}, places));
  const ValueId moved =
      node.pointwise(Function::shift_right, {node.reshape(bytes, {shape[0], shape[1], Dim(1)}), shifts});
  const ValueId numbers =
      node.pointwise(Function::bitwise_and, {moved, node.scalar(DType::uint8, static_cast<double>((1 << bits) - 1))});
  return node.reshape(numbers, {shape[0], shape[1] * count});
}

ValueId first_columns(NodeBuilder& node, ValueId value, const Dim& columns) {
  const Shape shape = node.shape(value);
  if (node.assumptions().equal(shape[1], columns)) return value;
  const std::vector<Dim> zeros(2, Dim(0)), ones(2, Dim(1));
  return node.add(std::make_shared<Slice>(zeros, Shape{shape[0], columns}, ones), {value});
}

// Values of blocks, [rows, blocks], as those of the elements, [rows, columns].
ValueId spread(NodeBuilder& node, const Weights& weights, ValueId value) {
  constexpr std::size_t group_input = 4;
  if (node.has_input(group_input)) {
    require_shape(node, "groups of columns (g_idx)", node.input(group_input), {weights.columns});
    return node.add(std::make_shared<Gather>(1), {value, node.input(group_input)});
  }
  const Dim blocks(weights.blocks), block(weights.block);
  const ValueId one = node.reshape(value, {weights.rows, blocks, Dim(1)});
  const ValueId all = node.add(std::make_shared<Expand>(Shape{weights.rows, blocks, block}), {one});
  return first_columns(node, node.reshape(all, {weights.rows, blocks * block}), weights.columns);
}

// [rows, blocks]; packed ones fill whole bytes for each row.
ValueId zero_points(NodeBuilder& node, const Weights& weights) {
  const ValueId given = node.input(3);
  const Dim blocks(weights.blocks);
  if (node.dtype(given) != DType::uint8) {
    const ValueId rows = node.rank(given) == 1 ? node.reshape(given, {weights.rows, blocks}) : given;
    require_shape(node, "zero points", rows, {weights.rows, blocks});
    return rows;
  }
  const Dim bytes((weights.blocks - 1) / weights.per_byte() + 1);
  const ValueId rows = node.rank(given) == 1 ? node.reshape(given, {weights.rows, bytes}) : given;
  require_shape(node, "zero points", rows, {weights.rows, bytes});
  return first_columns(node, unpack(node, rows, weights.bits), blocks);
}

ValueId dequantized(NodeBuilder& node, const Weights& weights) {
  const Dim blocks(weights.blocks), bytes(weights.block / weights.per_byte());
  require_shape(node, "weights", node.input(1), {weights.rows, blocks, bytes});
  const ValueId rows = node.reshape(node.input(1), {weights.rows, blocks * bytes});
  const ValueId numbers = first_columns(node, unpack(node, rows, weights.bits), weights.columns);
  const ValueId scales = node.reshape(node.input(2), {weights.rows, blocks});
  std::vector<ValueId> inputs{numbers, spread(node, weights, scales)};
  const bool has_zero_points = node.has_input(3);
  if (has_zero_points) inputs.push_back(spread(node, weights, zero_points(node, weights)));
  StepBuilder steps(node, std::move(inputs));
  const std::uint8_t middle = has_zero_points ? steps.cast(2, DType::float32) : steps.number(1 << (weights.bits - 1));
  const std::uint8_t distance = steps.add(Function::subtract, steps.cast(0, DType::float32), middle);
  steps.cast(steps.add(Function::multiply, distance, steps.cast(1, DType::float32)), node.dtype(node.input(0)));
  return steps.finish();
}

void build_product(NodeBuilder& node) {
  const Weights weights = read_weights(node);
  const ValueId turned = node.add(std::make_shared<Transpose>(std::vector<int>{1, 0}), {dequantized(node, weights)});
  const ValueId product = matrix_product(node, node.input(0), turned);
  constexpr std::size_t bias = 5;
  if (node.has_input(bias)) require_shape(node, "bias elements", node.input(bias), {weights.rows});
  node.set_output(0, node.has_input(bias) ? node.pointwise(Function::add, {product, node.input(bias)}) : product);
}

constexpr TypeSet packed{DType::uint8};

constexpr std::array records{
    OperatorRecord{"MatMulNBits",
                   1,
                   build_product,
                   {types::up_to_single, packed, types::up_to_single, packed | types::up_to_single, types::lengths,
                    types::up_to_single},
                   "com.microsoft"},
};

}  // namespace

std::span<const OperatorRecord> low_bit_product_operators() { return records; }

}  // namespace lapilli::onnx
