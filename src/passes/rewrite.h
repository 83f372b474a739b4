#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/graph.h"

namespace lapilli {

/// A change of a graph as a value: new nodes, and which values they stand in for.
class Patch {
 public:
  explicit Patch(const Graph& graph) : next_(static_cast<std::uint32_t>(graph.value_count())) {}

  /// A new constant or the only output of a new node, under the id that it gets when the patch is applied.
  ValueId add_constant(Tensor tensor);
  ValueId add_node(OperatorPointer op, std::vector<ValueId> inputs);
  /// Everything that used `from` uses `to` instead.
  void replace(ValueId from, ValueId to) { replacements_.emplace_back(from, to); }
  /// The new nodes do what these did; their origins are joined in this order.
  void absorb(NodeId node) { absorbed_.push_back(node); }

 private:
  friend class Rewriter;
  struct Addition {
    OperatorPointer op;  // null for a constant
    std::vector<ValueId> inputs;
    Tensor tensor;
  };
  std::uint32_t next_;
  std::vector<Addition> additions_;
  std::vector<std::pair<ValueId, ValueId>> replacements_;
  std::vector<NodeId> absorbed_;
};

/// What a rule says of a node: nothing, why it declines although the pattern is there, or a patch.
class RuleResult {
 public:
  static RuleResult no_match() { return {}; }
  static RuleResult declined(std::string reason) {
    RuleResult result;
    result.reason_ = std::move(reason);
    return result;
  }
  static RuleResult rewrite(Patch patch) {
    RuleResult result;
    result.patch_.push_back(std::move(patch));
    return result;
  }

  [[nodiscard]] const std::string& reason() const noexcept { return reason_; }
  [[nodiscard]] const Patch* patch() const noexcept { return patch_.empty() ? nullptr : &patch_.front(); }

 private:
  std::string reason_;
  std::vector<Patch> patch_;  // at most one
};

/// A named rewrite that can be switched off. `apply` looks at one node and changes nothing itself.
struct Rule {
  std::string_view name;
  std::string_view description;
  RuleResult (*apply)(const Graph& graph, NodeId node, Assumptions& assumptions);
};

/// What happened, for reports and for finding the rule that is to blame.
struct RewriteReport {
  struct Entry {
    std::string_view rule;
    std::string node;
    std::string reason;  ///< empty for an applied rule
  };
  std::vector<Entry> applied;
  std::vector<Entry> declined;
};

/// All rules, in the order in which they are tried.
std::span<const Rule> rewrite_rules();

/// Applies all rules but the disabled ones until none applies. Each patch keeps the facts of what it replaces, which
/// is checked. Throws Error (invalid_argument) for a name that no rule has.
RewriteReport rewrite(Graph& graph, Assumptions& assumptions,
                      const std::set<std::string, std::less<>>& disabled = {});

}  // namespace lapilli
