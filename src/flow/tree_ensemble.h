#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "flow/host_call.h"

namespace lapilli {

/// Decision trees: a row goes from the root of each to a leaf, which has weights for some of the targets.
class TreeEnsemble {
 public:
  struct Share {
    std::size_t target;
    double weight;
  };

  /// The attributes of TreeEnsemble.
  static TreeEnsemble read(const HostCall& call);
  /// The attributes of TreeEnsembleRegressor and TreeEnsembleClassifier; `prefix` is "target" or "class".
  static TreeEnsemble read_by_node(const HostCall& call, const std::string& prefix);

  [[nodiscard]] std::size_t tree_count() const { return roots_.size(); }
  [[nodiscard]] const std::vector<std::vector<Share>>& leaves() const { return leaves_; }

  /// Calls found(share) for all that the leaves say that this row comes to. Throws Error (invalid_model) where the
  /// trees do not fit the row, or where one goes in circles.
  template <class Found>
  void visit(std::span<const double> row, Found&& found) const {
    for (const Next& root : roots_) {
      for (const Share& share : leaves_[leaf_for(root, row)]) found(share);
    }
  }

 private:
  enum class Mode : std::uint8_t { less_or_equal, less, greater_or_equal, greater, equal, unequal, member };

  /// A node, or a leaf.
  struct Next {
    bool leaf = false;
    std::size_t index = 0;
  };

  struct Decision {
    Mode mode = Mode::less_or_equal;
    std::size_t feature = 0;
    double value = 0;
    std::vector<double> members;
    bool missing_is_true = false;
    Next when_true, when_false;
  };

  [[nodiscard]] std::size_t leaf_for(Next next, std::span<const double> row) const;
  static bool holds(const Decision& decision, double value);
  void read_members(const HostCall& call);
  void read_shares(const HostCall& call, const std::string& prefix,
                   const std::map<std::pair<std::int64_t, std::int64_t>, std::size_t>& places);

  std::vector<Decision> decisions_;
  std::vector<std::vector<Share>> leaves_;
  std::vector<Next> roots_;
};

}  // namespace lapilli
