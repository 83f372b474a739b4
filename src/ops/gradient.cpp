#include "ops/gradient.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <typeindex>

#include "base/failure.h"
#include "ops/contraction.h"
#include "ops/gather.h"
#include "ops/movement.h"
#include "ops/normalization.h"
#include "ops/reduction.h"
#include "ops/scatter.h"

namespace lapilli {
namespace {

using Function = PointwiseFunction;

/// A node whose result has a gradient.
struct Call {
  GraphBuilder& builder;
  const Node& node;
  std::vector<ValueId> inputs;  // the operator's own, without those of its epilogue
  ValueId result;               // without the epilogue
  ValueId gradient;             // of this result

  [[nodiscard]] const Shape& shape() const { return builder.shape(inputs[0]); }
  [[nodiscard]] ValueId on(Function function, ValueId left, ValueId right) const {
    return builder.pointwise(function, {left, right});
  }
};

using Gradients = std::vector<ValueId>;  // one an input; no_value for zero

ValueId expanded(GraphBuilder& builder, ValueId value, const Shape& shape) {
  if (builder.shape(value) == shape) return value;
  return builder.add(std::make_shared<Expand>(shape), {value});
}

ValueId sum_along(GraphBuilder& builder, ValueId value, std::vector<int> axes) {
  if (axes.empty()) return value;
  return builder.add(std::make_shared<Reduction>(ReductionFunction::sum, Preparation::none, std::move(axes)),
                     {value});
}

ValueId mean_along(GraphBuilder& builder, ValueId value, const std::vector<int>& axes) {
  return builder.add(std::make_shared<Reduction>(ReductionFunction::mean, Preparation::none, axes), {value});
}

Gradients differentiate_matmul(const Call& call) {
  const auto& op = static_cast<const MatMul&>(*call.node.op);
  const ValueId a = call.inputs[0], b = call.inputs[1], g = call.gradient;
  const bool ta = op.transpose_a(), tb = op.transpose_b();
  const auto product = [&](bool transpose_left, ValueId left, bool transpose_right, ValueId right) {
    return call.builder.add(std::make_shared<MatMul>(transpose_left, transpose_right), {left, right});
  };
  const ValueId of_a = ta ? product(tb, b, true, g) : product(false, g, !tb, b);
  const ValueId of_b = tb ? product(true, g, ta, a) : product(!ta, a, false, g);
  return {sum_to_shape(call.builder, of_a, call.builder.shape(a)),
          sum_to_shape(call.builder, of_b, call.builder.shape(b))};
}

// The gradient through a reduction of elements that are not prepared.
ValueId through_reduction(const Call& call, const Reduction& op) {
  GraphBuilder& builder = call.builder;
  const ValueId x = call.inputs[0];
  switch (op.function()) {
    case ReductionFunction::sum: return expanded(builder, call.gradient, call.shape());
    case ReductionFunction::mean: {
      // A mean of ones' shares: the gradient divided by how many elements there are.
      const ValueId ones = expanded(builder, builder.scalar(builder.dtype(x), 1), call.shape());
      const ValueId count = sum_along(builder, ones, op.axes());
      return expanded(builder, call.on(Function::divide, call.gradient, count), call.shape());
    }
    case ReductionFunction::maximum:
    case ReductionFunction::minimum: {
      // Elements that are the extreme one together share the gradient.
      const ValueId extreme = builder.cast(call.on(Function::equal, x, call.result), builder.dtype(x));
      const ValueId share = call.on(Function::divide, call.gradient, sum_along(builder, extreme, op.axes()));
      return call.on(Function::multiply, extreme, share);
    }
    case ReductionFunction::log_sum_exp: {
      const ValueId distance = call.on(Function::subtract, x, call.result);
      return call.on(Function::multiply, call.gradient, builder.pointwise(Function::exponential, {distance}));
    }
    default: fail(ErrorCode::unsupported, "no derivative of the reduction {} is known", to_string(op.function()));
  }
}

Gradients differentiate_reduction(const Call& call) {
  const auto& op = static_cast<const Reduction&>(*call.node.op);
  const ValueId x = call.inputs[0];
  const bool sums = op.function() == ReductionFunction::sum || op.function() == ReductionFunction::mean;
  const ValueId outer = op.preparation() == Preparation::none || sums ? through_reduction(call, op) : no_value;
  switch (op.preparation()) {
    case Preparation::none: return {outer};
    case Preparation::absolute:
      if (sums) return {call.on(Function::multiply, outer, call.builder.pointwise(Function::sign, {x}))};
      break;
    case Preparation::square:
      if (sums) {
        const ValueId twice = call.builder.pointwise(Function::multiply, {x}, {Immediate::of(2.0)});
        return {call.on(Function::multiply, outer, twice)};
      }
      break;
    case Preparation::absolute_power: break;
  }
  fail(ErrorCode::unsupported, "no derivative of {} of {} elements is known", to_string(op.function()),
       to_string(op.preparation()));
}

// 1 / sqrt(mean of squares + epsilon) along the rows.
ValueId inverse_scale(GraphBuilder& builder, ValueId centred, const NormalizationAttributes& attributes) {
  const ValueId squares = builder.pointwise(Function::multiply, {centred, centred});
  const ValueId mean = mean_along(builder, squares, attributes.axes);
  const ValueId shifted = builder.pointwise(Function::add, {mean}, {Immediate::of(attributes.epsilon)});
  return builder.pointwise(Function::reciprocal, {builder.pointwise(Function::square_root, {shifted})});
}

Gradients differentiate_normalization(const Call& call) {
  const NormalizationAttributes& attributes = static_cast<const Normalization&>(*call.node.op).normalization();
  if (attributes.channel_groups != 1 || attributes.statistics) {
    fail(ErrorCode::unsupported, "no derivative of a normalization in groups or with statistics is known");
  }
  GraphBuilder& builder = call.builder;
  const ValueId x = call.inputs[0], y = call.result, g = call.gradient;
  switch (attributes.kind) {
    case NormalizationKind::softmax: {
      const ValueId sum = sum_along(builder, call.on(Function::multiply, g, y), attributes.axes);
      return {call.on(Function::multiply, y, call.on(Function::subtract, g, sum))};
    }
    case NormalizationKind::log_softmax: {
      const ValueId share = builder.pointwise(Function::exponential, {y});
      const ValueId sum = sum_along(builder, g, attributes.axes);
      return {call.on(Function::subtract, g, call.on(Function::multiply, share, sum))};
    }
    case NormalizationKind::standard_score:
    case NormalizationKind::root_mean_square: break;
  }
  const ValueId along = mean_along(builder, call.on(Function::multiply, g, y), attributes.axes);
  ValueId rest = call.on(Function::subtract, g, call.on(Function::multiply, y, along));
  ValueId centred = x;
  if (attributes.kind == NormalizationKind::standard_score) {
    rest = call.on(Function::subtract, rest, mean_along(builder, g, attributes.axes));
    centred = call.on(Function::subtract, x, mean_along(builder, x, attributes.axes));
  }
  return {call.on(Function::multiply, rest, inverse_scale(builder, centred, attributes))};
}

Gradients differentiate_reshape(const Call& call) { return {call.builder.reshape(call.gradient, call.shape())}; }

Gradients differentiate_transpose(const Call& call) {
  const std::vector<int>& permutation = static_cast<const Transpose&>(*call.node.op).permutation();
  std::vector<int> back(permutation.size());
  for (std::size_t i = 0; i < permutation.size(); ++i) {
    back[static_cast<std::size_t>(permutation[i])] = static_cast<int>(i);
  }
  return {call.builder.add(std::make_shared<Transpose>(std::move(back)), {call.gradient})};
}

Gradients differentiate_expand(const Call& call) { return {sum_to_shape(call.builder, call.gradient, call.shape())}; }

Gradients differentiate_concat(const Call& call) {
  const auto axis = static_cast<std::size_t>(static_cast<const Concat&>(*call.node.op).axis());
  Gradients gradients;
  std::vector<Dim> start(call.shape().size(), Dim(0));
  const std::vector<Dim> step(call.shape().size(), Dim(1));
  for (const ValueId input : call.inputs) {
    const Shape size = call.builder.shape(input);
    gradients.push_back(call.builder.add(std::make_shared<Slice>(start, size, step), {call.gradient}));
    start[axis] = start[axis] + size[axis];
  }
  return gradients;
}

Gradients differentiate_slice(const Call& call) {
  const auto& op = static_cast<const Slice&>(*call.node.op);
  const Shape& shape = call.shape();
  std::vector<Dim> after;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (op.step()[i] != Dim(1)) fail(ErrorCode::unsupported, "no derivative of a slice with steps is known");
    after.push_back(shape[i] - op.start()[i] - op.size()[i]);
  }
  return {call.builder.add(std::make_shared<Pad>(PadMode::constant, op.start(), std::move(after), Tensor()),
                           {call.gradient})};
}

Gradients differentiate_pad(const Call& call) {
  const auto& op = static_cast<const Pad&>(*call.node.op);
  if (op.mode() != PadMode::constant) fail(ErrorCode::unsupported, "no derivative of this mode of Pad is known");
  Gradients gradients(call.inputs.size(), no_value);
  gradients[0] = call.builder.add(
      std::make_shared<Slice>(op.before(), call.shape(), std::vector<Dim>(call.shape().size(), Dim(1))),
      {call.gradient});
  return gradients;
}

struct Rule {
  std::type_index family;
  Gradients (*differentiate)(const Call&);
};

const auto& rules() {
  static const std::array table{
      Rule{typeid(MatMul), differentiate_matmul},
      Rule{typeid(Reduction), differentiate_reduction},
      Rule{typeid(Normalization), differentiate_normalization},
      Rule{typeid(Reshape), differentiate_reshape},
      Rule{typeid(Transpose), differentiate_transpose},
      Rule{typeid(Expand), differentiate_expand},
      Rule{typeid(Concat), differentiate_concat},
      Rule{typeid(Slice), differentiate_slice},
      Rule{typeid(Pad), differentiate_pad},
  };
  return table;
}

Gradients differentiate_node(const Call& call) {
  const Operator& op = *call.node.op;
  const std::type_index family(typeid(op));
  const auto* rule = std::ranges::find(rules(), family, &Rule::family);
  if (rule == rules().end()) fail(ErrorCode::unsupported, "no derivative of {} is known", call.node.op->name());
  return rule->differentiate(call);
}

// Gradients of all inputs of a node that ends in a chain: first through the chain, then through the rest.
Gradients differentiate_fused(GraphBuilder& builder, const Node& node, const FusedOperator& op, ValueId gradient) {
  const auto own = static_cast<std::ptrdiff_t>(op.own_input_count());
  Call call{builder, node, {node.inputs.begin(), node.inputs.begin() + own}, node.outputs[0], gradient};
  Gradients others;
  if (!op.epilogue().empty()) {
    call.result = builder.add(op.with_epilogue({}, DType::undefined), call.inputs);
    std::vector<ValueId> inputs{call.result};
    inputs.insert(inputs.end(), node.inputs.begin() + own, node.inputs.end());
    others = differentiate_chain(builder, op.epilogue(), inputs, gradient);
    call.gradient = others[0];
    others.erase(others.begin());
    if (call.gradient == no_value) {
      Gradients zeros(node.inputs.size(), no_value);
      return zeros;
    }
  }
  Gradients gradients = differentiate_node(call);
  gradients.insert(gradients.end(), others.begin(), others.end());
  return gradients;
}

// Adds up what falls on the same places of the data.
Gradients differentiate_gather(GraphBuilder& builder, const Node& node, ValueId gradient) {
  const auto places = std::dynamic_pointer_cast<const GatherOperator>(node.op);
  const ValueId zeros = expanded(builder, builder.scalar(builder.dtype(gradient), 0), builder.shape(node.inputs[0]));
  return {builder.add(std::make_shared<Scatter>(places, Function::add), {zeros, node.inputs[1], gradient}), no_value};
}

Gradients input_gradients(GraphBuilder& builder, const Node& node, ValueId gradient) {
  if (const auto* pointwise = operator_as<Pointwise>(node)) {
    return differentiate_chain(builder, pointwise->chain(), node.inputs, gradient);
  }
  if (const auto* gather = operator_as<GatherOperator>(node); gather != nullptr && gather->epilogue().empty()) {
    return differentiate_gather(builder, node, gradient);
  }
  if (const auto* fused = operator_as<FusedOperator>(node))
    return differentiate_fused(builder, node, *fused, gradient);
  return differentiate_node({builder, node, node.inputs, node.outputs[0], gradient});
}

class Backward {
 public:
  Backward(GraphBuilder& builder, std::span<const ValueId> xs) : builder_(builder), xs_(xs.begin(), xs.end()) {}

  std::vector<ValueId> run(ValueId y) {
    const std::vector<NodeId> path = nodes_between(y);
    const ValueId one = builder_.scalar(builder_.dtype(y), 1);
    gradients_[y] = expanded(builder_, one, builder_.shape(y));
    for (auto id = path.rbegin(); id != path.rend(); ++id) {
      const Node& node = builder_.graph().node(*id);
      const auto found = gradients_.find(node.outputs[0]);
      if (found != gradients_.end()) pass_on(node, found->second);
    }
    return collect();
  }

 private:
  // Nodes on a way from one of xs to y, in the order of their making.
  std::vector<NodeId> nodes_between(ValueId y) {
    const Graph& graph = builder_.graph();
    depends_.insert(xs_.begin(), xs_.end());
    std::vector<NodeId> path;
    for (const NodeId id : graph.topological_order()) {
      const Node& node = graph.node(id);
      const bool depends = std::ranges::any_of(node.inputs, [&](ValueId input) { return depends_.contains(input); });
      if (!depends) continue;
      for (const ValueId output : node.outputs) {
        // One of xs is a value of its own, whatever it is made of.
        if (!std::ranges::contains(xs_, output)) depends_.insert(output);
      }
      path.push_back(id);
    }
    std::set<ValueId> needed{y};
    std::vector<NodeId> result;
    for (auto id = path.rbegin(); id != path.rend(); ++id) {
      const Node& node = graph.node(*id);
      const bool wanted = std::ranges::any_of(node.outputs, [&](ValueId output) {
        return needed.contains(output) && !std::ranges::contains(xs_, output);
      });
      if (!wanted) continue;
      needed.insert(node.inputs.begin(), node.inputs.end());
      result.push_back(*id);
    }
    std::ranges::reverse(result);
    return result;
  }

  void pass_on(const Node& node, ValueId gradient) {
    // What depends on x by whole numbers and conditions alone goes by steps.
    if (!is_floating_point(builder_.dtype(node.outputs[0]))) return;
    const std::vector<ValueId> inputs = node.inputs;
    const Gradients own = input_gradients(builder_, node, gradient);
    for (std::size_t i = 0; i < own.size() && i < inputs.size(); ++i) {
      if (own[i] == no_value || inputs[i] == no_value || !depends_.contains(inputs[i])) continue;
      if (!is_floating_point(builder_.dtype(inputs[i]))) continue;
      const ValueId share = sum_to_shape(builder_, own[i], builder_.shape(inputs[i]));
      const auto [found, first] = gradients_.try_emplace(inputs[i], share);
      if (!first) found->second = builder_.pointwise(Function::add, {found->second, share});
    }
  }

  std::vector<ValueId> collect() {
    std::vector<ValueId> results;
    for (const ValueId x : xs_) {
      const auto found = gradients_.find(x);
      results.push_back(found != gradients_.end()
                            ? found->second
                            : expanded(builder_, builder_.scalar(builder_.dtype(x), 0), builder_.shape(x)));
    }
    return results;
  }

  GraphBuilder& builder_;
  std::vector<ValueId> xs_;
  std::set<ValueId> depends_;
  std::map<ValueId, ValueId> gradients_;
};

}  // namespace

ValueId sum_to_shape(GraphBuilder& builder, ValueId gradient, const Shape& shape) {
  const Shape wide = builder.shape(gradient);
  if (wide == shape) return gradient;
  if (wide.size() < shape.size()) {
    fail(ErrorCode::internal, "a gradient of {} for a value of {}", shape_text(wide), shape_text(shape));
  }
  const std::size_t added = wide.size() - shape.size();
  std::vector<int> axes;
  for (std::size_t i = 0; i < wide.size(); ++i) {
    const bool summed =
        i < added || (builder.assumptions().equal(shape[i - added], 1) && !builder.assumptions().equal(wide[i], 1));
    if (summed) axes.push_back(static_cast<int>(i));
  }
  return builder.reshape(sum_along(builder, gradient, std::move(axes)), shape);
}

std::vector<ValueId> differentiate(GraphBuilder& builder, ValueId y, std::span<const ValueId> xs) {
  if (!is_floating_point(builder.dtype(y))) {
    fail(ErrorCode::invalid_model, "{} has no gradient: it is not of real numbers", builder.fact(y).to_string());
  }
  return Backward(builder, xs).run(y);
}

}  // namespace lapilli
