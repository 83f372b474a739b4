#include "passes/rule_cases.h"

#include <algorithm>
#include <format>
#include <memory>

#include "ops/contraction.h"
#include "ops/movement.h"
#include "ops/pointwise.h"
#include "ops/reduction.h"
#include "support/node_runner.h"

namespace lapilli::testing {
namespace {

using enum PointwiseFunction;
using Sizes = std::vector<std::int64_t>;
constexpr DType f32 = DType::float32;

OperatorPointer binary(PointwiseFunction function, DType dtype = f32) { return make_pointwise(function, dtype, 2); }
OperatorPointer unary(PointwiseFunction function) { return make_pointwise(function, f32, 1); }
OperatorPointer reshape(const Sizes& shape) { return std::make_shared<Reshape>(to_shape(shape)); }
OperatorPointer transpose(std::vector<int> order) { return std::make_shared<Transpose>(std::move(order)); }
OperatorPointer pad(PadMode mode, const Sizes& before, const Sizes& after, Tensor fill = {}) {
  return std::make_shared<Pad>(mode, to_shape(before), to_shape(after), std::move(fill));
}
OperatorPointer convolution(bool transposed = false) {
  ConvolutionAttributes attributes;
  attributes.pads_begin = {1, 0};
  attributes.transposed = transposed;
  return std::make_shared<Convolution>(attributes);
}

Tensor filled(double value, const Sizes& shape) {
  std::vector<float> elements(1, static_cast<float>(value));
  for (const std::int64_t size : shape)
    elements.resize(elements.size() * static_cast<std::size_t>(size), elements[0]);
  return float_tensor(shape, elements);
}

// The same elements, as they may lie in a file.
Tensor unaligned(const Tensor& tensor) {
  const auto bytes = tensor.bytes();
  auto memory = std::make_shared<std::vector<std::byte>>(bytes.size() + 1);
  std::ranges::copy(bytes, memory->begin() + 1);
  return Tensor::view(tensor.dtype(), tensor.shape(), std::span<const std::byte>(*memory).subspan(1), memory);
}

// One node on an input of this shape, and on what follows as constants.
SampleGraph on_input(const OperatorPointer& op, const Sizes& shape, const std::vector<Tensor>& constants = {}) {
  SampleGraph sample;
  std::vector<ValueId> inputs{sample.input(f32, shape)};
  for (const Tensor& tensor : constants) inputs.push_back(sample.constant(tensor));
  sample.output(sample.node(op, std::move(inputs)));
  return sample;
}

// Two nodes, the second on the first, each with a constant where its shape is not empty.
struct Stage {
  OperatorPointer op;
  std::vector<Sizes> constants;
};
SampleGraph in_a_row(DType dtype, const Sizes& shape, const std::vector<Stage>& stages) {
  SampleGraph sample;
  ValueId value = sample.input(dtype, shape);
  for (const Stage& stage : stages) {
    std::vector<ValueId> inputs{value};
    for (const Sizes& constant : stage.constants) inputs.push_back(sample.constant(dtype, constant));
    value = sample.node(stage.op, std::move(inputs));
  }
  sample.output(value);
  return sample;
}

// The first of two nodes is an output of the graph too, so that its result must not go.
SampleGraph with_first_as_output(const Sizes& shape, const Stage& first, const Stage& second) {
  SampleGraph sample = in_a_row(f32, shape, {first, second});
  const Graph& graph = sample.graph();
  sample.output(graph.node(graph.topological_order().front()).outputs[0]);
  return sample;
}

// A product with a value that is no constant in the place of the weights.
SampleGraph weights_as_input() {
  SampleGraph sample;
  const ValueId product =
      sample.node(std::make_shared<MatMul>(), {sample.input(f32, {3, 4}), sample.input(f32, {4, 5})});
  sample.output(sample.node(binary(multiply), {product, sample.constant(f32, {5})}));
  return sample;
}

// x * a + y * b: both products could take the sum; the later one does.
SampleGraph two_products_in_a_sum() {
  SampleGraph sample;
  const ValueId left =
      sample.node(std::make_shared<MatMul>(), {sample.input(f32, {3, 4}), sample.input(f32, {4, 5})});
  const ValueId right =
      sample.node(std::make_shared<MatMul>(), {sample.input(f32, {3, 6}), sample.input(f32, {6, 5})});
  sample.output(sample.node(binary(add), {left, right}));
  return sample;
}

// A product of two transposed factors.
SampleGraph turned_product(const std::vector<int>& left_order, const std::vector<int>& right_order, bool turn_right) {
  SampleGraph sample;
  const ValueId left = sample.node(transpose(left_order), {sample.input(f32, {4, 4, 4})});
  const ValueId right = sample.node(transpose(right_order), {sample.input(f32, {4, 4, 4})});
  sample.output(sample.node(std::make_shared<MatMul>(false, turn_right), {left, right}));
  return sample;
}

// Larger than what is folded at once.
SampleGraph large_turned_constant(const OperatorPointer& consumer, const Sizes& shape) {
  SampleGraph sample;
  const ValueId turned = sample.node(transpose({1, 0}), {sample.constant(f32, {300, 301})});
  sample.output(sample.node(consumer, {sample.input(f32, shape), turned}));
  return sample;
}

SampleGraph long_chain(std::size_t length) {
  SampleGraph sample;
  ValueId value = sample.input(f32, {7});
  for (std::size_t i = 0; i < length; ++i) value = sample.node(unary(i % 2 == 0 ? sine : negate), {value});
  sample.output(value);
  return sample;
}

// A product and more factors than an epilogue has inputs.
SampleGraph many_operands() {
  SampleGraph sample;
  ValueId value = sample.node(std::make_shared<MatMul>(), {sample.input(f32, {3, 4}), sample.input(f32, {4, 5})});
  for (std::size_t i = 0; i < epilogue_limits.inputs; ++i) {
    value = sample.node(binary(multiply), {value, sample.input(f32, {3, 5})});
  }
  sample.output(value);
  return sample;
}

SampleGraph square_of_sum() {
  SampleGraph sample;
  const ValueId x = sample.input(f32, {2, 5}), sum = sample.node(binary(add), {x, sample.input(f32, {5})});
  sample.output(sample.node(binary(multiply), {sum, sum}));
  return sample;
}

// The larger operand of the second node is not the first node's result.
SampleGraph broadcast_afterwards(const OperatorPointer& first) {
  SampleGraph sample;
  const ValueId small = sample.node(first, {sample.input(f32, {3, 1})});
  sample.output(sample.node(binary(add), {small, sample.input(f32, {3, 4})}));
  return sample;
}

const std::vector<RuleCase> simplifications{
    {"remove-movement", "reshape", [] { return on_input(reshape({2, 6}), {2, 6}); }},
    {"remove-movement", "transpose", [] { return on_input(transpose({0, 1}), {2, 6}); }},
    {"remove-movement", "pad", [] { return on_input(pad(PadMode::constant, {0, 0}, {0, 0}), {2, 6}); }},
    {"remove-movement", "expand", [] { return on_input(std::make_shared<Expand>(to_shape(Sizes{2, 6})), {2, 6}); }},
    {"remove-movement", "slice",
     [] { return on_input(std::make_shared<Slice>(Shape{0, 0}, Shape{2, 6}, Shape{1, 1}), {2, 6}); }},
    {"remove-movement", "slice_backwards",
     [] { return on_input(std::make_shared<Slice>(Shape{1, 0}, Shape{2, 6}, Shape{-1, 1}), {2, 6}); }, false},
    {"remove-movement", "transpose_of_a_square", [] { return on_input(transpose({1, 0}), {4, 4}); }, false},
    {"remove-movement", "reshape_to_another_shape", [] { return on_input(reshape({3, 4}), {2, 6}); }, false},

    {"merge-reshapes", "two", [] { return in_a_row(f32, {2, 6}, {{reshape({12}), {}}, {reshape({3, 4}), {}}}); }},
    {"merge-reshapes", "transposition_between",
     [] { return in_a_row(f32, {2, 6}, {{reshape({3, 4}), {}}, {transpose({1, 0}), {}}, {reshape({12}), {}}}); },
     false},

    {"merge-transposes", "two",
     [] { return in_a_row(f32, {2, 3, 4}, {{transpose({1, 2, 0}), {}}, {transpose({0, 2, 1}), {}}}); }},
    {"merge-transposes", "three",
     [] {
       return in_a_row(f32, {2, 3, 4},
                       {{transpose({1, 2, 0}), {}}, {transpose({1, 2, 0}), {}}, {transpose({2, 1, 0}), {}}});
     }},
    {"merge-transposes", "function_between",
     [] { return in_a_row(f32, {2, 3}, {{transpose({1, 0}), {}}, {unary(sine), {}}, {transpose({1, 0}), {}}}); },
     false},

    {"transpose-into-product", "both_factors", [] { return turned_product({0, 2, 1}, {0, 2, 1}, false); }},
    {"transpose-into-product", "right_factor_that_was_turned",
     [] { return turned_product({1, 0, 2}, {0, 2, 1}, true); }},
    {"transpose-into-product", "more_than_the_last_two_axes",
     [] { return turned_product({1, 0, 2}, {2, 0, 1}, true); }, false},
    {"fold-transpose", "large_summand", [] { return large_turned_constant(binary(add), {301, 300}); }},
    {"fold-transpose", "large_factor", [] { return large_turned_constant(std::make_shared<MatMul>(), {2, 301}); },
     false},

    {"remove-neutral", "times_one", [] { return on_input(binary(multiply), {2, 3}, {filled(1, {3})}); }},
    {"remove-neutral", "unaligned_ones",
     [] { return on_input(binary(multiply), {2, 3}, {unaligned(filled(1, {3}))}); }},
    {"remove-neutral", "by_one", [] { return on_input(binary(divide), {2, 3}, {filled(1, {})}); }},
    {"remove-neutral", "plus_zero", [] { return on_input(binary(add), {2, 3}, {filled(0, {2, 1})}); }},
    {"remove-neutral", "minus_zero", [] { return on_input(binary(subtract), {2, 3}, {filled(0, {1})}); }},
    {"remove-neutral", "one_element_is_not_one",
     [] { return on_input(binary(multiply), {2, 3}, {float_tensor({3}, {1, 1, 1.5F})}); }, false},
    {"remove-neutral", "zero_minus_x",
     [] {
       SampleGraph sample;
       sample.output(sample.node(binary(subtract), {sample.constant(filled(0, {3})), sample.input(f32, {2, 3})}));
       return sample;
     },
     false},
    {"remove-neutral", "shape_changes", [] { return on_input(binary(add), {3}, {filled(0, {2, 3})}); }, false},

    {"multiply-before-add", "by_channel",
     [] { return in_a_row(f32, {2, 3, 4}, {{binary(add), {{3, 1}}}, {binary(multiply), {{3, 1}}}}); }, true, "",
     1e-6},
    {"multiply-before-add", "sum_is_wanted_too",
     [] { return with_first_as_output({2, 3}, {binary(add), {{3}}}, {binary(multiply), {{3}}}); }, false},
    {"multiply-before-add", "integers",
     [] {
       return in_a_row(DType::int32, {2, 3},
                       {{binary(add, DType::int32), {{3}}}, {binary(multiply, DType::int32), {{3}}}});
     },
     false},

    {"merge-sums", "row_and_column",
     [] { return in_a_row(f32, {2, 3}, {{binary(add), {{3}}}, {binary(add), {{2, 1}}}}); }, true, "", 1e-6},
    {"merge-sums", "integers",
     [] {
       return in_a_row(DType::int32, {2, 3},
                       {{binary(add, DType::int32), {{3}}}, {binary(add, DType::int32), {{3}}}});
     }},
    {"merge-sums", "first_sum_is_wanted_too",
     [] { return with_first_as_output({2, 3}, {binary(add), {{3}}}, {binary(add), {{3}}}); }, false},
    {"merge-sums", "sum_of_product",
     [] { return in_a_row(f32, {2, 3}, {{binary(multiply), {{3}}}, {binary(add), {{3}}}}); }, false},

    {"merge-products", "row_and_column",
     [] { return in_a_row(f32, {2, 3}, {{binary(multiply), {{3}}}, {binary(multiply), {{2, 1}}}}); }, true, "", 1e-6},
    {"merge-products", "first_product_is_wanted_too",
     [] { return with_first_as_output({2, 3}, {binary(multiply), {{3}}}, {binary(multiply), {{3}}}); }, false},

    {"scalar-to-immediate", "factor", [] { return on_input(binary(multiply), {2, 3}, {filled(1.25, {1})}); }},
    {"scalar-to-immediate", "shape_comes_from_the_constant",
     [] { return on_input(binary(multiply), {3}, {filled(1.25, {1, 1})}); }, false},
    {"scalar-to-immediate", "more_than_one_element",
     [] { return on_input(binary(multiply), {2, 3}, {filled(1.25, {3})}); }, false},
};

const std::vector<RuleCase> contractions{
    {"scale-into-weights", "convolution",
     [] { return in_a_row(f32, {2, 3, 5, 6}, {{convolution(), {{4, 3, 3, 2}}}, {binary(multiply), {{4, 1, 1}}}}); },
     true, "", 1e-6},
    {"scale-into-weights", "product",
     [] { return in_a_row(f32, {3, 4}, {{std::make_shared<MatMul>(), {{4, 5}}}, {binary(multiply), {{5}}}}); }, true,
     "", 1e-6},
    {"scale-into-weights", "product_transposed",
     [] {
       return in_a_row(f32, {3, 4}, {{std::make_shared<MatMul>(false, true), {{5, 4}}}, {binary(multiply), {{5}}}});
     },
     true, "", 1e-6},
    {"scale-into-weights", "one_number",
     [] { return in_a_row(f32, {3, 4}, {{std::make_shared<MatMul>(), {{4, 5}}}, {binary(multiply), {{1}}}}); }, true,
     "", 1e-6},
    {"scale-into-weights", "factor_of_rows",
     [] { return in_a_row(f32, {5, 4}, {{std::make_shared<MatMul>(), {{4, 5}}}, {binary(multiply), {{5, 1}}}}); },
     false, "the factor is not one number for each column"},
    {"scale-into-weights", "factor_of_positions",
     [] { return in_a_row(f32, {2, 3, 5, 4}, {{convolution(), {{3, 3, 3, 2}}}, {binary(multiply), {{3}}}}); }, false,
     "the factor is not one number for each column"},
    {"scale-into-weights", "weights_are_an_input", weights_as_input, false, "the weights are not constant"},
    {"scale-into-weights", "stack_of_matrices",
     [] { return in_a_row(f32, {2, 3, 4}, {{std::make_shared<MatMul>(), {{2, 4, 5}}}, {binary(multiply), {{5}}}}); },
     false, "the weights have no axis of columns alone"},
    {"scale-into-weights", "transposed_convolution",
     [] {
       return in_a_row(f32, {2, 3, 5, 6}, {{convolution(true), {{3, 4, 3, 2}}}, {binary(multiply), {{4, 1, 1}}}});
     },
     false, "the weights have no axis of columns alone"},
    {"scale-into-weights", "product_is_wanted_too",
     [] { return with_first_as_output({3, 4}, {std::make_shared<MatMul>(), {{4, 5}}}, {binary(multiply), {{5}}}); },
     false},

    {"pad-into-convolution", "zeros",
     [] {
       return in_a_row(f32, {2, 3, 4, 5},
                       {{pad(PadMode::constant, {0, 0, 1, 2}, {0, 0, 0, 1}), {}}, {convolution(), {{4, 3, 3, 2}}}});
     },
     true, "", 1e-6},
    {"pad-into-convolution", "ones",
     [] {
       return in_a_row(f32, {2, 3, 4, 5},
                       {{pad(PadMode::constant, {0, 0, 1, 2}, {0, 0, 0, 1}, float_tensor({}, {1})), {}},
                        {convolution(), {{4, 3, 3, 2}}}});
     },
     false, "the padding is not zeros"},
    {"pad-into-convolution", "reflection",
     [] {
       return in_a_row(f32, {2, 3, 4, 5},
                       {{pad(PadMode::reflect, {0, 0, 1, 2}, {0, 0, 0, 1}), {}}, {convolution(), {{4, 3, 3, 2}}}});
     },
     false, "the padding is not zeros"},
    {"pad-into-convolution", "channels",
     [] {
       return in_a_row(f32, {2, 3, 4, 5},
                       {{pad(PadMode::constant, {0, 1, 1, 2}, {0, 0, 0, 1}), {}}, {convolution(), {{4, 4, 3, 2}}}});
     },
     false, "images or channels are padded"},
    {"pad-into-convolution", "transposed",
     [] {
       return in_a_row(
           f32, {2, 3, 4, 5},
           {{pad(PadMode::constant, {0, 0, 1, 2}, {0, 0, 0, 1}), {}}, {convolution(true), {{3, 4, 3, 2}}}});
     },
     false, "a transposed convolution pads its output"},
};

const std::vector<RuleCase> fusions{
    {"fuse-epilogue", "convolution_bias_and_relu",
     [] {
       return in_a_row(f32, {2, 3, 5, 6},
                       {{convolution(), {{4, 3, 3, 2}}}, {binary(add), {{4, 1, 1}}}, {unary(relu), {}}});
     },
     true, "", 1e-6},
    {"fuse-epilogue", "sum_of_products", two_products_in_a_sum, true, "", 1e-6},
    {"fuse-epilogue", "reduction",
     [] {
       return in_a_row(f32, {2, 3, 5},
                       {{std::make_shared<Reduction>(ReductionFunction::sum, Preparation::none, std::vector{1}), {}},
                        {unary(exponential), {}}});
     },
     true, "", 1e-6},
    {"fuse-epilogue", "more_operands_than_kernels_take", many_operands, true,
     "the epilogue would be longer than kernels take", 1e-6},
    {"fuse-epilogue", "broadcast_afterwards",
     [] {
       return broadcast_afterwards(
           std::make_shared<Reduction>(ReductionFunction::sum, Preparation::none, std::vector{1}));
     },
     false, "the result is broadcast to another shape"},
    {"fuse-epilogue", "product_is_wanted_too",
     [] { return with_first_as_output({3, 4}, {std::make_shared<MatMul>(), {{4, 5}}}, {unary(relu), {}}); }, false},

    {"fuse-pointwise", "square_of_sum", square_of_sum, true, "", 1e-6},
    {"fuse-pointwise", "longer_than_kernels_take", [] { return long_chain(2 * pointwise_limits.steps); }, true,
     "the chain would be longer than kernels take", 1e-6},
    {"fuse-pointwise", "broadcast_afterwards", [] { return broadcast_afterwards(unary(sine)); }, false,
     "the result is broadcast, so that it would be computed again and again"},
    {"fuse-pointwise", "first_is_wanted_too",
     [] { return with_first_as_output({3, 4}, {unary(sine), {}}, {unary(relu), {}}); }, false},
};

}  // namespace

ValueId SampleGraph::input(DType dtype, std::vector<std::int64_t> shape) {
  inputs_.push_back(random_tensor(dtype, shape, -2, 2, ++seed_));
  return graph_.add_input(std::format("input {}", inputs_.size()), Fact::of(dtype, to_shape(shape)));
}

ValueId SampleGraph::constant(DType dtype, std::vector<std::int64_t> shape) {
  return constant(random_tensor(dtype, std::move(shape), -2, 2, ++seed_));
}

ValueId SampleGraph::node(OperatorPointer op, std::vector<ValueId> inputs) {
  const std::string origin = std::format("node {}", graph_.value_count());
  return graph_.add_node(std::move(op), std::move(inputs), {origin}, {}, assumptions_)[0];
}

const std::vector<RuleCase>& rule_cases() {
  static const std::vector<RuleCase> all = [] {
    std::vector<RuleCase> cases;
    for (const auto* part : {&simplifications, &contractions, &fusions}) {
      cases.insert(cases.end(), part->begin(), part->end());
    }
    return cases;
  }();
  return all;
}

}  // namespace lapilli::testing
