#include "import/onnx/operators/trees.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "base/checked.h"
#include "ops/pointwise.h"

namespace lapilli::onnx {
namespace {

using Integers = std::vector<std::int64_t>;
using Places = std::map<std::pair<std::int64_t, std::int64_t>, std::size_t>;  // of the nodes of each tree

template <class T>
T list_of(const Node& node, std::string_view name) {
  const T* values = node.find<T>(name);
  return values != nullptr ? *values : T();
}

void check_count(std::string_view name, std::size_t given, std::size_t count) {
  if (given != count) fail(ErrorCode::invalid_model, "{} has {} elements where there are {}", name, given, count);
}

Integers integers_of(const Node& node, const std::string& name, std::size_t count) {
  auto values = list_of<Integers>(node, name);
  check_count(name, values.size(), count);
  return values;
}

// Flags that may be left out.
Integers flags_of(const Node& node, const std::string& name, std::size_t count) {
  return list_of<Integers>(node, name).empty() ? Integers(count, 0) : integers_of(node, name, count);
}

std::size_t index_within(std::int64_t index, std::size_t count, std::string_view what) {
  if (index < 0 || std::cmp_greater_equal(index, count)) {
    fail(ErrorCode::invalid_model, "{} {} where there are {}", what, index, count);
  }
  return static_cast<std::size_t>(index);
}

std::int32_t feature_of(std::int64_t feature) {
  if (feature < 0 || feature >= std::numeric_limits<std::int32_t>::max()) {
    fail(ErrorCode::invalid_model, "nodes_featureids has {}", feature);
  }
  return static_cast<std::int32_t>(feature);
}

std::int32_t leaf_way(std::size_t leaf) { return -1 - checked_cast<std::int32_t>(leaf); }

class TreeReader {
 public:
  explicit TreeReader(const Node& node) : node_(node) {}

  Trees read() {
    const auto features = list_of<Integers>(node_, "nodes_featureids");
    const std::size_t count = features.size();
    const Integers modes = mode_numbers(count);
    const std::vector<double> splits = reals("nodes_splits", "nodes_splits", count);
    const Integers true_ids = integers_of(node_, "nodes_truenodeids", count);
    const Integers false_ids = integers_of(node_, "nodes_falsenodeids", count);
    const Integers true_leaves = integers_of(node_, "nodes_trueleafs", count);
    const Integers false_leaves = integers_of(node_, "nodes_falseleafs", count);
    const Integers missing = flags_of(node_, "nodes_missing_value_tracks_true", count);
    const auto targets = list_of<Integers>(node_, "leaf_targetids");
    const std::vector<double> weights = reals("leaf_weights", "leaf_weights", targets.size());
    for (std::size_t i = 0; i < targets.size(); ++i) add_share(trees_.leaves.emplace_back(), targets[i], weights[i]);
    const auto way = [&](std::int64_t id, bool leaf) {
      return leaf ? leaf_way(index_within(id, targets.size(), "leaf"))
                  : checked_cast<std::int32_t>(index_within(id, count, "node"));
    };
    for (std::size_t i = 0; i < count; ++i) {
      trees_.decisions.push_back({static_cast<TreeMode>(modes[i]), missing[i] != 0, feature_of(features[i]),
                                  splits[i], way(true_ids[i], true_leaves[i] != 0),
                                  way(false_ids[i], false_leaves[i] != 0)});
    }
    for (const std::int64_t root : list_of<Integers>(node_, "tree_roots")) trees_.roots.push_back(way(root, false));
    replace_members(modes);
    return finish();
  }

  Trees read_by_node(const std::string& prefix) {
    constexpr std::array<std::string_view, 6> mode_names{"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                                         "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ"};
    const auto tree_ids = list_of<Integers>(node_, "nodes_treeids");
    const std::size_t count = tree_ids.size();
    const Integers ids = integers_of(node_, "nodes_nodeids", count);
    const Integers features = integers_of(node_, "nodes_featureids", count);
    const auto modes = list_of<std::vector<std::string>>(node_, "nodes_modes");
    check_count("nodes_modes", modes.size(), count);
    const std::vector<double> values = reals("nodes_values", "nodes_values_as_tensor", count);
    const Integers true_ids = integers_of(node_, "nodes_truenodeids", count);
    const Integers false_ids = integers_of(node_, "nodes_falsenodeids", count);
    const Integers missing = flags_of(node_, "nodes_missing_value_tracks_true", count);
    const Places places = places_of(tree_ids, ids);
    std::vector<std::int32_t> ways;
    for (const std::string& mode : modes) {
      if (mode == "LEAF") trees_.leaves.emplace_back();
      ways.push_back(mode == "LEAF" ? leaf_way(trees_.leaves.size() - 1)
                                    : checked_cast<std::int32_t>(ways.size() - trees_.leaves.size()));
    }
    const auto way = [&](std::int64_t tree, std::int64_t id) { return ways[place_of(places, tree, id)]; };
    std::set<std::int64_t> seen;
    for (std::size_t i = 0; i < count; ++i) {
      if (seen.insert(tree_ids[i]).second) trees_.roots.push_back(ways[i]);
      if (ways[i] < 0) continue;
      const auto* mode = std::ranges::find(mode_names, modes[i]);
      if (mode == mode_names.end()) fail(ErrorCode::invalid_model, "mode '{}'", printable(modes[i]));
      trees_.decisions.push_back({static_cast<TreeMode>(mode - mode_names.begin()), missing[i] != 0,
                                  feature_of(features[i]), values[i], way(tree_ids[i], true_ids[i]),
                                  way(tree_ids[i], false_ids[i])});
    }
    read_shares(prefix, places, ways);
    return finish();
  }

 private:
  static Places places_of(const Integers& tree_ids, const Integers& ids) {
    Places places;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (!places.try_emplace({tree_ids[i], ids[i]}, i).second) {
        fail(ErrorCode::invalid_model, "tree {} has two nodes {}", tree_ids[i], ids[i]);
      }
    }
    return places;
  }

  static std::size_t place_of(const Places& places, std::int64_t tree, std::int64_t id) {
    const auto found = places.find({tree, id});
    if (found == places.end()) fail(ErrorCode::invalid_model, "tree {} has no node {}", tree, id);
    return found->second;
  }

  static void add_share(std::vector<LeafShare>& leaf, std::int64_t target, double weight) {
    if (target < 0 || target >= std::numeric_limits<std::int32_t>::max()) {
      fail(ErrorCode::invalid_model, "a leaf is for target {}", target);
    }
    leaf.push_back({target, weight});
  }

  // A list of floats, or the tensor that stands for it.
  std::vector<double> reals(const std::string& name, const std::string& tensor_name, std::size_t count) {
    std::vector<double> values;
    if (const Attribute* attribute = node_.find_attribute(tensor_name);
        attribute != nullptr && std::holds_alternative<Tensor>(attribute->value)) {
      values = doubles_of(std::get<Tensor>(attribute->value));
    } else {
      const auto floats = list_of<std::vector<float>>(node_, name);
      values.assign(floats.begin(), floats.end());
    }
    check_count(name, values.size(), count);
    return values;
  }

  std::vector<double> doubles_of(const Tensor& tensor) {
    trees_.wide = trees_.wide || tensor.dtype() == DType::float64;
    const Tensor wide = evaluate_chain({}, {&tensor, 1}, DType::float64);
    return {wide.elements<double>().begin(), wide.elements<double>().end()};
  }

  Integers mode_numbers(std::size_t count) {
    const auto* modes = node_.find<Tensor>("nodes_modes");
    if (modes == nullptr) fail(ErrorCode::invalid_model, "nodes_modes is missing");
    const Tensor wide = evaluate_chain({}, {modes, 1}, DType::int64);
    Integers numbers(wide.elements<std::int64_t>().begin(), wide.elements<std::int64_t>().end());
    check_count("nodes_modes", numbers.size(), count);
    for (const std::int64_t mode : numbers) index_within(mode, 1 + member_mode, "mode");
    return numbers;
  }

  void read_shares(const std::string& prefix, const Places& places, std::span<const std::int32_t> ways) {
    const auto trees = list_of<Integers>(node_, prefix + "_treeids");
    const Integers nodes = integers_of(node_, prefix + "_nodeids", trees.size());
    const Integers targets = integers_of(node_, prefix + "_ids", trees.size());
    const std::vector<double> weights = reals(prefix + "_weights", prefix + "_weights_as_tensor", trees.size());
    for (std::size_t i = 0; i < trees.size(); ++i) {
      const std::int32_t way = ways[place_of(places, trees[i], nodes[i])];
      if (way < 0) add_share(trees_.leaves[static_cast<std::size_t>(-1 - way)], targets[i], weights[i]);
    }
  }

  // A decision by a set becomes a search for the value among its members: sets are in the order of their nodes, each
  // closed by what is not a number.
  void replace_members(const Integers& modes) {
    const auto* tensor = node_.find<Tensor>("membership_values");
    const std::vector<double> values = tensor == nullptr ? std::vector<double>() : doubles_of(*tensor);
    auto next = values.begin();
    for (std::size_t i = 0; i < modes.size(); ++i) {
      if (modes[i] != member_mode) continue;
      const auto end = std::find_if(next, values.end(), [](double value) { return std::isnan(value); });
      if (end == values.end()) fail(ErrorCode::invalid_model, "membership_values has too few sets");
      std::vector<double> members(next, end);
      std::ranges::sort(members);
      search_members(i, members);
      next = end + 1;
    }
    if (next != values.end()) fail(ErrorCode::invalid_model, "membership_values has more sets than there are nodes");
  }

  void search_members(std::size_t place, std::span<const double> members) {
    Trees::Decision& decision = trees_.decisions[place];
    decision.mode = TreeMode::equal;
    decision.split = members.empty() ? std::numeric_limits<double>::quiet_NaN() : members.front();
    if (members.size() < 2) return;
    const std::size_t half = members.size() / 2;
    const Trees::Decision copy = decision;
    decision.mode = TreeMode::less;
    decision.split = members[half];
    const std::size_t below = trees_.decisions.size();
    decision.when_true = checked_cast<std::int32_t>(below);
    decision.when_false = checked_cast<std::int32_t>(below + 1);
    trees_.decisions.insert(trees_.decisions.end(), 2, copy);
    search_members(below, members.first(half));
    search_members(below + 1, members.subspan(half));
  }

  Trees finish() {
    enum class State : std::uint8_t { unseen, open, done };
    std::vector<State> states(trees_.decisions.size(), State::unseen);
    std::vector<std::int32_t> open(trees_.roots.rbegin(), trees_.roots.rend());
    while (!open.empty()) {
      const std::int32_t next = open.back();
      if (next < 0) {
        open.pop_back();
        continue;
      }
      State& state = states[static_cast<std::size_t>(next)];
      if (state != State::unseen) {
        state = State::done;
        open.pop_back();
        continue;
      }
      state = State::open;
      const Trees::Decision& decision = trees_.decisions[static_cast<std::size_t>(next)];
      for (const std::int32_t way : {decision.when_false, decision.when_true}) {
        if (way < 0) continue;
        if (states[static_cast<std::size_t>(way)] == State::open) {
          fail(ErrorCode::invalid_model, "a tree goes in circles at node {}", way);
        }
        if (states[static_cast<std::size_t>(way)] == State::unseen) open.push_back(way);
      }
    }
    return std::move(trees_);
  }

  static constexpr std::int64_t member_mode = 6;

  const Node& node_;
  Trees trees_;
};

ValueId integer_table(NodeBuilder& node, std::vector<std::int64_t> shape, std::span<const std::int32_t> values) {
  return node.constant(Tensor::of<std::int32_t>(DType::int32, std::move(shape), values));
}

ValueId real_table(NodeBuilder& node, DType dtype, std::span<const double> values) {
  const Tensor wide = Tensor::of<double>(DType::float64, {static_cast<std::int64_t>(values.size())}, values);
  return node.constant(evaluate_chain({}, {&wide, 1}, dtype));
}

// One share a target, in the order of the targets.
std::vector<LeafShare> joined(std::vector<LeafShare> shares, ReductionFunction function) {
  std::ranges::stable_sort(shares, {}, &LeafShare::target);
  std::vector<LeafShare> result;
  for (const LeafShare& share : shares) {
    if (result.empty() || result.back().target != share.target) {
      result.push_back(share);
      continue;
    }
    double& weight = result.back().weight;
    weight = function == ReductionFunction::sum       ? weight + share.weight
             : function == ReductionFunction::minimum ? std::min(weight, share.weight)
                                                      : std::max(weight, share.weight);
  }
  return result;
}

}  // namespace

std::int64_t Trees::feature_count() const {
  std::int64_t count = 0;
  for (const Decision& decision : decisions) count = std::max(count, std::int64_t{decision.feature} + 1);
  return count;
}

std::int64_t Trees::target_count() const {
  std::int64_t count = 0;
  for (const auto& leaf : leaves) {
    for (const LeafShare& share : leaf) count = std::max(count, share.target + 1);
  }
  return count;
}

Trees read_trees(const Node& node) { return TreeReader(node).read(); }

Trees read_trees_by_node(const Node& node, const std::string& prefix) {
  return TreeReader(node).read_by_node(prefix);
}

ValueId add_trees(NodeBuilder& node, const Trees& trees, ReductionFunction function, std::int64_t targets,
                  ValueId rows) {
  std::vector<std::int32_t> nodes, starts{0}, share_targets, roots = trees.roots;
  std::vector<double> splits, weights;
  for (const Trees::Decision& decision : trees.decisions) {
    const std::int32_t mode =
        static_cast<std::int32_t>(decision.mode) + (decision.missing_is_true ? missing_is_true : 0);
    nodes.insert(nodes.end(), {decision.feature, mode, decision.when_true, decision.when_false});
    splits.push_back(decision.split);
  }
  for (const auto& leaf : trees.leaves) {
    for (const LeafShare& share : joined(leaf, function)) {
      share_targets.push_back(static_cast<std::int32_t>(share.target));
      weights.push_back(share.weight);
    }
    starts.push_back(checked_cast<std::int32_t>(weights.size()));
  }
  // Tables have one entry at least, and there is one tree at least: a leaf that has nothing for any target.
  if (roots.empty()) {
    roots.push_back(leaf_way(trees.leaves.size()));
    starts.push_back(starts.back());
  }
  if (nodes.empty()) {
    nodes = {0, 0, -1, -1};
    splits.push_back(0);
  }
  if (weights.empty()) {
    share_targets.push_back(0);
    weights.push_back(0);
  }
  const auto size = [](const auto& table) { return static_cast<std::int64_t>(table.size()); };
  const DType dtype = node.dtype(rows);
  const ValueId split_table = real_table(node, dtype, splits), weight_table = real_table(node, dtype, weights);
  return node.add(std::make_shared<TreeEnsemble>(function, targets),
                  {rows, integer_table(node, {size(splits), 4}, nodes), split_table,
                   integer_table(node, {size(roots)}, roots), integer_table(node, {size(starts)}, starts),
                   integer_table(node, {size(share_targets)}, share_targets), weight_table});
}

}  // namespace lapilli::onnx
