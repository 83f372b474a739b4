#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "import/onnx/operators/node_builder.h"
#include "ops/tree_ensemble.h"

namespace lapilli::onnx {

/// What a leaf has for a target.
struct LeafShare {
  std::int64_t target = 0;
  double weight = 0;
};

/// The trees of a node, checked: every index is in range, and no tree goes in circles. A way on is a decision's
/// number or, below 0, that of leaf -1 - way.
struct Trees {
  struct Decision {
    TreeMode mode = TreeMode::less_or_equal;
    bool missing_is_true = false;
    std::int32_t feature = 0;
    double split = 0;
    std::int32_t when_true = -1, when_false = -1;
  };

  std::vector<Decision> decisions;
  std::vector<std::vector<LeafShare>> leaves;
  std::vector<std::int32_t> roots;
  bool wide = false;  ///< some of its numbers are float64

  /// One more than the largest feature and the largest target; 0 where there are none.
  [[nodiscard]] std::int64_t feature_count() const;
  [[nodiscard]] std::int64_t target_count() const;
};

/// The attributes of TreeEnsemble. Throws Error (invalid_model).
Trees read_trees(const Node& node);
/// The attributes of TreeEnsembleRegressor and TreeEnsembleClassifier; `prefix` is "target" or "class". Throws Error
/// (invalid_model).
Trees read_trees_by_node(const Node& node, const std::string& prefix);

/// Adds the operator: rows are of the type that results have, float64 where `trees` are wide. Leaves that have
/// several shares for one target are joined by `function`.
ValueId add_trees(NodeBuilder& node, const Trees& trees, ReductionFunction function, std::int64_t targets,
                  ValueId rows);

}  // namespace lapilli::onnx
