#pragma once

#include <functional>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "flow/host_call.h"
#include "flow/part_plan.h"
#include "import/onnx/model.h"
#include "plan/instantiate.h"
#include "run/executor.h"

namespace lapilli {

/// Runs a model that is no single Program: sizes depend on data, or the host has a part in it. Each graph is run from
/// its first node to its last, the device's parts in one go each, the host's nodes one by one between them.
/// For one thread at a time; plans and constants are shared.
class Flow {
 public:
  /// The model must outlive it.
  Flow(const onnx::Model& model, VulkanDevice device, std::shared_ptr<ResidentConstants> constants,
       std::shared_ptr<PartPlans> plans, HostServices services = {})
      : model_(model),
        device_(std::move(device)),
        constants_(std::move(constants)),
        plans_(std::move(plans)),
        services_(std::move(services)) {}

  /// Inputs in the order of the model's inputs that have no initializer; results in the order of its outputs. Throws
  /// Error that names the node.
  /// `observe`, where there is one, is told of each part once it has run.
  struct PartRun {
    Executor& executor;
    const PlanReport& report;
    double plan_ms = 0;
  };
  using Observer = std::function<void(const PartRun&)>;
  std::vector<Value> run(std::vector<Value> inputs, Observer observe = {});

  /// The Executors of its parts that it keeps.
  template <class Function>
  void for_each_executor(const Function& function) const {
    for (const Prepared& prepared : prepared_) function(*prepared.executor);
  }

 private:
  struct Prepared {
    std::shared_ptr<const PartPlan> plan;
    SymbolValues sizes;
    PlanReport report;
    double plan_ms = 0;
    std::unique_ptr<Executor> executor;
  };

  std::vector<Value> run_graph(const onnx::Graph& graph, const Scope* around, std::vector<Value> inputs);
  /// Returns the node to go on with.
  std::size_t run_part(Scope& scope, std::size_t first);
  void run_on_host(Scope& scope, const onnx::Node& node);
  Prepared& prepared_for(const PartPlans::Planned& planned);
  std::unique_ptr<Executor> make_executor(const std::shared_ptr<const Program>& program);

  const onnx::Model& model_;
  VulkanDevice device_;
  std::shared_ptr<ResidentConstants> constants_;
  std::shared_ptr<PartPlans> plans_;
  HostServices services_;
  std::list<Prepared> prepared_;  // the latest first
  Observer observe_;              // of the run that goes on
};

}  // namespace lapilli
