#pragma once

#include <map>
#include <vector>

#include "ir/graph.h"
#include "plan/emission.h"

namespace lapilli {

/// Which values lie in each storage, and who still has to read them.
class Residents {
 public:
  Residents(const Graph& graph, const Emission& emission) : graph_(graph), emission_(emission) {}

  void add(StorageId storage, ValueId value) { values_[emission_.whole_of(storage)].push_back(value); }
  void set_built(NodeId node);
  [[nodiscard]] bool in_arena(StorageId storage) const;

  /// Whether the memory of an input is free once this node, which is about to be built, has read that input: it lies
  /// alone in an arena, everything in it is read by nodes that were built before, and waiting for those does not make
  /// the node wait longer than for its inputs. Kernels declare the two buffers `restrict` all the same: that lets a
  /// compiler move loads of other elements before a store, which changes nothing here.
  [[nodiscard]] bool end_at(const Node& node, ValueId input) const;

 private:
  [[nodiscard]] bool read_before(ValueId value, const Node& node) const;

  const Graph& graph_;
  const Emission& emission_;
  std::map<StorageId, std::vector<ValueId>> values_;
  std::vector<bool> built_;
};

}  // namespace lapilli
