#include "plan/homes.h"

#include <algorithm>
#include <ranges>

#include "ops/movement.h"

namespace lapilli {
namespace {

class HomeFinder {
 public:
  explicit HomeFinder(const Graph& graph) : graph_(graph) {}

  std::map<ValueId, Home> find() {
    // The last Concat first: of lists that grow, it is the one that holds all others.
    for (const NodeId id : std::views::reverse(graph_.topological_order())) {
      const Node& node = graph_.node(id);
      if (const auto* concat = operator_as<Concat>(node))
        place_inputs(node, static_cast<std::size_t>(concat->axis()));
    }
    return std::move(homes_);
  }

 private:
  void place_inputs(const Node& node, std::size_t axis) {
    const ValueId output = node.outputs[0];
    if (!homes_.contains(output)) place_inside_other(node, axis);
    Home home{output, axis, 0};
    if (const auto found = homes_.find(output); found != homes_.end()) {
      // Stripes of stripes along another axis are more than an access can say.
      if (found->second.axis != axis) return;
      home = found->second;
    }
    for (const ValueId input : node.inputs) {
      if (may_have_home(node, input)) homes_.emplace(input, home);
      home.start = home.start + graph_.fact(input).shape[axis];
    }
  }

  // Where all inputs lie side by side already.
  void place_inside_other(const Node& node, std::size_t axis) {
    const auto first = homes_.find(node.inputs[0]);
    if (first == homes_.end()) return;
    Home expected = first->second;
    for (const ValueId input : node.inputs) {
      const auto found = homes_.find(input);
      const bool next = found != homes_.end() && found->second.whole == expected.whole &&
                        found->second.axis == axis && found->second.start == expected.start;
      if (!next) return;
      expected.start = expected.start + graph_.fact(input).shape[axis];
    }
    homes_.emplace(node.outputs[0], first->second);
  }

  [[nodiscard]] bool may_have_home(const Node& node, ValueId input) const {
    const GraphValue& value = graph_.value(input);
    if (value.producer == no_node || graph_.is_constant(input) || homes_.contains(input)) return false;
    const Node& producer = graph_.node(value.producer);
    const bool view = operator_as<Reshape>(producer) != nullptr || operator_as<BitCast>(producer) != nullptr;
    return !view && std::ranges::count(node.inputs, input) == 1;
  }

  const Graph& graph_;
  std::map<ValueId, Home> homes_;
};

}  // namespace

std::map<ValueId, Home> find_homes(const Graph& graph) { return HomeFinder(graph).find(); }

std::optional<std::vector<Dim>> viewed_start(const Graph& graph, const Node& node, Assumptions& assumptions) {
  const auto* slice = operator_as<Slice>(node);
  if (slice == nullptr || graph.is_constant(node.inputs[0])) return std::nullopt;
  const std::vector<Region> regions = slice->regions(graph.input_facts(node), assumptions);
  const bool contiguous =
      std::ranges::all_of(regions[0].loops, [](const RegionLoop& loop) { return loop.source_step == Dim(1); });
  if (!contiguous) return std::nullopt;
  // Either way is right, so the sizes at hand decide without becoming an assumption.
  const GraphValue& source = graph.value(node.inputs[0]);
  const auto elements = [&](ValueId id) { return element_count(graph.fact(id).shape).evaluate(assumptions.sizes()); };
  std::int64_t shown = 0;
  for (const NodeId consumer : source.consumers) {
    if (operator_as<Slice>(graph.node(consumer)) != nullptr) shown += elements(graph.node(consumer).outputs[0]);
  }
  if (source.producer != no_node && shown < elements(node.inputs[0]) / 2) return std::nullopt;
  return regions[0].source_start;
}

}  // namespace lapilli
