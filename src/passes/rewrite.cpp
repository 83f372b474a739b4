#include "passes/rewrite.h"

#include <algorithm>
#include <array>
#include <format>

#include "base/failure.h"
#include "passes/rules.h"

namespace lapilli {

ValueId Patch::add_constant(Tensor tensor) {
  additions_.push_back({nullptr, {}, std::move(tensor)});
  return ValueId{next_++};
}

ValueId Patch::add_node(OperatorPointer op, std::vector<ValueId> inputs) {
  additions_.push_back({std::move(op), std::move(inputs), {}});
  return ValueId{next_++};
}

class Rewriter {
 public:
  Rewriter(Graph& graph, Assumptions& assumptions) : graph_(graph), assumptions_(assumptions) {}

  // One pass over all nodes; whether anything changed.
  bool run(const Rule& rule) {
    bool changed = false;
    for (const NodeId id : graph_.topological_order()) {
      if (graph_.node(id).erased) continue;
      const std::string name =
          graph_.node(id).origins.empty() ? std::string(graph_.node(id).op->name()) : graph_.node(id).origins.front();
      with_context(std::format("rule {}", rule.name), [&] {
        const RuleResult result = rule.apply(graph_, id, assumptions_);
        if (const Patch* patch = result.patch()) {
          apply(*patch);
          report_.applied.push_back({rule.name, name, {}});
          changed = true;
        } else if (!result.reason().empty()) {
          decline(rule, name, result.reason());
        }
      });
    }
    return changed;
  }

  RewriteReport take_report() { return std::move(report_); }

 private:
  void decline(const Rule& rule, const std::string& node, const std::string& reason) {
    const bool known = std::ranges::any_of(report_.declined, [&](const auto& entry) {
      return entry.rule == rule.name && entry.node == node && entry.reason == reason;
    });
    if (!known) report_.declined.push_back({rule.name, node, reason});
  }

  void apply(const Patch& patch) {
    std::vector<std::string> origins;
    for (const NodeId id : patch.absorbed_) {
      for (const std::string& origin : graph_.node(id).origins) {
        if (!std::ranges::contains(origins, origin)) origins.push_back(origin);
      }
    }
    for (const Patch::Addition& addition : patch.additions_) {
      if (addition.op == nullptr) {
        graph_.add_constant("", addition.tensor);
      } else {
        graph_.add_node(addition.op, addition.inputs, origins, {}, assumptions_);
      }
    }
    for (const auto& [from, to] : patch.replacements_) replace(from, to);
  }

  void replace(ValueId from, ValueId to) {
    const Fact &before = graph_.fact(from), &after = graph_.fact(to);
    bool same = before.dtype == after.dtype && before.shape.size() == after.shape.size();
    for (std::size_t i = 0; same && i < before.shape.size(); ++i)
      same = assumptions_.equal(before.shape[i], after.shape[i]);
    if (!same) fail(ErrorCode::internal, "{} would become {}", before.to_string(), after.to_string());
    if (graph_.value(to).name.empty()) graph_.set_name(to, graph_.value(from).name);
    graph_.replace(from, to);
    erase_unused(graph_.value(from).producer);
  }

  // The node and, when it goes, those that only it needed.
  void erase_unused(NodeId id) {
    if (id == no_node || graph_.node(id).erased) return;
    const auto& outputs = graph_.node(id).outputs;
    const bool used = std::ranges::any_of(
        outputs, [&](ValueId output) { return !graph_.value(output).consumers.empty() || graph_.is_output(output); });
    if (used) return;
    const std::vector<ValueId> inputs = graph_.node(id).inputs;
    graph_.erase(id);
    for (const ValueId input : inputs) {
      if (input != no_value) erase_unused(graph_.value(input).producer);
    }
  }

  Graph& graph_;
  Assumptions& assumptions_;
  RewriteReport report_;
};

RewriteReport rewrite(Graph& graph, Assumptions& assumptions, const std::set<std::string, std::less<>>& disabled) {
  for (const std::string& name : disabled) {
    if (!std::ranges::contains(rewrite_rules(), name, &Rule::name)) {
      fail(ErrorCode::invalid_argument, "there is no rewrite rule '{}'", name);
    }
  }
  Rewriter rewriter(graph, assumptions);
  // In this order: fusion would hide the constants that the others look for.
  for (const auto& phase : {simplification_rules(), contraction_rules(), fusion_rules()}) {
    bool changed = true;
    while (changed) {
      changed = false;
      for (const Rule& rule : phase) {
        if (!disabled.contains(rule.name)) changed = rewriter.run(rule) || changed;
      }
    }
  }
  graph.erase_dead_nodes();
  return rewriter.take_report();
}

std::span<const Rule> rewrite_rules() {
  static const std::vector<Rule> all = [] {
    std::vector<Rule> rules;
    for (const auto& phase : {simplification_rules(), contraction_rules(), fusion_rules()})
      rules.insert(rules.end(), phase.begin(), phase.end());
    return rules;
  }();
  return all;
}

}  // namespace lapilli
