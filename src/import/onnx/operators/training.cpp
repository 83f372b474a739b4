// Operators that do something else in training, and the steps of optimizers.
#include <array>
#include <cmath>
#include <format>

#include "import/onnx/operators/random.h"
#include "ops/movement.h"
#include "ops/reduction.h"

namespace lapilli::onnx {
namespace {

using Function = PointwiseFunction;

ValueId filled(NodeBuilder& node, DType dtype, double value, const Shape& shape) {
  return node.add(std::make_shared<Expand>(shape), {node.scalar(dtype, value)});
}

// Whether dropout drops, where that is known.
std::optional<bool> dropout_trains(NodeBuilder& node) {
  if (node.opset() < 7) return node.integer("is_test", 0) == 0;
  if (node.opset() < 12 || !node.has_input(2)) return false;
  const auto known = node.fact(node.input(2)).integers();
  if (!known || known->size() != 1 || !known->front().is_constant()) return std::nullopt;
  return known->front() != Dim(0);
}

ValueId dropout_ratio(NodeBuilder& node, DType dtype) {
  if (node.opset() >= 12 && node.has_input(1)) return node.reshape(node.cast(node.input(1), dtype), {});
  return node.scalar(dtype, node.opset() >= 12 ? 0.5F : node.real("ratio", 0.5F));
}

void build_dropout(NodeBuilder& node) {
  const ValueId x = node.input(0);
  const DType mask_dtype = node.opset() >= 10 ? DType::boolean : node.dtype(x);
  const std::optional<bool> trains = dropout_trains(node);
  if (trains == false) {
    node.set_output(0, x);
    if (node.wants_output(1)) node.set_output(1, filled(node, mask_dtype, 1, node.shape(x)));
    return;
  }
  const DType wide = node.dtype(x) == DType::float64 ? DType::float64 : DType::float32;
  ValueId ratio = dropout_ratio(node, wide);
  // What is not training drops nothing.
  if (!trains) {
    ratio = node.pointwise(Function::select, {node.reshape(node.input(2), {}), ratio}, {Immediate::of(0)});
  }
  const ValueId numbers = node.cast(uniform_numbers(node, node.shape(x)), wide);
  const ValueId kept = node.pointwise(Function::less_or_equal, {ratio, numbers});
  const ValueId rest = node.pointwise(Function::subtract, {node.scalar(wide, 1), ratio});
  const ValueId scale = node.cast(node.pointwise(Function::reciprocal, {rest}), node.dtype(x));
  const ValueId scaled = node.pointwise(Function::multiply, {x, scale});
  node.set_output(0, node.pointwise(Function::select, {kept, scaled}, {Immediate::of(0)}));
  if (node.wants_output(1)) node.set_output(1, node.cast(kept, mask_dtype));
}

// How statistics of a batch belong to its elements: one a channel, or, in old opsets, one a feature.
struct BatchAxes {
  bool spatial = true;
  std::vector<int> reduced;
};

BatchAxes batch_axes(NodeBuilder& node, std::size_t rank) {
  BatchAxes axes;
  axes.spatial = node.opset() >= 9 || node.integer("spatial", 1) != 0;
  for (std::size_t i = 0; i < (axes.spatial ? rank : 1); ++i) {
    if (i != 1) axes.reduced.push_back(static_cast<int>(i));
  }
  return axes;
}

ValueId per_feature(NodeBuilder& node, const BatchAxes& axes, ValueId value) {
  const ValueId x = node.input(0);
  if (axes.spatial) return node.per_channel(value, node.rank(x));
  Shape shape = node.shape(x);
  shape[0] = 1;
  return node.reshape(value, std::move(shape));
}

// (x - mean) * scale / sqrt(variance + epsilon) + bias, with all that belongs to channels computed first.
ValueId normalize_batch(NodeBuilder& node, const BatchAxes& axes, ValueId mean, ValueId variance) {
  const ValueId x = node.input(0);
  const double epsilon = node.real("epsilon", 1e-5F);
  const ValueId deviation =
      node.pointwise(Function::square_root, {node.pointwise(Function::add, {variance}, {Immediate::of(epsilon)})});
  const ValueId factor =
      node.pointwise(Function::divide, {node.cast(node.input(1), node.dtype(deviation)), deviation});
  const ValueId shift = node.pointwise(Function::multiply, {node.cast(mean, node.dtype(factor)), factor});
  const ValueId summand = node.pointwise(Function::subtract, {node.cast(node.input(2), node.dtype(shift)), shift});
  const auto wide = [&](ValueId value) { return node.cast(per_feature(node, axes, value), node.dtype(x)); };
  const ValueId scaled = node.pointwise(Function::multiply, {x, wide(factor)});
  return node.pointwise(Function::add, {scaled, wide(summand)});
}

ValueId running(NodeBuilder& node, ValueId before, ValueId now) {
  const double momentum = node.real("momentum", 0.9F);
  const ValueId kept = node.pointwise(Function::multiply, {before}, {Immediate::of(momentum)});
  const ValueId added =
      node.pointwise(Function::multiply, {node.cast(now, node.dtype(before))}, {Immediate::of(1 - momentum)});
  return node.pointwise(Function::add, {kept, added});
}

void build_batch_normalization(NodeBuilder& node) {
  const ValueId x = node.input(0);
  const BatchAxes axes = batch_axes(node, node.rank(x));
  const bool trains = node.opset() >= 14  ? node.integer("training_mode", 0) != 0
                      : node.opset() >= 7 ? node.wants_output(1) || node.wants_output(3)
                                          : node.integer("is_test", 0) == 0 && node.outputs().size() > 1;
  if (!trains) return node.set_output(0, normalize_batch(node, axes, node.input(3), node.input(4)));
  const auto mean_of = [&](ValueId value, Preparation preparation) {
    const auto mean = std::make_shared<Reduction>(ReductionFunction::mean, preparation, axes.reduced);
    return node.add(mean, {value});
  };
  // Statistics of narrow types are not rounded to them.
  const ValueId wide = bit_width(node.dtype(x)) < 32 ? node.cast(x, DType::float32) : x;
  const ValueId mean = mean_of(wide, Preparation::none);
  const ValueId variance = mean_of(node.pointwise(Function::subtract, {wide, mean}), Preparation::square);
  const Shape& features = node.shape(node.input(3));
  const ValueId flat_mean = node.reshape(mean, features), flat_variance = node.reshape(variance, features);
  node.set_output(0, normalize_batch(node, axes, flat_mean, flat_variance));
  node.set_output(1, running(node, node.input(3), flat_mean));
  node.set_output(2, running(node, node.input(4), flat_variance));
  node.set_output(3, flat_mean);
  node.set_output(4, flat_variance);
}

// Optimizers: a learning rate, a count of updates, then `kinds` lists of equally many tensors.
struct Step {
  NodeBuilder& node;
  std::size_t tensors;
  [[nodiscard]] ValueId tensor(std::size_t kind, std::size_t i) const { return node.input(2 + kind * tensors + i); }
  [[nodiscard]] ValueId scaled(ValueId value, double factor) const {
    return node.pointwise(Function::multiply, {value}, {Immediate::of(factor)});
  }
  // The gradient with its share of the L2 norm.
  [[nodiscard]] ValueId gradient(std::size_t i) const {
    const double norm = node.real("norm_coefficient", 0.0F);
    return norm == 0 ? tensor(1, i) : node.pointwise(Function::add, {scaled(tensor(0, i), norm), tensor(1, i)});
  }
  [[nodiscard]] ValueId rate() const { return node.reshape(node.input(0), {}); }
  [[nodiscard]] ValueId count(DType dtype) const { return node.reshape(node.cast(node.input(1), dtype), {}); }
  // `then` from the second update on, `first` at the first.
  [[nodiscard]] ValueId after_first(ValueId then, ValueId first) const {
    const ValueId counted = node.pointwise(Function::less, {node.scalar(DType::int64, 0), count(DType::int64)});
    return node.pointwise(Function::select, {counted, then, first});
  }
};

Step optimizer_step(NodeBuilder& node, std::size_t kinds) {
  if (node.input_count() < 2 + kinds || (node.input_count() - 2) % kinds != 0) {
    node.fail_model(std::format("{} inputs are not two and {} for each tensor", node.input_count(), kinds));
  }
  return {node, (node.input_count() - 2) / kinds};
}

void build_adagrad(NodeBuilder& node) {
  const Step step = optimizer_step(node, 3);
  const double decay = node.real("decay_factor", 0.0F), epsilon = node.real("epsilon", 1e-6F);
  const ValueId slowing =
      node.pointwise(Function::add, {step.scaled(step.count(node.dtype(step.rate())), decay)}, {Immediate::of(1)});
  const ValueId rate = node.pointwise(Function::divide, {step.rate(), slowing});
  for (std::size_t i = 0; i < step.tensors; ++i) {
    const ValueId x = step.tensor(0, i), gradient = step.gradient(i);
    const ValueId squares =
        node.pointwise(Function::add, {step.tensor(2, i), node.pointwise(Function::multiply, {gradient, gradient})});
    const ValueId divisor =
        node.pointwise(Function::add, {node.pointwise(Function::square_root, {squares})}, {Immediate::of(epsilon)});
    const ValueId change = node.pointwise(
        Function::divide, {node.pointwise(Function::multiply, {gradient, node.cast(rate, node.dtype(x))}), divisor});
    node.set_output(i, node.pointwise(Function::subtract, {x, change}));
    node.set_output(step.tensors + i, squares);
  }
}

// The learning rate, corrected for averages that began at zero.
ValueId adam_rate(const Step& step, double alpha, double beta) {
  NodeBuilder& node = step.node;
  // 1 - base^T without the loss of digits that the difference would have.
  const auto one_without = [&](double base) {
    if (!(base > 0)) node.fail_model(std::format("a decay of {} is not positive", base));
    const ValueId exponent = step.scaled(step.count(node.dtype(step.rate())), std::log(base));
    return node.pointwise(Function::negate, {node.pointwise(Function::elu, {exponent}, {Immediate::of(1)})});
  };
  const ValueId correction = node.pointwise(
      Function::divide, {node.pointwise(Function::square_root, {one_without(beta)}), one_without(alpha)});
  const ValueId adjusted =
      node.pointwise(Function::multiply, {step.rate(), node.cast(correction, node.dtype(step.rate()))});
  return step.after_first(adjusted, step.rate());
}

void build_adam(NodeBuilder& node) {
  const Step step = optimizer_step(node, 4);
  const double alpha = node.real("alpha", 0.9F), beta = node.real("beta", 0.999F);
  const double epsilon = node.real("epsilon", 1e-6F), norm = node.real("norm_coefficient_post", 0.0F);
  const ValueId rate = adam_rate(step, alpha, beta);
  for (std::size_t i = 0; i < step.tensors; ++i) {
    const ValueId x = step.tensor(0, i), gradient = step.gradient(i);
    const ValueId average =
        node.pointwise(Function::add, {step.scaled(step.tensor(2, i), alpha), step.scaled(gradient, 1 - alpha)});
    const ValueId square = node.pointwise(Function::multiply, {gradient, gradient});
    const ValueId squares =
        node.pointwise(Function::add, {step.scaled(step.tensor(3, i), beta), step.scaled(square, 1 - beta)});
    const ValueId divisor =
        node.pointwise(Function::add, {node.pointwise(Function::square_root, {squares})}, {Immediate::of(epsilon)});
    const ValueId change = node.pointwise(
        Function::divide, {node.pointwise(Function::multiply, {average, node.cast(rate, node.dtype(x))}), divisor});
    node.set_output(i, step.scaled(node.pointwise(Function::subtract, {x, change}), 1 - norm));
    node.set_output(step.tensors + i, average);
    node.set_output(2 * step.tensors + i, squares);
  }
}

void build_momentum(NodeBuilder& node) {
  const Step step = optimizer_step(node, 3);
  const double alpha = node.real("alpha", 0.0F), beta = node.real("beta", 0.0F);
  const std::string mode = node.text("mode", "standard");
  if (mode != "standard" && mode != "nesterov") {
    node.fail_model(std::format("mode '{}' is neither standard nor nesterov", mode));
  }
  const ValueId share = step.after_first(node.scalar(DType::float32, beta), node.scalar(DType::float32, 1));
  for (std::size_t i = 0; i < step.tensors; ++i) {
    const ValueId x = step.tensor(0, i), gradient = step.gradient(i);
    const DType dtype = node.dtype(x);
    const ValueId own_share = node.cast(share, dtype), own_rate = node.cast(step.rate(), dtype);
    const ValueId velocity = node.pointwise(
        Function::add,
        {step.scaled(step.tensor(2, i), alpha), node.pointwise(Function::multiply, {gradient, own_share})});
    const ValueId direction =
        mode == "standard" ? velocity : node.pointwise(Function::add, {gradient, step.scaled(velocity, alpha)});
    const ValueId change = node.pointwise(Function::multiply, {direction, own_rate});
    node.set_output(i, node.pointwise(Function::subtract, {x, change}));
    node.set_output(step.tensors + i, velocity);
  }
}

constexpr std::string_view training = "ai.onnx.preview.training";

constexpr std::array records{
    OperatorRecord{
        "Adagrad", 1, build_adagrad, {types::single_or_double, types::sizes, types::single_or_double}, training},
    OperatorRecord{"Adam", 1, build_adam, {types::single_or_double, types::sizes, types::single_or_double}, training},
    OperatorRecord{"BatchNormalization", 1, build_batch_normalization, {types::floats}},
    OperatorRecord{"Dropout",
                   1,
                   build_dropout,
                   {types::floats | types::float8, types::floats | types::float8, types::condition}},
    OperatorRecord{
        "Momentum", 1, build_momentum, {types::single_or_double, types::sizes, types::single_or_double}, training},
};

}  // namespace

std::span<const OperatorRecord> training_operators() { return records; }

}  // namespace lapilli::onnx
