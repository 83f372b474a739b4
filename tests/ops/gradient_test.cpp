// Gradients against differences: graphs of known inputs fold to numbers as they are built, on the host.
#include "ops/gradient.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "lapilli/error.h"
#include "ops/contraction.h"
#include "ops/gather.h"
#include "ops/movement.h"
#include "ops/normalization.h"
#include "ops/reduction.h"

namespace lapilli {
namespace {

using Function = PointwiseFunction;
using Build = std::function<ValueId(GraphBuilder&, std::span<const ValueId>)>;

/// A graph whose inputs are constants.
class Known {
 public:
  explicit Known(const std::vector<Tensor>& inputs) {
    for (const Tensor& input : inputs) ids_.push_back(builder_.constant(input));
  }
  GraphBuilder& builder() { return builder_; }
  std::span<const ValueId> inputs() { return ids_; }
  std::vector<double> elements(ValueId value) {
    const Tensor& known = graph_.fact(value).constant;
    const Tensor wide = evaluate_chain({}, {&known, 1}, DType::float64);
    return {wide.elements<double>().begin(), wide.elements<double>().end()};
  }
  const std::vector<std::int64_t>& shape(ValueId value) { return graph_.fact(value).constant.shape(); }

 private:
  Graph graph_;
  Assumptions assumptions_{{}};
  GraphBuilder builder_{graph_, assumptions_, {"test"}};
  std::vector<ValueId> ids_;
};

double sum_of(const Build& build, const std::vector<Tensor>& inputs) {
  Known known(inputs);
  double sum = 0;
  for (const double element : known.elements(build(known.builder(), known.inputs()))) sum += element;
  return sum;
}

Tensor random_values(std::vector<std::int64_t> shape, double low, double high, unsigned seed = 1) {
  std::mt19937 random(seed);
  Tensor tensor = Tensor::allocate(DType::float64, std::move(shape));
  for (double& element : tensor.mutable_elements<double>()) {
    element = low + (high - low) * static_cast<double>(random()) / 4294967296.0;
  }
  return tensor;
}

Tensor moved(const Tensor& tensor, std::size_t place, double step) {
  Tensor result = Tensor::allocate(tensor.dtype(), tensor.shape());
  std::ranges::copy(tensor.elements<double>(), result.mutable_elements<double>().begin());
  result.mutable_elements<double>()[place] += step;
  return result;
}

// `tolerance` is that of the differences, relative to the largest gradient.
void expect_gradients(const Build& build, const std::vector<Tensor>& inputs, double tolerance = 1e-6,
                      double step = 1e-5) {
  Known known(inputs);
  const ValueId y = build(known.builder(), known.inputs());
  const std::vector<ValueId> gradients = differentiate(known.builder(), y, known.inputs());
  ASSERT_EQ(gradients.size(), inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    ASSERT_EQ(known.shape(gradients[i]), inputs[i].shape());
    const std::vector<double> own = known.elements(gradients[i]);
    std::vector<double> differences;
    double largest = 1e-3;
    for (std::size_t j = 0; j < own.size(); ++j) {
      std::vector<Tensor> above = inputs, below = inputs;
      above[i] = moved(inputs[i], j, step);
      below[i] = moved(inputs[i], j, -step);
      differences.push_back((sum_of(build, above) - sum_of(build, below)) / (2 * step));
      largest = std::max(largest, std::abs(differences.back()));
    }
    for (std::size_t j = 0; j < own.size(); ++j) {
      EXPECT_NEAR(own[j], differences[j], tolerance * largest) << "input " << i << ", element " << j;
    }
  }
}

// A weight for each element, so that not all of them count alike.
ValueId weighted(GraphBuilder& builder, ValueId value) {
  const auto shape = *to_numbers(builder.shape(value));
  return builder.pointwise(Function::multiply, {value, builder.constant(random_values(shape, -1, 1, 9))});
}

TEST(Gradient, of_functions_of_one_argument) {
  const std::vector<std::pair<Function, std::pair<double, double>>> functions{
      {Function::negate, {-2, 2}},
      {Function::absolute, {0.1, 2}},
      {Function::sign, {0.1, 2}},
      {Function::reciprocal, {0.3, 2}},
      {Function::square_root, {0.3, 2}},
      {Function::exponential, {-2, 2}},
      {Function::logarithm, {0.3, 2}},
      {Function::sine, {-2, 2}},
      {Function::cosine, {-2, 2}},
      {Function::tangent, {-1, 1}},
      {Function::arcsine, {-0.8, 0.8}},
      {Function::arccosine, {-0.8, 0.8}},
      {Function::arctangent, {-2, 2}},
      {Function::hyperbolic_sine, {-2, 2}},
      {Function::hyperbolic_cosine, {-2, 2}},
      {Function::hyperbolic_tangent, {-2, 2}},
      {Function::inverse_hyperbolic_sine, {-2, 2}},
      {Function::inverse_hyperbolic_cosine, {1.2, 3}},
      {Function::inverse_hyperbolic_tangent, {-0.8, 0.8}},
      {Function::error_function, {-2, 2}},
      {Function::sigmoid, {-2, 2}},
      {Function::softplus, {-2, 2}},
      {Function::softsign, {-2, 2}},
      {Function::relu, {-2, 2}},
      {Function::silu, {-2, 2}},
      {Function::gelu, {-2, 2}},
      {Function::gelu_tanh, {-2, 2}},
      {Function::floor, {0.1, 0.9}},
  };
  for (const auto& [function, range] : functions) {
    SCOPED_TRACE(to_string(function));
    expect_gradients(
        [&](GraphBuilder& builder, std::span<const ValueId> x) {
          return weighted(builder, builder.pointwise(function, {x[0]}));
        },
        {random_values({7}, range.first, range.second)});
  }
}

TEST(Gradient, of_functions_with_numbers) {
  const std::vector<std::pair<Function, std::vector<Immediate>>> functions{
      {Function::leaky_relu, {Immediate::of(0.1)}},
      {Function::elu, {Immediate::of(0.7)}},
      {Function::celu, {Immediate::of(0.7)}},
      {Function::threshold, {Immediate::of(0.5)}},
      {Function::clamp, {Immediate::of(-0.5), Immediate::of(0.8)}}};
  for (const auto& [function, numbers] : functions) {
    SCOPED_TRACE(to_string(function));
    expect_gradients(
        [&](GraphBuilder& builder, std::span<const ValueId> x) {
          return weighted(builder, builder.pointwise(function, {x[0]}, numbers));
        },
        {random_values({9}, -2, 2)});
  }
}

TEST(Gradient, of_functions_of_two_arguments_that_broadcast) {
  for (const Function function : {Function::add, Function::subtract, Function::multiply, Function::divide,
                                  Function::power, Function::minimum, Function::maximum}) {
    SCOPED_TRACE(to_string(function));
    const Build build = [&](GraphBuilder& builder, std::span<const ValueId> x) {
      return weighted(builder, builder.pointwise(function, {x[0], x[1]}));
    };
    expect_gradients(build, {random_values({2, 3}, 0.5, 2), random_values({2, 3}, 0.5, 2, 2)});
    expect_gradients(build, {random_values({2, 1, 3}, 0.5, 2), random_values({4, 1}, 0.5, 2, 2)});
    expect_gradients(build, {random_values({}, 0.5, 2), random_values({1, 2}, 0.5, 2, 2)});
  }
}

TEST(Gradient, of_values_that_are_used_twice_and_chosen) {
  expect_gradients(
      [](GraphBuilder& builder, std::span<const ValueId> x) {
        const ValueId product = builder.pointwise(Function::multiply, {x[0], x[0]});
        const ValueId less = builder.pointwise(Function::less, {x[0], x[1]});
        const ValueId sum = builder.pointwise(Function::add, {product, x[0]});
        return weighted(builder, builder.pointwise(Function::select, {less, sum, x[1]}));
      },
      {random_values({2, 5}, -1, 1), random_values({5}, -1, 1, 2)});
}

TEST(Gradient, of_a_chain_of_several_steps) {
  expect_gradients(
      [](GraphBuilder& builder, std::span<const ValueId> x) {
        PointwiseChain chain;
        chain.input_count = 2;
        const std::uint8_t two = chain.add(Immediate{DType::float64, 2, 0});
        const std::uint8_t product = chain.add(Function::multiply, DType::float64, {0, 1, 0});
        const std::uint8_t doubled = chain.add(Function::multiply, DType::float64, {product, two, 0});
        chain.add(Function::add, DType::float64, {doubled, product, 0});
        return weighted(builder, builder.add(std::make_shared<Pointwise>(chain, DType::float64), {x[0], x[1]}));
      },
      {random_values({3}, -1, 1), random_values({2, 1}, -1, 1, 2)});
}

TEST(Gradient, of_matrix_products) {
  for (const bool transpose_a : {false, true}) {
    for (const bool transpose_b : {false, true}) {
      const Build build = [&](GraphBuilder& builder, std::span<const ValueId> x) {
        return weighted(builder, builder.add(std::make_shared<MatMul>(transpose_a, transpose_b), {x[0], x[1]}));
      };
      const std::vector<std::int64_t> a =
          transpose_a ? std::vector<std::int64_t>{2, 4, 3} : std::vector<std::int64_t>{2, 3, 4};
      const std::vector<std::int64_t> b =
          transpose_b ? std::vector<std::int64_t>{5, 4} : std::vector<std::int64_t>{4, 5};
      expect_gradients(build, {random_values(a, -1, 1), random_values(b, -1, 1, 2)});
    }
  }
}

TEST(Gradient, of_reductions) {
  for (const ReductionFunction function :
       {ReductionFunction::sum, ReductionFunction::mean, ReductionFunction::maximum, ReductionFunction::minimum,
        ReductionFunction::log_sum_exp}) {
    SCOPED_TRACE(to_string(function));
    for (const auto& axes : {std::vector<int>{1}, std::vector<int>{0, 2}}) {
      expect_gradients(
          [&](GraphBuilder& builder, std::span<const ValueId> x) {
            return weighted(builder,
                            builder.add(std::make_shared<Reduction>(function, Preparation::none, axes), {x[0]}));
          },
          {random_values({2, 3, 4}, -1, 1)});
    }
  }
  for (const Preparation preparation : {Preparation::absolute, Preparation::square}) {
    PointwiseChain root;
    root.add(Function::square_root, DType::float64, {0, 0, 0});
    expect_gradients(
        [&](GraphBuilder& builder, std::span<const ValueId> x) {
          const auto op = std::make_shared<Reduction>(ReductionFunction::sum, preparation, std::vector{1}, root);
          return weighted(builder, builder.add(op, {x[0]}));
        },
        {random_values({3, 4}, 0.2, 1)});
  }
}

TEST(Gradient, of_normalizations) {
  for (const NormalizationKind kind : {NormalizationKind::softmax, NormalizationKind::log_softmax,
                                       NormalizationKind::standard_score, NormalizationKind::root_mean_square}) {
    SCOPED_TRACE(to_string(kind));
    NormalizationAttributes attributes;
    attributes.kind = kind;
    attributes.axes = {1};
    attributes.epsilon = 0.01;
    // Rows are computed in float32 where they are not in double, so the differences are coarse.
    expect_gradients(
        [&](GraphBuilder& builder, std::span<const ValueId> x) {
          return weighted(builder, builder.add(std::make_shared<Normalization>(attributes), {x[0]}));
        },
        {random_values({3, 5}, -1, 1)}, 1e-3, 1e-3);
  }
}

TEST(Gradient, of_moved_elements) {
  const auto check = [](const Build& build, const std::vector<Tensor>& inputs) { expect_gradients(build, inputs); };
  const auto with = [](const OperatorPointer& op) {
    return [op](GraphBuilder& builder, std::span<const ValueId> x) {
      return weighted(builder, builder.add(op, {x.begin(), x.end()}));
    };
  };
  check(with(std::make_shared<Transpose>(std::vector{2, 0, 1})), {random_values({2, 3, 4}, -1, 1)});
  check(with(std::make_shared<Reshape>(Shape{4, 6})), {random_values({2, 3, 4}, -1, 1)});
  check(with(std::make_shared<Expand>(Shape{2, 3, 4})), {random_values({3, 1}, -1, 1)});
  check(with(std::make_shared<Concat>(1)), {random_values({2, 3}, -1, 1), random_values({2, 1}, -1, 1, 2)});
  check(with(std::make_shared<Slice>(std::vector<Dim>{1, 0}, std::vector<Dim>{2, 3}, std::vector<Dim>{1, 1})),
        {random_values({4, 5}, -1, 1)});
  check(with(std::make_shared<Pad>(PadMode::constant, std::vector<Dim>{1, 0}, std::vector<Dim>{0, 2}, Tensor())),
        {random_values({2, 2}, -1, 1)});
  const std::vector<std::int64_t> places{2, 0, 2};
  expect_gradients(
      [&](GraphBuilder& builder, std::span<const ValueId> x) {
        const ValueId indices = builder.constant(Tensor::of<std::int64_t>(DType::int64, {3}, std::span(places)));
        return weighted(builder, builder.add(std::make_shared<Gather>(0), {x[0], indices}));
      },
      {random_values({4, 2}, -1, 1)});
}

// Logistic regression: the gradient of its loss is x' (p - t) / n.
TEST(Gradient, of_a_whole_network) {
  expect_gradients(
      [](GraphBuilder& builder, std::span<const ValueId> x) {
        const ValueId hidden = builder.add(std::make_shared<MatMul>(), {x[0], x[1]});
        const ValueId active =
            builder.pointwise(Function::hyperbolic_tangent, {builder.pointwise(Function::add, {hidden, x[2]})});
        const ValueId scores = builder.add(std::make_shared<MatMul>(), {active, x[3]});
        const ValueId loss = builder.pointwise(Function::softplus, {scores});
        return builder.add(std::make_shared<Reduction>(ReductionFunction::mean, Preparation::none, std::vector{0, 1}),
                           {loss});
      },
      {random_values({4, 3}, -1, 1), random_values({3, 5}, -1, 1, 2), random_values({5}, -1, 1, 3),
       random_values({5, 2}, -1, 1, 4)});
}

TEST(Gradient, is_zero_where_nothing_depends) {
  Known known({random_values({2}, 0, 1), random_values({3}, 0, 1)});
  const ValueId y = known.builder().pointwise(Function::exponential, {known.inputs()[0]});
  const auto gradients = differentiate(known.builder(), y, known.inputs());
  EXPECT_EQ(known.elements(gradients[1]), (std::vector<double>{0, 0, 0}));
  // A value in the middle is one of its own.
  const ValueId z = known.builder().pointwise(Function::multiply, {y, y});
  const std::vector<ValueId> middle{y, known.inputs()[0]};
  const auto of_middle = differentiate(known.builder(), z, middle);
  EXPECT_EQ(known.elements(of_middle[1]), (std::vector<double>{0, 0}));
  EXPECT_NEAR(known.elements(of_middle[0])[0], 2 * known.elements(y)[0], 1e-12);
}

TEST(Gradient, says_what_it_does_not_know) {
  Known known({random_values({1, 1, 4, 4}, 0, 1), random_values({1, 1, 3, 3}, 0, 1)});
  const ValueId y = known.builder().add(std::make_shared<Convolution>(ConvolutionAttributes()),
                                        {known.inputs()[0], known.inputs()[1]});
  EXPECT_THROW(differentiate(known.builder(), y, known.inputs()), Error);
}

}  // namespace
}  // namespace lapilli
