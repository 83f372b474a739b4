#pragma once

#include <string>
#include <vector>

#include "ir/graph.h"

namespace lapilli::testing {

/// A graph with values for its inputs.
class SampleGraph {
 public:
  /// Random elements of -2 to 2, another draw for each input.
  ValueId input(DType dtype, std::vector<std::int64_t> shape);
  /// The same as a constant.
  ValueId constant(DType dtype, std::vector<std::int64_t> shape);
  ValueId constant(Tensor tensor) { return graph_.add_constant("", std::move(tensor)); }
  /// The first output of a new node.
  ValueId node(OperatorPointer op, std::vector<ValueId> inputs);
  void output(ValueId value) { graph_.add_output(value); }

  [[nodiscard]] Graph& graph() noexcept { return graph_; }
  [[nodiscard]] const Graph& graph() const noexcept { return graph_; }
  [[nodiscard]] Assumptions& assumptions() noexcept { return assumptions_; }
  [[nodiscard]] const std::vector<Tensor>& inputs() const noexcept { return inputs_; }

 private:
  Graph graph_;
  Assumptions assumptions_{SymbolValues{}};
  std::vector<Tensor> inputs_;
  std::uint32_t seed_ = 0;
};

/// A graph to which one rule applies, or where it must not.
struct RuleCase {
  std::string rule;
  std::string name;
  SampleGraph (*build)();
  bool applies = true;
  std::string reason = {};  ///< that the rule gives for a node at which it declines; empty where it gives none
  double tolerance = 0;     ///< relative, of the results with the rule from those without it
};

const std::vector<RuleCase>& rule_cases();

}  // namespace lapilli::testing
