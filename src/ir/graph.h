#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "ir/operator.h"

namespace lapilli {

enum class ValueId : std::uint32_t {};
enum class NodeId : std::uint32_t {};

/// Stands for an input or output that is left out, and for the producer of a value that no node produces.
constexpr ValueId no_value{0xFFFFFFFFU};
constexpr NodeId no_node{0xFFFFFFFFU};

constexpr std::size_t index_of(ValueId id) { return static_cast<std::size_t>(id); }
constexpr std::size_t index_of(NodeId id) { return static_cast<std::size_t>(id); }

/// An edge of the graph: one producer or none, any number of consumers.
struct GraphValue {
  std::string name;  ///< the model's own, where it has one
  Fact fact;
  NodeId producer = no_node;
  std::vector<NodeId> consumers;  ///< a node that uses it twice stands twice
};

struct Node {
  OperatorPointer op;
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  std::vector<std::string> origins;  ///< the model's nodes that it came from, first the earliest
  bool erased = false;
};

/// A network as values and the nodes between them. Ids are stable: what is erased is never reused.
class Graph {
 public:
  ValueId add_input(std::string name, Fact fact);
  /// A value with known elements and no producer.
  ValueId add_constant(std::string name, Tensor tensor);
  /// A value without a producer whose elements are known, as numbers or as expressions of sizes.
  ValueId add_known(std::string name, Fact fact) { return add_value(std::move(name), std::move(fact), no_node); }
  /// Appends a node; the facts of its outputs are inferred, and folded to constants where all inputs are known and
  /// the result is small. `output_names` may be shorter than the outputs. Errors name the first origin.
  std::vector<ValueId> add_node(OperatorPointer op, std::vector<ValueId> inputs, std::vector<std::string> origins,
                                std::vector<std::string> output_names, Assumptions& assumptions);
  void add_output(ValueId value) { outputs_.push_back(value); }

  /// Lets all consumers of `from`, and the graph's outputs, use `to` instead.
  void replace(ValueId from, ValueId to);
  /// Removes a node. Its outputs must be unused, or constants, which then stand without a producer.
  void erase(NodeId node);
  /// Removes every node that no output needs, those included whose results are all constants.
  void erase_dead_nodes();
  void set_name(ValueId value, std::string name) { values_[index_of(value)].name = std::move(name); }

  [[nodiscard]] const GraphValue& value(ValueId id) const { return values_[index_of(id)]; }
  [[nodiscard]] const Node& node(NodeId id) const { return nodes_[index_of(id)]; }
  [[nodiscard]] const Fact& fact(ValueId id) const { return values_[index_of(id)].fact; }
  [[nodiscard]] std::size_t value_count() const noexcept { return values_.size(); }
  [[nodiscard]] std::span<const ValueId> inputs() const noexcept { return inputs_; }
  [[nodiscard]] std::span<const ValueId> outputs() const noexcept { return outputs_; }
  [[nodiscard]] bool is_output(ValueId id) const;
  /// Whether the value's elements are known.
  [[nodiscard]] bool is_constant(ValueId id) const { return id != no_value && fact(id).constant.defined(); }
  /// Facts of a node's inputs; a default Fact for one that is left out.
  [[nodiscard]] std::vector<Fact> input_facts(const Node& node) const;
  [[nodiscard]] std::vector<Fact> output_facts(const Node& node) const;

  /// The nodes that are there, each after the producers of its inputs; ties in the order of their making.
  [[nodiscard]] std::vector<NodeId> topological_order() const;

  /// Throws Error (internal) when producers, consumers and facts do not fit together.
  void verify() const;
  [[nodiscard]] std::string to_string() const;

 private:
  ValueId add_value(std::string name, Fact fact, NodeId producer);

  // Deques: references to values and nodes stay good while others are added.
  std::deque<GraphValue> values_;
  std::deque<Node> nodes_;
  std::vector<ValueId> inputs_;
  std::vector<ValueId> outputs_;
};

/// The operator of a node as T, or nullptr when it is another.
template <class T>
const T* operator_as(const Node& node) {
  return dynamic_cast<const T*>(node.op.get());
}

}  // namespace lapilli
