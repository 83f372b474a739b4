#include "ir/graph.h"

#include <algorithm>
#include <format>
#include <queue>

#include "base/failure.h"
#include "base/text.h"

namespace lapilli {
namespace {

// What models and elements of inputs say of sizes need not be sizes; a size that an input has is one.
void require_sizes(const Fact& fact, Assumptions& assumptions) {
  for (const Dim& size : fact.shape) {
    if (size.constant().value_or(-1) >= 0) continue;
    std::vector<std::string> symbols;
    size.collect_symbols(symbols);
    if (symbols.size() == 1 && size == Dim::symbol(symbols[0]) && !is_element_symbol(symbols[0])) continue;
    if (assumptions.less(size, 0)) {
      fail(ErrorCode::invalid_model, "a result would be {}, with a size below 0: {}", fact.to_string(),
           size.evaluate(assumptions.sizes()));
    }
  }
}

bool all_known(std::span<const Fact> facts) {
  return std::ranges::all_of(
      facts, [](const Fact& fact) { return fact.constant.defined() || fact.dtype == DType::undefined; });
}

bool is_small(const Operator& op, const Fact& fact) {
  const auto count = element_count(fact.shape).constant();
  return count && *count <= op.largest_fold();
}

// Fills in the constants of outputs that can be computed now.
void fold(const Operator& op, std::span<const Fact> inputs, std::span<Fact> outputs) {
  const bool known = std::ranges::all_of(outputs, [](const Fact& fact) { return fact.constant.defined(); });
  if (known || !all_known(inputs) ||
      !std::ranges::all_of(outputs, [&](const Fact& fact) { return is_small(op, fact); }))
    return;
  std::vector<Tensor> tensors;
  for (const Fact& fact : inputs) tensors.push_back(fact.constant.aligned());
  std::vector<Tensor> results = op.evaluate(tensors);
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i].dtype() != outputs[i].dtype || to_shape(results[i].shape()) != outputs[i].shape) {
      fail(ErrorCode::internal, "{} computed {}{} where {} was inferred", op.name(), to_string(results[i].dtype()),
           shape_text(results[i].shape()), outputs[i].to_string());
    }
    outputs[i].constant = std::move(results[i]);
    outputs[i].elements.reset();
  }
}

}  // namespace

ValueId Graph::add_value(std::string name, Fact fact, NodeId producer) {
  values_.push_back({std::move(name), std::move(fact), producer, {}});
  return ValueId{static_cast<std::uint32_t>(values_.size() - 1)};
}

ValueId Graph::add_input(std::string name, Fact fact) {
  inputs_.push_back(add_value(std::move(name), std::move(fact), no_node));
  return inputs_.back();
}

ValueId Graph::add_constant(std::string name, Tensor tensor) {
  return add_value(std::move(name), Fact::of_constant(std::move(tensor)), no_node);
}

std::vector<ValueId> Graph::add_node(OperatorPointer op, std::vector<ValueId> inputs,
                                     std::vector<std::string> origins, std::vector<std::string> output_names,
                                     Assumptions& assumptions) {
  const NodeId id{static_cast<std::uint32_t>(nodes_.size())};
  Node node{std::move(op), std::move(inputs), {}, std::move(origins), false};
  const std::vector<Fact> facts = input_facts(node);
  const std::string context = node.origins.empty() ? std::string(node.op->name()) : node.origins.front();
  std::vector<Fact> results = with_context(context, [&] {
    std::vector<Fact> inferred = node.op->infer(facts, assumptions);
    for (const Fact& fact : inferred) require_sizes(fact, assumptions);
    fold(*node.op, facts, inferred);
    return inferred;
  });
  for (const ValueId input : node.inputs) {
    if (input != no_value) values_[index_of(input)].consumers.push_back(id);
  }
  output_names.resize(results.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    node.outputs.push_back(add_value(std::move(output_names[i]), std::move(results[i]), id));
  }
  nodes_.push_back(std::move(node));
  return nodes_.back().outputs;
}

void Graph::replace(ValueId from, ValueId to) {
  if (from == to) return;
  const std::vector<NodeId> consumers = std::move(values_[index_of(from)].consumers);
  values_[index_of(from)].consumers.clear();
  for (const NodeId consumer : consumers) {
    std::ranges::replace(nodes_[index_of(consumer)].inputs, from, to);
    values_[index_of(to)].consumers.push_back(consumer);
  }
  std::ranges::replace(outputs_, from, to);
}

void Graph::erase(NodeId id) {
  Node& node = nodes_[index_of(id)];
  for (const ValueId input : node.inputs) {
    if (input == no_value) continue;
    auto& consumers = values_[index_of(input)].consumers;
    consumers.erase(std::ranges::find(consumers, id));
  }
  for (const ValueId output : node.outputs) values_[index_of(output)].producer = no_node;
  node.erased = true;
}

void Graph::erase_dead_nodes() {
  const std::vector<NodeId> order = topological_order();
  for (auto id = order.rbegin(); id != order.rend(); ++id) {
    const bool needed = std::ranges::any_of(node(*id).outputs, [&](ValueId output) {
      return !is_constant(output) && (!value(output).consumers.empty() || is_output(output));
    });
    if (!needed) erase(*id);
  }
}

bool Graph::is_output(ValueId id) const { return std::ranges::contains(outputs_, id); }

std::vector<Fact> Graph::input_facts(const Node& node) const {
  std::vector<Fact> facts;
  facts.reserve(node.inputs.size());
  for (const ValueId id : node.inputs) facts.push_back(id == no_value ? Fact{} : fact(id));
  return facts;
}

std::vector<Fact> Graph::output_facts(const Node& node) const {
  std::vector<Fact> facts;
  facts.reserve(node.outputs.size());
  for (const ValueId id : node.outputs) facts.push_back(fact(id));
  return facts;
}

std::vector<NodeId> Graph::topological_order() const {
  std::vector<std::size_t> waiting_for(nodes_.size(), 0);
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  std::size_t present = 0;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].erased) continue;
    ++present;
    for (const ValueId input : nodes_[i].inputs) {
      if (input != no_value && value(input).producer != no_node) ++waiting_for[i];
    }
    if (waiting_for[i] == 0) ready.push(i);
  }
  std::vector<NodeId> order;
  while (!ready.empty()) {
    const std::size_t i = ready.top();
    ready.pop();
    order.push_back(NodeId{static_cast<std::uint32_t>(i)});
    for (const ValueId output : nodes_[i].outputs) {
      for (const NodeId consumer : value(output).consumers) {
        if (--waiting_for[index_of(consumer)] == 0) ready.push(index_of(consumer));
      }
    }
  }
  if (order.size() != present) fail(ErrorCode::internal, "the graph has a cycle");
  return order;
}

void Graph::verify() const {
  for (const NodeId id : topological_order()) {
    const Node& node = nodes_[index_of(id)];
    for (const ValueId output : node.outputs) {
      if (value(output).producer != id)
        fail(ErrorCode::internal, "value '{}' names another producer", value(output).name);
    }
    for (const ValueId input : node.inputs) {
      if (input == no_value) continue;
      if (std::ranges::count(value(input).consumers, id) != std::ranges::count(node.inputs, input)) {
        fail(ErrorCode::internal, "value '{}' does not know its consumers", value(input).name);
      }
    }
  }
}

std::string Graph::to_string() const {
  const auto label = [&](ValueId id) {
    if (id == no_value) return std::string("-");
    const std::string& name = value(id).name;
    return std::format("%{}{}", index_of(id), name.empty() ? "" : " '" + name + "'");
  };
  std::string text;
  for (const ValueId input : inputs_) text += std::format("input {} {}\n", label(input), fact(input).to_string());
  for (const NodeId id : topological_order()) {
    const Node& node = nodes_[index_of(id)];
    std::vector<std::string> inputs, outputs;
    for (const ValueId input : node.inputs) inputs.push_back(label(input));
    for (const ValueId output : node.outputs) outputs.push_back(label(output) + " " + fact(output).to_string());
    text += std::format("{} = {}({}) {}\n", join(outputs, ", "), node.op->name(), join(inputs, ", "),
                        node.op->attributes());
  }
  for (const ValueId output : outputs_) text += std::format("output {}\n", label(output));
  return text;
}

}  // namespace lapilli
