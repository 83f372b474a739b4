#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "flow/scope.h"
#include "passes/rewrite.h"
#include "plan/build.h"

namespace lapilli {

struct FlowOptions {
  PlanOptions plan;
  bool optimise = true;
  std::set<std::string, std::less<>> disabled_rules;
};

/// A part of a graph of the model, planned for all values that fit its inputs and guards.
struct PartPlan {
  std::size_t end = 0;                  ///< the first node that is not in it
  std::map<std::string, Fact> outside;  ///< every value from outside; constants are built in
  std::vector<std::string> inputs;      ///< of the structure: those that are no constants
  std::vector<std::string> outputs;
  Structure structure;

  /// The sizes that the values of a run have, or nothing when the plan is not for them.
  [[nodiscard]] std::optional<SymbolValues> sizes_for(const Scope& scope) const;
};

/// The plans of all parts of a model, made as they are needed and shared by all its contexts. Thread-safe.
class PartPlans {
 public:
  PartPlans(DeviceTraits traits, FlowOptions options) : traits_(std::move(traits)), options_(std::move(options)) {}

  struct Planned {
    std::shared_ptr<const PartPlan> plan;
    SymbolValues sizes;
  };

  /// The part of the scope's graph that begins with a node. Its end is its beginning where that node is not for the
  /// device.
  Planned plan_for(const Scope& scope, std::size_t first);

  /// Forgets all plans; those in use live on with their users.
  void trim();

 private:
  using Known =
      std::map<std::string, int, std::less<>>;  // 1: elements as symbols where they are few, 2: as constants
  [[nodiscard]] std::shared_ptr<const PartPlan> make(const Scope& scope, std::size_t first, Known& known) const;
  [[nodiscard]] std::shared_ptr<const PartPlan> try_to_make(const Scope& scope, std::size_t first,
                                                            const Known& known) const;

  struct Entry {
    Known known;
    std::vector<std::shared_ptr<const PartPlan>> plans;
  };

  DeviceTraits traits_;
  FlowOptions options_;
  std::mutex mutex_;  // of entries
  std::map<std::pair<const onnx::Graph*, std::size_t>, Entry> entries_;
};

}  // namespace lapilli
