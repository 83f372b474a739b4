#include "flow/flow.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/failure.h"
#include "base/text.h"
#include "import/onnx/graph/evaluate.h"
#include "import/onnx/graph/part.h"
#include "plan/instantiate.h"

namespace lapilli {
namespace {

// Numbers that the graph declares of an input's shape, where this value has them, stay the same from run to run.
KnownValue known_input(const onnx::ValueInfo& info, Value value) {
  KnownValue known(std::move(value), info.name);
  if (!known.is_tensor() || !info.type.shape || info.type.shape->size() != known.shape().size()) return known;
  for (std::size_t axis = 0; axis < known.shape().size(); ++axis) {
    const auto declared = (*info.type.shape)[axis].size;
    if (declared && *declared == known.sizes()[axis]) known.set_size(axis, *declared);
  }
  return known;
}

// Expressions of a plan's own sizes mean nothing to the next part, so only numbers are kept.
KnownValue known_output(const SymbolicPort& port, std::shared_ptr<const DeviceTensor> tensor) {
  KnownValue known(std::move(tensor), port.name);
  for (std::size_t axis = 0; axis < port.shape.size(); ++axis) {
    if (const auto size = port.shape[axis].constant()) known.set_size(axis, *size);
  }
  return known;
}

}  // namespace

std::vector<Value> Flow::run(std::vector<Value> inputs, Observer observe) {
  observe_ = std::move(observe);
  return run_graph(model_.graph, nullptr, std::move(inputs));
}

std::vector<Value> Flow::run_graph(const onnx::Graph& graph, const Scope* around, std::vector<Value> inputs) {
  Scope scope(graph, around);
  std::size_t given = 0;
  for (const onnx::ValueInfo& input : graph.inputs) {
    if (around == nullptr && graph.initializers.contains(input.name)) continue;
    if (given < inputs.size()) scope.set(input.name, known_input(input, std::move(inputs[given])));
    ++given;
  }
  if (given != inputs.size()) {
    fail(ErrorCode::invalid_argument, "graph '{}': {} inputs are given, but it takes {}", graph.name, inputs.size(),
         given);
  }
  for (std::size_t next = 0; next < graph.nodes.size();) {
    const onnx::Node& node = graph.nodes[next];
    const bool branch = node.domain.empty() && node.op_type == "If";
    const std::size_t end = onnx::runs_on_device(node) || branch ? run_part(scope, next) : next;
    if (end == next) {
      with_context(onnx::node_text(node), [&] { run_on_host(scope, node); });
      ++next;
    } else {
      next = end;
    }
  }
  std::vector<Value> results;
  for (const onnx::ValueInfo& output : graph.outputs) {
    const Value& result = results.emplace_back(scope.get(output.name));
    if (result.is_tensor()) onnx::require_declared(output, result.tensor().dtype());
  }
  return results;
}

std::size_t Flow::run_part(Scope& scope, std::size_t first) {
  const PartPlans::Planned planned = plans_->plan_for(scope, first);
  const PartPlan& plan = *planned.plan;
  if (plan.end == first) return first;
  const Prepared& prepared = prepared_for(planned);
  std::vector<Executor::Input> inputs;
  for (const std::string& name : plan.inputs) {
    const KnownValue& known = *scope.find(name);
    if (known.on_device() != nullptr) {
      inputs.emplace_back(known.on_device());
    } else {
      inputs.emplace_back(known.value().tensor().bytes());
    }
  }
  std::vector<std::shared_ptr<const DeviceTensor>> outputs = prepared.executor->run_on_device(inputs);
  if (observe_) observe_({*prepared.executor, prepared.report, prepared.plan_ms});
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    scope.set(plan.outputs[i], known_output(plan.structure.outputs[i], std::move(outputs[i])));
  }
  return plan.end;
}

void Flow::run_on_host(Scope& scope, const onnx::Node& node) {
  std::vector<Value> inputs;
  for (const std::string& name : node.inputs) inputs.push_back(name.empty() ? Value() : scope.get(name));
  std::vector<Value> results;
  if (const HostOperator* record = find_host_operator(node.domain, node.op_type, node.opset_version)) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].is_tensor()) onnx::require_type(record->types, node, i, inputs[i].tensor().dtype());
    }
    const auto run_inner = [&](const onnx::Graph& graph, std::vector<Value> values) {
      return run_graph(graph, &scope, std::move(values));
    };
    HostCall call(node, std::move(inputs), run_inner, services_);
    record->run(call);
    results = call.take_outputs();
  } else {
    std::vector<Tensor> tensors;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      tensors.push_back(node.inputs[i].empty() ? Tensor() : inputs[i].tensor());
    }
    for (Tensor& tensor : onnx::evaluate_node(node, tensors)) {
      results.push_back(tensor.defined() ? Value(std::move(tensor)) : Value());
    }
  }
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i].empty()) continue;
    scope.set(node.outputs[i], KnownValue(std::move(results[i]), node.outputs[i]));
  }
}

Flow::Prepared& Flow::prepared_for(const PartPlans::Planned& planned) {
  SymbolValues sizes = relevant_sizes(planned.plan->structure, planned.sizes);
  const auto found = std::ranges::find_if(
      prepared_, [&](const Prepared& prepared) { return prepared.plan == planned.plan && prepared.sizes == sizes; });
  if (found != prepared_.end()) {
    prepared_.splice(prepared_.begin(), prepared_, found);
    return prepared_.front();
  }
  const auto start = std::chrono::steady_clock::now();
  InstantiatedProgram instantiated = instantiate(planned.plan->structure, planned.sizes, device_.traits());
  const std::chrono::duration<double, std::milli> plan_time = std::chrono::steady_clock::now() - start;
  auto program = std::make_shared<const Program>(std::move(instantiated.program));
  constexpr std::size_t most_prepared = 32;
  if (prepared_.size() == most_prepared) prepared_.pop_back();
  prepared_.push_front(
      {planned.plan, std::move(sizes), instantiated.report, plan_time.count(), make_executor(program)});
  return prepared_.front();
}

// Where memory is short, the parts that were run least lately go first.
std::unique_ptr<Executor> Flow::make_executor(const std::shared_ptr<const Program>& program) {
  while (true) {
    try {
      return std::make_unique<Executor>(device_, constants_, program);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::out_of_memory || prepared_.empty()) throw;
      prepared_.pop_back();
      if (prepared_.empty()) constants_->trim();
    }
  }
}

}  // namespace lapilli
