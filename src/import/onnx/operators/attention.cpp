// Attention by matrix products and a softmax, and what goes with it.
#include <algorithm>
#include <array>
#include <cmath>
#include <format>
#include <limits>

#include "base/checked.h"
#include "import/onnx/operators/node_builder.h"
#include "import/onnx/tensor_reader.h"
#include "ops/contraction.h"
#include "ops/gather.h"
#include "ops/linear_attention.h"
#include "ops/movement.h"
#include "ops/normalization.h"
#include "ops/reduction.h"

namespace lapilli::onnx {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

ValueId transpose(NodeBuilder& node, ValueId value, std::vector<int> permutation) {
  return node.add(std::make_shared<Transpose>(std::move(permutation)), {value});
}

ValueId part(NodeBuilder& node, ValueId value, std::size_t axis, const Dim& first, const Dim& count,
             std::int64_t step = 1) {
  std::vector<Dim> size = node.shape(value), start(size.size(), Dim(0)), steps(size.size(), Dim(1));
  start[axis] = first;
  size[axis] = count;
  steps[axis] = step;
  return node.add(std::make_shared<Slice>(start, size, steps), {value});
}

ValueId join(NodeBuilder& node, int axis, std::vector<ValueId> values) {
  return node.add(std::make_shared<Concat>(axis), std::move(values));
}

// [B, S, heads * d] as [B, S, heads, d].
ValueId split_heads(NodeBuilder& node, ValueId value, std::int64_t heads, std::string_view attribute) {
  const Shape shape = node.shape(value);
  const Dim size = heads > 0 ? Dim::floor_divide(shape[2], heads) : Dim(0);
  if (heads <= 0 || !node.assumptions().equal(size * Dim(heads), shape[2]))
    node.fail_model(std::format("{} is {}, for {}", attribute, heads, node.fact(value).to_string()));
  return node.reshape(value, {shape[0], shape[1], heads, size});
}

// Queries, keys and values as [B, heads, S, d], and what is known of them.
struct Heads {
  ValueId query = no_value, key = no_value, value = no_value;
  std::int64_t query_heads = 0, key_heads = 0;
  bool joined = false;  // the model has them as [B, S, heads * d]
  Dim batch, queries, keys;
};

ValueId with_past(NodeBuilder& node, ValueId value, std::size_t past) {
  return node.has_input(past) ? join(node, 2, {node.input(past), value}) : value;
}

void count_heads(NodeBuilder& node, const Dim& queries, const Dim& keys, Heads& heads) {
  heads.query_heads = node.assumptions().number(queries);
  heads.key_heads = node.assumptions().number(keys);
  if (heads.key_heads <= 0 || heads.query_heads % heads.key_heads != 0)
    node.fail_model(std::format("{} heads of queries for {} of keys", heads.query_heads, heads.key_heads));
}

Heads read_heads(NodeBuilder& node) {
  Heads heads;
  heads.query = node.input(0);
  heads.key = node.input(1);
  heads.value = node.input(2);
  const std::size_t rank = node.rank(heads.query);
  if ((rank != 3 && rank != 4) || node.rank(heads.key) != rank || node.rank(heads.value) != rank) {
    node.fail_model(std::format("attention over {}, {} and {}", node.fact(heads.query).to_string(),
                                node.fact(heads.key).to_string(), node.fact(heads.value).to_string()));
  }
  heads.joined = rank == 3;
  if (heads.joined) {
    const auto split = [&](ValueId value, std::string_view attribute) {
      return transpose(node, split_heads(node, value, node.integer(attribute, 0), attribute), {0, 2, 1, 3});
    };
    heads.query = split(heads.query, "q_num_heads");
    heads.key = split(heads.key, "kv_num_heads");
    heads.value = split(heads.value, "kv_num_heads");
  }
  if (node.has_input(4) != node.has_input(5)) node.fail_model("one of past_key and past_value is missing");
  if (node.has_input(4) && node.has_input(6)) node.fail_model("nonpad_kv_seqlen does not go with past_key");
  heads.key = with_past(node, heads.key, 4);
  heads.value = with_past(node, heads.value, 5);
  const Shape &query = node.shape(heads.query), &key = node.shape(heads.key);
  count_heads(node, query[1], key[1], heads);
  heads.batch = query[0];
  heads.queries = query[2];
  heads.keys = key[2];
  return heads;
}

// Which scores count: those where `allowed` is true, after `added` is added. What is not set does not matter.
struct Mask {
  ValueId allowed = no_value, added = no_value;
  bool may_hide_all = false;  // of a query
};

void allow(NodeBuilder& node, Mask& mask, ValueId condition) {
  mask.allowed = mask.allowed == no_value ? condition
                                          : node.pointwise(PointwiseFunction::logical_and, {mask.allowed, condition});
}

// The model's mask; keys that it does not reach are hidden.
void add_given_mask(NodeBuilder& node, const Heads& heads, Mask& mask) {
  if (!node.has_input(3)) return;
  ValueId given = node.input(3);
  const bool is_bool = node.dtype(given) == DType::boolean;
  const Shape shape = node.shape(given);
  if (shape.empty() || shape.size() > 4) node.fail_model(std::format("a mask {}", node.fact(given).to_string()));
  if (!node.assumptions().equal(shape.back(), heads.keys)) {
    const std::vector<Dim> before(shape.size(), Dim(0));
    std::vector<Dim> after = before;
    after.back() = heads.keys - shape.back();
    const ValueId fill = node.cast(node.scalar(DType::float32, is_bool ? 0 : -infinity), node.dtype(given));
    given = node.add(std::make_shared<Pad>(PadMode::constant, before, after, node.fact(fill).constant), {given});
  }
  mask.may_hide_all = true;
  if (is_bool) {
    allow(node, mask, given);
  } else {
    mask.added = node.cast(given, node.dtype(heads.query));
  }
}

ValueId plus(NodeBuilder& node, ValueId value, std::int64_t number) {
  if (number == 0) return value;
  return node.pointwise(PointwiseFunction::add, {value}, {Immediate::of_integer(DType::int32, number)});
}

// The places of queries among the keys, [S, 1] or [B, 1, S, 1].
ValueId query_places(NodeBuilder& node, const Heads& heads) {
  const ValueId counted = node.positions(heads.queries, 0, 2);
  ValueId offset = no_value;
  if (node.has_input(4)) {
    offset = node.cast(node.sizes({node.shape(node.input(4))[2]}), DType::int32);
  } else if (node.has_input(6)) {
    const ValueId lengths = node.reshape(node.cast(node.input(6), DType::int32), {heads.batch, 1, 1, 1});
    const ValueId count = node.cast(node.sizes({heads.queries}), DType::int32);
    offset = node.pointwise(PointwiseFunction::subtract, {lengths, count});
  }
  return offset == no_value ? counted : node.pointwise(PointwiseFunction::add, {counted, offset});
}

Mask build_mask(NodeBuilder& node, const Heads& heads) {
  Mask mask;
  add_given_mask(node, heads, mask);
  const bool causal = node.integer("is_causal", 0) != 0;
  const std::int64_t left = node.integer("left_window_size", -1), right = node.integer("right_window_size", -1);
  if (left < -1 || right < -1) node.fail_model(std::format("a window of {} and {}", left, right));
  const bool limited = causal || left >= 0 || right >= 0;
  if (!limited && !node.has_input(6)) return mask;
  const ValueId keys = node.positions(heads.keys, 1, 2);
  if (limited) {
    const ValueId queries = query_places(node, heads);
    const auto not_above = [&](ValueId low, ValueId high) {
      allow(node, mask, node.pointwise(PointwiseFunction::less_or_equal, {low, high}));
    };
    if (causal) not_above(keys, queries);
    if (left >= 0) not_above(queries, plus(node, keys, left));
    if (right >= 0) not_above(keys, plus(node, queries, right));
    // Without a cache the first key is never hidden from anyone, unless the window leaves it behind.
    mask.may_hide_all = mask.may_hide_all || left >= 0 || right >= 0 || node.has_input(6);
  }
  if (node.has_input(6)) {
    const ValueId lengths = node.reshape(node.cast(node.input(6), DType::int32), {heads.batch, 1, 1, 1});
    allow(node, mask, node.pointwise(PointwiseFunction::less, {keys, lengths}));
    mask.may_hide_all = true;
  }
  return mask;
}

// `value` where the condition holds, else `otherwise`.
ValueId where(NodeBuilder& node, ValueId condition, ValueId value, double otherwise) {
  const DType dtype = node.dtype(value);
  PointwiseChain chain;
  chain.input_count = 2;
  Immediate number = Immediate::of(otherwise);
  number.dtype = dtype;
  const std::uint8_t other = chain.add(number);
  chain.add(PointwiseFunction::select, dtype, {0, 1, other});
  return node.add(std::make_shared<Pointwise>(std::move(chain), dtype), {condition, value});
}

ValueId masked(NodeBuilder& node, const Mask& mask, ValueId scores) {
  if (mask.added != no_value) scores = node.pointwise(PointwiseFunction::add, {scores, mask.added});
  return mask.allowed == no_value ? scores : where(node, mask.allowed, scores, -infinity);
}

// Queries from which everything is hidden get nothing, whatever their scores.
ValueId without_hidden(NodeBuilder& node, const Mask& mask, ValueId weights) {
  if (!mask.may_hide_all) return weights;
  ValueId least = mask.added;
  if (mask.allowed != no_value)
    least = where(node, mask.allowed, least == no_value ? node.scalar(DType::float32, 0) : least, -infinity);
  const int last = static_cast<int>(node.rank(least)) - 1;
  const auto largest = std::make_shared<Reduction>(ReductionFunction::maximum, Preparation::none, std::vector{last});
  const ValueId shown = node.pointwise(PointwiseFunction::less,
                                       {node.scalar(node.dtype(least), -infinity), node.add(largest, {least})});
  return where(node, shown, weights, 0);
}

// A product for each head of keys, with all the queries that share it.
ValueId product(NodeBuilder& node, const Heads& heads, ValueId left, ValueId right, bool transpose_right) {
  const Shape shape = node.shape(left);
  const std::int64_t group = heads.query_heads / heads.key_heads;
  const ValueId rows = node.reshape(left, {shape[0], heads.key_heads, shape[2] * Dim(group), shape[3]});
  const ValueId result = node.add(std::make_shared<MatMul>(false, transpose_right), {rows, right});
  return node.reshape(result, {shape[0], heads.query_heads, shape[2], node.shape(result)[3]});
}

ValueId scaled(NodeBuilder& node, ValueId value, double factor) {
  return node.pointwise(PointwiseFunction::multiply, {value}, {Immediate::of(factor)});
}

ValueId softened(NodeBuilder& node, ValueId scores) {
  NormalizationAttributes attributes;
  attributes.axes = {3};
  const DType dtype = node.dtype(scores);
  if (const std::int64_t wanted = node.integer("softmax_precision", 0); wanted != 0)
    scores = node.cast(scores, read_dtype(checked_cast<std::int32_t>(wanted)));
  return node.cast(node.add(std::make_shared<Normalization>(std::move(attributes)), {scores}), dtype);
}

void build_attention(NodeBuilder& node) {
  const Heads heads = read_heads(node);
  const std::int64_t mode = node.integer("qk_matmul_output_mode", 0);
  if (mode < 0 || mode > 3) node.fail_model(std::format("qk_matmul_output_mode is {}", mode));
  double scale = node.real("scale", 0);
  if (!node.has_attribute("scale"))
    scale = 1 / std::sqrt(static_cast<double>(node.assumptions().number(node.shape(heads.query)[3])));
  const Mask mask = build_mask(node, heads);
  std::array<ValueId, 4> stages{};
  stages[0] = scaled(node, product(node, heads, heads.query, heads.key, true), scale);
  stages[1] = stages[0];
  if (const double cap = node.real("softcap", 0); cap > 0) {
    const ValueId bent = node.pointwise(PointwiseFunction::hyperbolic_tangent, {scaled(node, stages[0], 1 / cap)});
    stages[1] = scaled(node, bent, cap);
  }
  stages[2] = masked(node, mask, stages[1]);
  stages[3] = without_hidden(node, mask, softened(node, stages[2]));
  ValueId result = product(node, heads, stages[3], heads.value, false);
  if (heads.joined) {
    result = transpose(node, result, {0, 2, 1, 3});
    const Shape shape = node.shape(result);
    result = node.reshape(result, {shape[0], shape[1], shape[2] * shape[3]});
  }
  node.set_output(0, result);
  node.set_output(1, heads.key);
  node.set_output(2, heads.value);
  node.set_output(3, stages[static_cast<std::size_t>(mode)]);
}

// The heads of two operands of rank 4, of which neighbours on the left share one on the right.
Heads shared_heads(NodeBuilder& node, ValueId left, ValueId right) {
  const Shape &many = node.shape(left), &few = node.shape(right);
  if (many.size() != 4 || few.size() != 4) {
    node.fail_model(std::format("attention of {} and {}", node.fact(left).to_string(), node.fact(right).to_string()));
  }
  Heads heads;
  count_heads(node, many[1], few[1], heads);
  return heads;
}

// The two halves of FlexAttention, around what the model does with scores and weights.
void build_attention_scores(NodeBuilder& node) {
  const ValueId query = node.input(0), key = node.input(1);
  const Heads heads = shared_heads(node, query, key);
  double scale = node.real("scale", 0);
  if (!node.has_attribute("scale"))
    scale = 1 / std::sqrt(static_cast<double>(node.assumptions().number(node.shape(query)[3])));
  DType precision = node.dtype(query) == DType::float64 ? DType::float64 : DType::float32;
  if (const std::int64_t wanted = node.integer("softmax_precision", 0); wanted != 0)
    precision = read_dtype(checked_cast<std::int32_t>(wanted));
  node.set_output(0, node.cast(scaled(node, product(node, heads, query, key, true), scale), precision));
}

void build_attention_values(NodeBuilder& node) {
  const ValueId value = node.input(1), weights = node.cast(node.input(0), node.dtype(value));
  node.set_output(0, product(node, shared_heads(node, weights, value), weights, value, false));
}

// Cosines and sines for each place of the sequence, [B, S, 1, half], or [B, 1, S, half] where heads come first.
ValueId rotary_cache(NodeBuilder& node, std::size_t index, std::size_t heads_axis) {
  ValueId cache = node.input(index);
  if (node.has_input(3)) cache = node.add(std::make_shared<Gather>(0), {cache, node.input(3)});
  if (node.rank(cache) != 3) node.fail_model(std::format("a cache {}", node.fact(node.input(index)).to_string()));
  const std::array axes{static_cast<int>(heads_axis)};
  return node.unsqueeze(cache, axes);
}

void build_rotary_embedding(NodeBuilder& node) {
  ValueId x = node.input(0);
  const Shape shape = node.shape(x);
  if (shape.size() != 3 && shape.size() != 4)
    node.fail_model(std::format("the input is {}", node.fact(x).to_string()));
  const bool joined = shape.size() == 3;
  if (joined) x = split_heads(node, x, node.integer("num_heads", 0), "num_heads");
  const Shape wide = node.shape(x);
  const std::int64_t given = node.integer("rotary_embedding_dim", 0);
  const Dim rotated = given == 0 ? wide[3] : Dim(given), half = Dim::floor_divide(rotated, 2);
  const std::size_t heads_axis = joined ? 2 : 1;
  const ValueId cosines = rotary_cache(node, 1, heads_axis), sines = rotary_cache(node, 2, heads_axis);
  if (!node.assumptions().equal(node.shape(cosines)[3], half) || !node.assumptions().equal(half * Dim(2), rotated) ||
      node.assumptions().less(wide[3], rotated)) {
    node.fail_model(std::format("{} of {} elements are rotated by a cache {}", rotated.to_string(),
                                wide[3].to_string(), node.fact(node.input(1)).to_string()));
  }
  const bool interleaved = node.integer("interleaved", 0) != 0;
  const ValueId first = part(node, x, 3, 0, half, interleaved ? 2 : 1);
  const ValueId second = part(node, x, 3, interleaved ? Dim(1) : half, half, interleaved ? 2 : 1);
  const auto times = [&](ValueId a, ValueId b) { return node.pointwise(PointwiseFunction::multiply, {a, b}); };
  const ValueId real = node.pointwise(PointwiseFunction::subtract, {times(cosines, first), times(sines, second)});
  const ValueId imaginary = node.pointwise(PointwiseFunction::add, {times(sines, first), times(cosines, second)});
  ValueId turned = no_value;
  if (interleaved) {
    const std::array behind{4};
    turned = join(node, 4, {node.unsqueeze(real, behind), node.unsqueeze(imaginary, behind)});
    turned = node.reshape(turned, {wide[0], wide[1], wide[2], rotated});
  } else {
    turned = join(node, 3, {real, imaginary});
  }
  if (!node.assumptions().equal(rotated, wide[3]))
    turned = join(node, 3, {turned, part(node, x, 3, rotated, wide[3] - rotated)});
  node.set_output(0, node.reshape(turned, shape));
}

void require_gate(NodeBuilder& node, std::size_t index, std::string_view name, bool wanted, std::string_view rule) {
  if (node.has_input(index) == wanted) return;
  node.fail_model(std::format("update_rule '{}' {} {}", rule, wanted ? "needs" : "has no", name));
}

void build_linear_attention(NodeBuilder& node) {
  const std::string rule = node.text("update_rule", "gated_delta");
  if (rule != "linear" && rule != "gated" && rule != "delta" && rule != "gated_delta")
    node.fail_model(std::format("update_rule '{}' is none of linear, gated, delta, gated_delta", rule));
  require_gate(node, 4, "decay", rule.starts_with("gated"), rule);
  require_gate(node, 5, "beta", rule.ends_with("delta"), rule);
  const auto optional = [&](std::size_t index) { return node.has_input(index) ? node.input(index) : no_value; };
  const std::vector<ValueId> inputs{node.input(0), node.input(1), node.input(2),
                                    optional(3),   optional(4),   optional(5)};
  LinearAttentionAttributes attributes;
  attributes.query_heads = node.integer("q_num_heads", 0);
  attributes.key_heads = node.integer("kv_num_heads", 0);
  attributes.scale = node.real("scale", 0);
  if (attributes.scale == 0 && attributes.query_heads > 0 && node.rank(inputs[0]) == 3) {
    const std::int64_t width = node.assumptions().number(node.shape(inputs[0])[2]) / attributes.query_heads;
    attributes.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(width)));
  }
  const std::vector<ValueId> results = node.add_all(std::make_shared<LinearAttention>(attributes), inputs);
  node.set_output(0, results[0]);
  node.set_output(1, results[1]);
}

constexpr std::array records{
    OperatorRecord{
        "Attention",
        23,
        build_attention,
        {types::floats, types::floats, types::floats, types::plain, types::floats, types::floats, types::sizes}},
    OperatorRecord{"AttentionScores", 1, build_attention_scores, {types::floats}, "lapilli"},
    OperatorRecord{"AttentionValues", 1, build_attention_values, {types::floats}, "lapilli"},
    OperatorRecord{"LinearAttention", 27, build_linear_attention, {types::up_to_single}},
    OperatorRecord{"RotaryEmbedding",
                   23,
                   build_rotary_embedding,
                   {types::up_to_single, types::up_to_single, types::up_to_single, types::sizes}},
};

}  // namespace

std::span<const OperatorRecord> attention_operators() { return records; }

}  // namespace lapilli::onnx
