// RNN, GRU and LSTM: one product of all steps with the input's weights, then the recurrence.
#include "ops/recurrent.h"

#include <array>
#include <cctype>
#include <format>

#include "import/onnx/operators/node_builder.h"
#include "ops/contraction.h"
#include "ops/movement.h"

namespace lapilli::onnx {
namespace {

struct NamedActivation {
  std::string_view name;  // in lower case, as ONNX Runtime compares it
  RecurrentActivation function;
  bool has_alpha, has_beta;
};

constexpr std::array named_activations{
    NamedActivation{"affine", RecurrentActivation::affine, true, true},
    NamedActivation{"elu", RecurrentActivation::elu, true, false},
    NamedActivation{"hardsigmoid", RecurrentActivation::hard_sigmoid, true, true},
    NamedActivation{"leakyrelu", RecurrentActivation::leaky_relu, true, false},
    NamedActivation{"relu", RecurrentActivation::relu, false, false},
    NamedActivation{"scaledtanh", RecurrentActivation::scaled_tanh, true, true},
    NamedActivation{"sigmoid", RecurrentActivation::sigmoid, false, false},
    NamedActivation{"softplus", RecurrentActivation::softplus, false, false},
    NamedActivation{"softsign", RecurrentActivation::softsign, false, false},
    NamedActivation{"tanh", RecurrentActivation::tanh, false, false},
    NamedActivation{"thresholdedrelu", RecurrentActivation::thresholded_relu, true, false},
};

ActivationCall default_call(RecurrentActivation function) {
  switch (function) {
#define ACTIVATION(name, code, alpha, beta) \
  case RecurrentActivation::name: return {function, alpha, beta};
#include "ops/recurrent_activations.def"
#undef ACTIVATION
  }
  return {};
}

NamedActivation find_activation(NodeBuilder& node, std::string name) {
  for (char& letter : name) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  for (const NamedActivation& candidate : named_activations) {
    if (candidate.name == name) return candidate;
  }
  node.fail_model(std::format("'{}' is no activation of a recurrent layer", name));
}

// The values of activation_alpha and activation_beta go to the functions that take one, in their order.
std::vector<ActivationCall> activations(NodeBuilder& node, RecurrentKind kind, std::size_t directions) {
  std::vector<std::string> names;
  if (const auto* given = node.node().find<std::vector<std::string>>("activations")) names = *given;
  const std::size_t count = activation_count(kind);
  if (names.empty()) {
    for (std::size_t i = 0; i < directions * count; ++i)
      names.emplace_back(i % count == 0 && kind != RecurrentKind::simple ? "sigmoid" : "tanh");
  }
  if (names.size() != directions * count)
    node.fail_model(std::format("{} activations where {} are needed", names.size(), directions * count));
  const auto numbers = [&](std::string_view name) {
    const auto* given = node.node().find<std::vector<float>>(name);
    return given != nullptr ? *given : std::vector<float>();
  };
  const std::vector<float> alphas = numbers("activation_alpha"), betas = numbers("activation_beta");
  std::size_t next_alpha = 0, next_beta = 0;
  std::vector<ActivationCall> calls;
  for (const std::string& name : names) {
    const NamedActivation found = find_activation(node, name);
    ActivationCall call = default_call(found.function);
    if (found.has_alpha && next_alpha < alphas.size()) call.alpha = alphas[next_alpha++];
    if (found.has_beta && next_beta < betas.size()) call.beta = betas[next_beta++];
    calls.push_back(call);
  }
  return calls;
}

std::vector<bool> directions(NodeBuilder& node) {
  const std::string direction = node.text("direction", "forward");
  if (direction == "forward") return {false};
  if (direction == "reverse") return {true};
  if (direction == "bidirectional") return {false, true};
  node.fail_model(std::format("direction '{}' is none of forward, reverse, bidirectional", direction));
}

ValueId columns(NodeBuilder& node, ValueId matrix, const Dim& first, const Dim& count) {
  const std::vector<Dim> start{Dim(0), first}, size{node.shape(matrix)[0], count}, step{Dim(1), Dim(1)};
  return node.add(std::make_shared<Slice>(start, size, step), {matrix});
}

struct Biases {
  ValueId input = no_value, recurrent = no_value;
};

// Both are added to the same sums, except where the reset gate stands between them.
Biases biases(NodeBuilder& node, RecurrentKind kind, const Dim& rows) {
  if (!node.has_input(3)) return {};
  const ValueId both = node.input(3);
  if (node.rank(both) != 2 || !node.assumptions().equal(node.shape(both)[1], rows * Dim(2))) {
    node.fail_model(
        std::format("B is {}, expected {} columns", node.fact(both).to_string(), (rows * Dim(2)).to_string()));
  }
  Biases result{columns(node, both, 0, rows), columns(node, both, rows, rows)};
  if (kind == RecurrentKind::gated_reset_after) return result;
  return {node.pointwise(PointwiseFunction::add, {result.input, result.recurrent}), no_value};
}

// X * W^T + Wb of all directions, [T, B, D * rows].
ValueId project(NodeBuilder& node, ValueId bias, bool batch_first) {
  const ValueId x = node.input(0), weights = node.input(1);
  const Shape &shape = node.shape(x), &weight_shape = node.shape(weights);
  const Dim rows = weight_shape[0] * weight_shape[1];
  const ValueId flat = node.reshape(x, {shape[0] * shape[1], shape[2]});
  ValueId product =
      node.add(std::make_shared<MatMul>(false, true), {flat, node.reshape(weights, {rows, weight_shape[2]})});
  if (bias != no_value) product = node.pointwise(PointwiseFunction::add, {product, node.reshape(bias, {rows})});
  product = node.reshape(product, {shape[0], shape[1], rows});
  if (batch_first) product = node.add(std::make_shared<Transpose>(std::vector{1, 0, 2}), {product});
  return product;
}

void check_weights(NodeBuilder& node, std::size_t directions) {
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}, std::size_t{2}}) {
    const ValueId value = node.input(i);
    const bool fits =
        node.rank(value) == 3 &&
        (i == 0 || node.assumptions().equal(node.shape(value)[0], static_cast<std::int64_t>(directions)));
    if (!fits)
      node.fail_model(std::format("input {} is {}, for {} directions", i, node.fact(value).to_string(), directions));
  }
  const Dim& hidden = node.shape(node.input(2))[2];
  if (node.has_attribute("hidden_size") && !node.assumptions().equal(hidden, node.integer("hidden_size", 0))) {
    node.fail_model(std::format("hidden_size is {}, but R is {}", node.integer("hidden_size", 0),
                                node.fact(node.input(2)).to_string()));
  }
}

void build_recurrent(NodeBuilder& node, RecurrentKind kind) {
  RecurrentAttributes attributes;
  attributes.kind = kind;
  attributes.backwards = directions(node);
  attributes.activations = activations(node, kind, attributes.backwards.size());
  attributes.clip = node.real("clip", 0);
  attributes.input_forget = node.integer("input_forget", 0) != 0;
  check_weights(node, attributes.backwards.size());
  const bool batch_first = node.integer("layout", 0) != 0;
  const auto state = [&](std::size_t i) {
    if (!node.has_input(i)) return no_value;
    if (!batch_first) return node.input(i);
    return node.add(std::make_shared<Transpose>(std::vector{1, 0, 2}), {node.input(i)});
  };
  const bool has_cell = kind == RecurrentKind::long_short_term;
  const Biases bias = biases(node, kind, node.shape(node.input(2))[1]);
  const std::vector<ValueId> results =
      node.add_all(std::make_shared<Recurrent>(std::move(attributes)),
                   {project(node, bias.input, batch_first), node.input(2), bias.recurrent,
                    node.has_input(4) ? node.input(4) : no_value, state(5), has_cell ? state(6) : no_value,
                    has_cell && node.has_input(7) ? node.input(7) : no_value});
  for (std::size_t i = 0; i < results.size(); ++i) {
    ValueId result = results[i];
    if (batch_first && node.wants_output(i)) {
      std::vector<int> order = i == 0 ? std::vector{2, 0, 1, 3} : std::vector{1, 0, 2};
      result = node.add(std::make_shared<Transpose>(std::move(order)), {result});
    }
    node.set_output(i, result);
  }
}

void build_rnn(NodeBuilder& node) { build_recurrent(node, RecurrentKind::simple); }

void build_gru(NodeBuilder& node) {
  const bool after = node.integer("linear_before_reset", 0) != 0;
  build_recurrent(node, after ? RecurrentKind::gated_reset_after : RecurrentKind::gated);
}

void build_lstm(NodeBuilder& node) { build_recurrent(node, RecurrentKind::long_short_term); }

constexpr std::array records{
    OperatorRecord{"GRU",
                   1,
                   build_gru,
                   {types::floats, types::floats, types::floats, types::floats, types::lengths, types::floats}},
    OperatorRecord{"LSTM",
                   1,
                   build_lstm,
                   {types::floats, types::floats, types::floats, types::floats, types::lengths, types::floats}},
    OperatorRecord{"RNN",
                   1,
                   build_rnn,
                   {types::floats, types::floats, types::floats, types::floats, types::lengths, types::floats}},
};

}  // namespace

std::span<const OperatorRecord> recurrent_operators() { return records; }

}  // namespace lapilli::onnx
