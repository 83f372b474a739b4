// Matrix products and convolutions.
#include "ops/contraction.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <format>
#include <numeric>

#include "import/onnx/operators/contraction.h"
#include "import/onnx/operators/node_builder.h"
#include "import/onnx/operators/window_attributes.h"
#include "ops/movement.h"

namespace lapilli::onnx {
namespace {

void build_matmul(NodeBuilder& node) { node.set_output(0, matrix_product(node, node.input(0), node.input(1))); }

void build_gemm(NodeBuilder& node) {
  const bool transpose_a = node.integer("transA", 0) != 0, transpose_b = node.integer("transB", 0) != 0;
  if (node.rank(node.input(0)) != 2 || node.rank(node.input(1)) != 2) node.fail_model("an operand is not a matrix");
  ValueId result = node.add(std::make_shared<MatMul>(transpose_a, transpose_b), {node.input(0), node.input(1)});
  const double alpha = node.real("alpha", 1.0F), beta = node.real("beta", 1.0F);
  const auto scaled = [&](ValueId value, double factor) {
    if (factor == 1) return value;
    return node.pointwise(PointwiseFunction::multiply, {value},
                          {{DType::undefined, factor, static_cast<std::int64_t>(factor)}});
  };
  // Fractions of integers are summed and then cut off.
  const DType dtype = node.dtype(result);
  const bool whole = alpha == std::trunc(alpha) && beta == std::trunc(beta);
  const auto summand = [&](ValueId value, double factor) {
    return scaled(whole ? value : node.as_real(value), factor);
  };
  result = summand(result, alpha);
  if (node.has_input(2) && beta != 0)
    result = node.pointwise(PointwiseFunction::add, {result, summand(node.input(2), beta)});
  node.set_output(0, node.cast(result, dtype));
}

ValueId add_bias(NodeBuilder& node, ValueId value) {
  if (!node.has_input(2)) return value;
  return node.pointwise(PointwiseFunction::add, {value, node.per_channel(node.input(2), node.rank(value))});
}

std::vector<Dim> kernel_sizes(NodeBuilder& node, ValueId kernel, std::size_t spatial) {
  const Shape& weights = node.shape(kernel);
  if (node.rank(node.input(0)) < 3 || weights.size() != spatial + 2) {
    node.fail_model(std::format("input {} and weights {} do not fit together", node.fact(node.input(0)).to_string(),
                                node.fact(kernel).to_string()));
  }
  if (const auto declared = node.integers("kernel_shape")) {
    for (std::size_t i = 0; i < spatial; ++i) {
      if (i >= declared->size() || !node.assumptions().equal((*declared)[i], weights[i + 2])) {
        node.fail_model(std::format("kernel_shape is {}, and the weights are {}", shape_text(to_shape(*declared)),
                                    shape_text(weights)));
      }
    }
  }
  return {weights.begin() + 2, weights.end()};
}

void build_convolution(NodeBuilder& node) {
  node.set_output(0, add_bias(node, convolution(node, node.input(0), node.input(1))));
}

// With output_shape or an automatic pad, the padding is what makes the output come out at the wanted size.
void pad_for_size(NodeBuilder& node, const std::vector<Dim>& sizes, const std::vector<Dim>& kernel,
                  const std::string& automatic, ConvolutionAttributes& attributes) {
  const Shape& shape = node.shape(node.input(0));
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const Dim covered = Dim(attributes.strides[i]) * (shape[i + 2] - Dim(1)) + attributes.output_padding[i] +
                        (kernel[i] - Dim(1)) * Dim(attributes.dilations[i]) + Dim(1);
    const Dim total = covered - sizes[i];
    const Dim small = Dim::floor_divide(total, 2), large = total - small;
    attributes.pads_begin[i] = automatic == "SAME_UPPER" ? small : large;
    attributes.pads_end[i] = automatic == "SAME_UPPER" ? large : small;
  }
}

void build_transposed_convolution(NodeBuilder& node) {
  const std::size_t spatial = std::max<std::size_t>(node.rank(node.input(0)), 2) - 2;
  const std::vector<Dim> kernel = kernel_sizes(node, node.input(1), spatial);
  const WindowGeometry geometry = explicit_geometry(node, spatial);
  ConvolutionAttributes attributes;
  attributes.transposed = true;
  attributes.strides = geometry.strides;
  attributes.dilations = geometry.dilations;
  attributes.pads_begin = geometry.pads_begin;
  attributes.pads_end = geometry.pads_end;
  attributes.group = node.integer("group", 1);
  attributes.output_padding.assign(spatial, Dim(0));
  if (const auto padding = node.integers("output_padding")) {
    if (padding->size() != spatial)
      node.fail_model(std::format("{} output paddings for {} axes", padding->size(), spatial));
    attributes.output_padding = to_shape(*padding);
  }
  const std::string automatic = node.text("auto_pad", "NOTSET");
  if (const auto wanted = node.integers("output_shape")) {
    if (wanted->size() < spatial) node.fail_model("output_shape is too short");
    pad_for_size(node, to_shape(std::span(*wanted).last(spatial)), kernel, automatic, attributes);
  } else if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
    std::vector<Dim> sizes;
    for (std::size_t i = 0; i < spatial; ++i)
      sizes.push_back(node.shape(node.input(0))[i + 2] * Dim(attributes.strides[i]));
    pad_for_size(node, sizes, kernel, automatic, attributes);
  }
  node.set_output(0, add_bias(node, node.add(std::make_shared<Convolution>(std::move(attributes)),
                                             {node.input(0), node.input(1)})));
}

// A depthwise convolution over one axis that sees the last elements of the sequence before.
void build_causal_convolution(NodeBuilder& node) {
  const ValueId x = node.input(0), weights = node.input(1);
  const Shape shape = node.shape(x), kernel = node.shape(weights);
  Assumptions& assumptions = node.assumptions();
  const bool fits = shape.size() == 3 && kernel.size() == 3 && assumptions.equal(kernel[0], shape[1]) &&
                    assumptions.equal(kernel[1], 1) && assumptions.less(0, kernel[2]);
  if (!fits) {
    node.fail_model(std::format("input {} and weights {} do not fit together", node.fact(x).to_string(),
                                node.fact(weights).to_string()));
  }
  const Dim before = kernel[2] - Dim(1);
  ValueId padded = no_value;
  if (node.has_input(3)) {
    const Shape past = node.shape(node.input(3));
    if (past.size() != 3 || !assumptions.equal(past[2], before)) {
      node.fail_model(std::format("past_state is {}, for a kernel of {}", node.fact(node.input(3)).to_string(),
                                  kernel[2].to_string()));
    }
    padded = node.add(std::make_shared<Concat>(2), {node.input(3), x});
  } else {
    const std::vector<Dim> none(3, Dim(0));
    padded =
        node.add(std::make_shared<Pad>(PadMode::constant, std::vector{Dim(0), Dim(0), before}, none, Tensor()), {x});
  }
  ConvolutionAttributes attributes;
  attributes.group = assumptions.number(shape[1]);
  if (!node.has_input(3)) attributes.pads_begin = {before};
  const ValueId read = node.has_input(3) ? padded : x;
  ValueId result = add_bias(node, node.add(std::make_shared<Convolution>(std::move(attributes)), {read, weights}));
  const std::string activation = node.text("activation", "none");
  if (activation != "none" && activation != "silu" && activation != "swish")
    node.fail_model(std::format("activation '{}' is none of none, silu, swish", activation));
  if (activation != "none") result = node.pointwise(PointwiseFunction::silu, {result});
  node.set_output(0, result);
  const std::vector<Dim> start{Dim(0), Dim(0), shape[2]}, size{shape[0], shape[1], before}, steps(3, Dim(1));
  node.set_output(1, node.add(std::make_shared<Slice>(start, size, steps), {padded}));
}

constexpr std::array records{
    OperatorRecord{"CausalConvWithState", 27, build_causal_convolution, {types::up_to_single}},
    OperatorRecord{"Conv", 1, build_convolution, {types::floats}},
    OperatorRecord{"ConvTranspose", 1, build_transposed_convolution, {types::floats}},
    OperatorRecord{"Gemm", 1, build_gemm, {types::wide_numbers}},
    OperatorRecord{"MatMul", 1, build_matmul, {types::wide_numbers}},
};

}  // namespace

ValueId matrix_product(NodeBuilder& node, ValueId left, ValueId right) {
  const bool row = node.rank(left) == 1, column = node.rank(right) == 1;
  if (node.rank(left) == 0 || node.rank(right) == 0) node.fail_model("an operand is a scalar");
  if (row) left = node.unsqueeze(left, std::array{0});
  if (column) right = node.unsqueeze(right, std::array{1});
  const ValueId product = node.add(std::make_shared<MatMul>(), {left, right});
  Shape shape = node.shape(product);
  if (column) shape.pop_back();
  if (row) shape.erase(shape.end() - (column ? 1 : 2));
  return node.reshape(product, std::move(shape));
}

ValueId convolution(NodeBuilder& node, ValueId x, ValueId weights) {
  const std::size_t spatial = std::max<std::size_t>(node.rank(x), 2) - 2;
  const std::vector<Dim> kernel = kernel_sizes(node, weights, spatial);
  const WindowGeometry geometry = window_geometry(node, kernel);
  ConvolutionAttributes attributes;
  attributes.strides = geometry.strides;
  attributes.dilations = geometry.dilations;
  attributes.pads_begin = geometry.pads_begin;
  attributes.pads_end = geometry.pads_end;
  attributes.group = node.integer("group", 1);
  return node.add(std::make_shared<Convolution>(std::move(attributes)), {x, weights});
}

std::span<const OperatorRecord> contraction_operators() { return records; }

}  // namespace lapilli::onnx
