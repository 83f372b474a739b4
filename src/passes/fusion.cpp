// Rules that join nodes into one dispatch.
#include <algorithm>
#include <array>

#include "base/small_float.h"
#include "ops/contraction.h"
#include "ops/fused.h"
#include "passes/rules.h"

namespace lapilli {
namespace {

struct ChainWithInputs {
  PointwiseChain chain;
  std::vector<ValueId> inputs;
};

// A value that is an input twice becomes one input.
ChainWithInputs without_duplicates(const PointwiseChain& chain, std::span<const ValueId> inputs) {
  ChainWithInputs result{chain, {}};
  std::vector<std::uint8_t> renumbered;
  for (const ValueId input : inputs) {
    const auto found = std::ranges::find(result.inputs, input);
    renumbered.push_back(static_cast<std::uint8_t>(found - result.inputs.begin()));
    if (found == result.inputs.end()) result.inputs.push_back(input);
  }
  const auto removed = static_cast<std::uint8_t>(inputs.size() - result.inputs.size());
  result.chain.input_count = static_cast<std::uint8_t>(result.inputs.size());
  for (PointwiseStep& step : result.chain.steps) {
    for (std::uint8_t& argument : step.arguments) {
      argument = argument < renumbered.size() ? renumbered[argument] : static_cast<std::uint8_t>(argument - removed);
    }
  }
  return result;
}

std::uint8_t position_of(const ChainWithInputs& consumer, ValueId value) {
  return static_cast<std::uint8_t>(std::ranges::find(consumer.inputs, value) - consumer.inputs.begin());
}

// The inputs of the joined chain after those of the first.
void append_other_inputs(const ChainWithInputs& consumer, ValueId value, std::vector<ValueId>& inputs) {
  for (const ValueId input : consumer.inputs) {
    if (input != value) inputs.push_back(input);
  }
}

// Inputs that both chains had are read once.
JoinedChain join(const PointwiseChain& first, const ChainWithInputs& consumer, ValueId value) {
  return join_chains(first, consumer.chain, position_of(consumer, value));
}

// Of several producers that could take the same node, the one that runs last: its other operands are there by then.
bool is_last_producer(const Graph& graph, const Node& consumer, NodeId producer) {
  return std::ranges::none_of(consumer.inputs, [&](ValueId input) {
    if (input == no_value) return false;
    const NodeId other = graph.value(input).producer;
    return other != no_node && other != producer && index_of(other) > index_of(producer) &&
           operator_as<FusedOperator>(graph.node(other)) != nullptr && only_consumer(graph, input) != no_node;
  });
}

bool is_lengthy(const Graph& graph, const Node& node, const PointwiseChain& chain) {
  const auto small = [&](ValueId value) { return is_small_float(graph.fact(value).dtype); };
  return std::ranges::any_of(node.inputs, small) || std::ranges::any_of(node.outputs, small) ||
         std::ranges::any_of(chain.steps, [](const PointwiseStep& step) { return lapilli::is_lengthy(step); });
}

RuleResult fuse_epilogue(const Graph& graph, NodeId id, Assumptions& /*assumptions*/) {
  const Node& producer = graph.node(id);
  const auto* op = operator_as<FusedOperator>(producer);
  if (op == nullptr || !op->takes_epilogue()) return RuleResult::no_match();
  const ValueId value = producer.outputs[0];
  const NodeId consumer_id = only_consumer(graph, value);
  if (consumer_id == no_node) return RuleResult::no_match();
  const Node& consumer = graph.node(consumer_id);
  const auto* pointwise = operator_as<Pointwise>(consumer);
  if (pointwise == nullptr) return RuleResult::no_match();
  if (graph.fact(consumer.outputs[0]).shape != graph.fact(value).shape) {
    return RuleResult::declined("the result is broadcast to another shape");
  }
  if (!is_last_producer(graph, consumer, id)) return RuleResult::no_match();
  const ChainWithInputs second = without_duplicates(pointwise->chain(), consumer.inputs);
  const bool contraction = operator_as<MatMul>(producer) != nullptr || operator_as<Convolution>(producer) != nullptr;
  if (contraction && is_lengthy(graph, consumer, pointwise->chain()))
    return RuleResult::declined("the kernels of contractions go without its lengthy steps");
  JoinedChain joined = join(op->epilogue(), second, value);
  std::vector<ValueId> inputs = producer.inputs;
  append_other_inputs(second, value, inputs);
  if (!fits(joined.chain, epilogue_limits))
    return RuleResult::declined("the epilogue would be longer than kernels take");
  Patch patch(graph);
  patch.absorb(id);
  patch.absorb(consumer_id);
  patch.replace(
      consumer.outputs[0],
      patch.add_node(op->with_epilogue(std::move(joined.chain), pointwise->output_dtype()), std::move(inputs)));
  return RuleResult::rewrite(std::move(patch));
}

RuleResult fuse_pointwise(const Graph& graph, NodeId id, Assumptions& /*assumptions*/) {
  const Node& producer = graph.node(id);
  const auto* first = operator_as<Pointwise>(producer);
  if (first == nullptr) return RuleResult::no_match();
  const ValueId value = producer.outputs[0];
  const NodeId consumer_id = only_consumer(graph, value);
  if (consumer_id == no_node) return RuleResult::no_match();
  const Node& consumer = graph.node(consumer_id);
  const auto* pointwise = operator_as<Pointwise>(consumer);
  if (pointwise == nullptr) return RuleResult::no_match();
  if (graph.fact(consumer.outputs[0]).shape != graph.fact(value).shape) {
    return RuleResult::declined("the result is broadcast, so that it would be computed again and again");
  }
  const ChainWithInputs second = without_duplicates(pointwise->chain(), consumer.inputs);
  const JoinedChain joined = join(first->chain(), second, value);
  std::vector<ValueId> inputs = producer.inputs;
  append_other_inputs(second, value, inputs);
  const ChainWithInputs whole = without_duplicates(joined.chain, inputs);
  if (!fits(whole.chain, pointwise_limits))
    return RuleResult::declined("the chain would be longer than kernels take");
  Patch patch(graph);
  patch.absorb(id);
  patch.absorb(consumer_id);
  patch.replace(consumer.outputs[0],
                patch.add_node(std::make_shared<Pointwise>(whole.chain, pointwise->output_dtype()), whole.inputs));
  return RuleResult::rewrite(std::move(patch));
}

constexpr std::array rules{
    Rule{"fuse-epilogue", "pointwise steps after a contraction, window or reduction run in its kernel",
         fuse_epilogue},
    Rule{"fuse-pointwise", "pointwise steps after pointwise steps run in one kernel", fuse_pointwise},
};

}  // namespace

NodeId only_consumer(const Graph& graph, ValueId value) {
  const auto& consumers = graph.value(value).consumers;
  if (consumers.empty() || graph.is_output(value)) return no_node;
  return std::ranges::all_of(consumers, [&](NodeId id) { return id == consumers.front(); }) ? consumers.front()
                                                                                            : no_node;
}

std::span<const Rule> fusion_rules() { return rules; }

}  // namespace lapilli
