#include "flow/tree_ensemble.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string>

#include "flow/host_elements.h"

namespace lapilli {
namespace {

using Integers = std::vector<std::int64_t>;

Integers integers_of(const HostCall& call, const std::string& name, std::size_t count) {
  auto values = call.attribute<Integers>(name, {});
  if (values.size() != count) {
    fail(ErrorCode::invalid_model, "{} has {} elements where there are {}", name, values.size(), count);
  }
  return values;
}

// Flags that may be left out.
Integers flags_of(const HostCall& call, const std::string& name, std::size_t count) {
  return call.attribute<Integers>(name, {}).empty() ? Integers(count, 0) : integers_of(call, name, count);
}

std::vector<double> doubles_of(const Tensor& tensor) {
  const Tensor wide = convert_elements(tensor, DType::float64);
  return {wide.elements<double>().begin(), wide.elements<double>().end()};
}

// A list of floats, or the tensor that stands for it.
std::vector<double> reals_of(const HostCall& call, const std::string& name, const std::string& tensor_name,
                             std::size_t count) {
  std::vector<double> values;
  if (const auto* tensor = call.node().find<Tensor>(tensor_name)) {
    values = doubles_of(*tensor);
  } else {
    const auto floats = call.attribute<std::vector<float>>(name, {});
    values.assign(floats.begin(), floats.end());
  }
  if (values.size() != count) {
    fail(ErrorCode::invalid_model, "{} has {} elements where there are {}", name, values.size(), count);
  }
  return values;
}

std::size_t index_within(std::int64_t index, std::size_t count, std::string_view what) {
  if (index < 0 || std::cmp_greater_equal(index, count)) {
    fail(ErrorCode::invalid_model, "{} {} where there are {}", what, index, count);
  }
  return static_cast<std::size_t>(index);
}

std::size_t feature_of(std::int64_t feature) {
  if (feature < 0) fail(ErrorCode::invalid_model, "nodes_featureids has {}", feature);
  return static_cast<std::size_t>(feature);
}

}  // namespace

bool TreeEnsemble::holds(const Decision& decision, double value) {
  if (std::isnan(value)) return decision.missing_is_true;
  switch (decision.mode) {
    case Mode::less_or_equal: return value <= decision.value;
    case Mode::less: return value < decision.value;
    case Mode::greater_or_equal: return value >= decision.value;
    case Mode::greater: return value > decision.value;
    case Mode::equal: return value == decision.value;
    case Mode::unequal: return value != decision.value;
    case Mode::member: return std::ranges::contains(decision.members, value);
  }
  return false;
}

std::size_t TreeEnsemble::leaf_for(Next next, std::span<const double> row) const {
  for (std::size_t steps = 0; !next.leaf; ++steps) {
    if (steps > decisions_.size()) fail(ErrorCode::invalid_model, "a tree goes in circles at node {}", next.index);
    const Decision& decision = decisions_[next.index];
    if (decision.feature >= row.size()) {
      fail(ErrorCode::invalid_model, "node {} of the trees asks for feature {} of {}", next.index, decision.feature,
           row.size());
    }
    next = holds(decision, row[decision.feature]) ? decision.when_true : decision.when_false;
  }
  return next.index;
}

// Sets in the order of their nodes, each closed by a value that is not a number.
void TreeEnsemble::read_members(const HostCall& call) {
  const auto* tensor = call.node().find<Tensor>("membership_values");
  const std::vector<double> values = tensor == nullptr ? std::vector<double>() : doubles_of(*tensor);
  auto next = values.begin();
  for (Decision& decision : decisions_) {
    if (decision.mode != Mode::member) continue;
    const auto end = std::find_if(next, values.end(), [](double value) { return std::isnan(value); });
    if (end == values.end()) fail(ErrorCode::invalid_model, "membership_values has too few sets");
    decision.members.assign(next, end);
    next = end + 1;
  }
  if (next != values.end()) fail(ErrorCode::invalid_model, "membership_values has more sets than there are nodes");
}

TreeEnsemble TreeEnsemble::read(const HostCall& call) {
  TreeEnsemble trees;
  const auto features = call.attribute<Integers>("nodes_featureids", {});
  const std::size_t count = features.size();
  const auto* modes = call.node().find<Tensor>("nodes_modes");
  const Integers mode_numbers = [&] {
    if (modes == nullptr) fail(ErrorCode::invalid_model, "nodes_modes is missing");
    const Tensor wide = convert_elements(*modes, DType::int64);
    return Integers(wide.elements<std::int64_t>().begin(), wide.elements<std::int64_t>().end());
  }();
  if (mode_numbers.size() != count)
    fail(ErrorCode::invalid_model, "{} modes for {} nodes", mode_numbers.size(), count);
  const std::vector<double> splits = reals_of(call, "nodes_splits", "nodes_splits", count);
  const Integers true_ids = integers_of(call, "nodes_truenodeids", count);
  const Integers false_ids = integers_of(call, "nodes_falsenodeids", count);
  const Integers true_leaves = integers_of(call, "nodes_trueleafs", count);
  const Integers false_leaves = integers_of(call, "nodes_falseleafs", count);
  const Integers missing = flags_of(call, "nodes_missing_value_tracks_true", count);
  const auto targets = call.attribute<Integers>("leaf_targetids", {});
  const std::vector<double> weights = reals_of(call, "leaf_weights", "leaf_weights", targets.size());
  const auto target_count =
      static_cast<std::size_t>(std::max<std::int64_t>(call.attribute<std::int64_t>("n_targets", 0), 0));
  for (std::size_t i = 0; i < targets.size(); ++i) {
    trees.leaves_.push_back({{index_within(targets[i], target_count, "target"), weights[i]}});
  }
  const auto next = [&](std::int64_t id, bool leaf) {
    return Next{leaf, index_within(id, leaf ? targets.size() : count, leaf ? "leaf" : "node")};
  };
  for (std::size_t i = 0; i < count; ++i) {
    const auto mode = static_cast<Mode>(index_within(mode_numbers[i], 7, "mode"));
    trees.decisions_.push_back({mode,
                                feature_of(features[i]),
                                splits[i],
                                {},
                                missing[i] != 0,
                                next(true_ids[i], true_leaves[i] != 0),
                                next(false_ids[i], false_leaves[i] != 0)});
  }
  for (const std::int64_t root : call.attribute<Integers>("tree_roots", {}))
    trees.roots_.push_back(next(root, false));
  trees.read_members(call);
  return trees;
}

TreeEnsemble TreeEnsemble::read_by_node(const HostCall& call, const std::string& prefix) {
  constexpr std::array<std::string_view, 6> mode_names{"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                                       "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ"};
  TreeEnsemble trees;
  const auto tree_ids = call.attribute<Integers>("nodes_treeids", {});
  const std::size_t count = tree_ids.size();
  const Integers ids = integers_of(call, "nodes_nodeids", count);
  const Integers features = integers_of(call, "nodes_featureids", count);
  const auto modes = call.attribute<std::vector<std::string>>("nodes_modes", {});
  if (modes.size() != count) fail(ErrorCode::invalid_model, "{} modes for {} nodes", modes.size(), count);
  const std::vector<double> values = reals_of(call, "nodes_values", "nodes_values_as_tensor", count);
  const Integers true_ids = integers_of(call, "nodes_truenodeids", count);
  const Integers false_ids = integers_of(call, "nodes_falsenodeids", count);
  const Integers missing = flags_of(call, "nodes_missing_value_tracks_true", count);
  // Leaves are nodes of their own here, so leaf i is node i.
  std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> places;
  for (std::size_t i = 0; i < count; ++i) {
    if (!places.try_emplace({tree_ids[i], ids[i]}, i).second) {
      fail(ErrorCode::invalid_model, "tree {} has two nodes {}", tree_ids[i], ids[i]);
    }
  }
  const auto next = [&](std::int64_t tree, std::int64_t id) {
    const auto found = places.find({tree, id});
    if (found == places.end()) fail(ErrorCode::invalid_model, "tree {} has no node {}", tree, id);
    return Next{modes[found->second] == "LEAF", found->second};
  };
  std::set<std::int64_t> seen;
  for (std::size_t i = 0; i < count; ++i) {
    if (seen.insert(tree_ids[i]).second) trees.roots_.push_back(next(tree_ids[i], ids[i]));
    Decision& decision = trees.decisions_.emplace_back();
    if (modes[i] == "LEAF") continue;
    const auto* mode = std::ranges::find(mode_names, modes[i]);
    if (mode == mode_names.end()) fail(ErrorCode::invalid_model, "mode '{}'", onnx::printable(modes[i]));
    decision = {static_cast<Mode>(mode - mode_names.begin()),
                feature_of(features[i]),
                values[i],
                {},
                missing[i] != 0,
                next(tree_ids[i], true_ids[i]),
                next(tree_ids[i], false_ids[i])};
  }
  trees.read_shares(call, prefix, places);
  return trees;
}

void TreeEnsemble::read_shares(const HostCall& call, const std::string& prefix,
                               const std::map<std::pair<std::int64_t, std::int64_t>, std::size_t>& places) {
  leaves_.resize(decisions_.size());
  const auto trees = call.attribute<Integers>(prefix + "_treeids", {});
  const Integers nodes = integers_of(call, prefix + "_nodeids", trees.size());
  const Integers targets = integers_of(call, prefix + "_ids", trees.size());
  const std::vector<double> weights =
      reals_of(call, prefix + "_weights", prefix + "_weights_as_tensor", trees.size());
  for (std::size_t i = 0; i < trees.size(); ++i) {
    const auto found = places.find({trees[i], nodes[i]});
    if (found == places.end()) fail(ErrorCode::invalid_model, "tree {} has no node {}", trees[i], nodes[i]);
    if (targets[i] < 0) fail(ErrorCode::invalid_model, "{}_ids has {}", prefix, targets[i]);
    leaves_[found->second].push_back({static_cast<std::size_t>(targets[i]), weights[i]});
  }
}

}  // namespace lapilli
