#include "lapilli/model.h"

#include <algorithm>
#include <chrono>
#include <list>
#include <mutex>

#include "api/model_state.h"
#include "base/failure.h"
#include "program/print.h"

namespace lapilli {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

PlanOptions plan_options(const ModelOptions& options) {
  PlanOptions result;
  result.precision = options.precision;
  result.contraction.variant = options.variant;
  return result;
}

FlowOptions flow_options(const ModelOptions& options) {
  return {plan_options(options), options.optimise, options.disabled_rules};
}

[[noreturn]] void fail_in_parts() {
  fail(ErrorCode::unsupported,
       "sizes in this model depend on its data, or the host has a part in it, so there is no single plan: it is "
       "planned part "
       "by part while it runs");
}

}  // namespace

Model::State::State(const std::filesystem::path& path, Device opened, ModelOptions wanted)
    : network(path),
      device(std::move(opened)),
      options(std::move(wanted)),
      constants(std::make_shared<ResidentConstants>(device.implementation())),
      parts(std::make_shared<PartPlans>(device.implementation().traits(), flow_options(options))),
      inputs(input_ports(network)) {
  if (options.strict) network.require_device_only();
  in_parts = !network.may_be_one_graph();
}

std::shared_ptr<const Structure> Model::State::structure_for(const SymbolValues& sizes, double& milliseconds) {
  const std::scoped_lock lock(mutex);
  for (const auto& structure : structures) {
    if (guards_hold(structure->guards, sizes)) return structure;
  }
  if (in_parts) return nullptr;
  const auto start = Clock::now();
  Assumptions assumptions(sizes);
  const std::optional<Network::Built> built = network.build(assumptions, options);
  if (!built) {
    in_parts = true;
    return nullptr;
  }
  auto structure = std::make_shared<const Structure>(
      build_structure(built->graph, assumptions, device.implementation().traits(), plan_options(options)));
  milliseconds = milliseconds_since(start);
  constexpr std::size_t most_structures = 8;
  if (structures.size() == most_structures) structures.erase(structures.begin());
  structures.push_back(structure);
  return structure;
}

std::optional<PlannedProgram> Model::State::plan_for(const SymbolValues& sizes) {
  PlannedProgram planned;
  const auto structure = structure_for(sizes, planned.structure_ms);
  if (structure == nullptr) return std::nullopt;
  const auto start = Clock::now();
  planned.sizes = relevant_sizes(*structure, sizes);
  planned.instantiated = instantiate(*structure, sizes, device.implementation().traits());
  planned.plan_ms = milliseconds_since(start);
  return planned;
}

Model Model::load(const std::filesystem::path& path, const Device& device, const ModelOptions& options) {
  return Model(std::make_shared<State>(path, device, options));
}

const std::vector<PortDescription>& Model::inputs() const noexcept { return state_->inputs; }

const std::vector<PortDescription>& Model::outputs() const {
  std::call_once(state_->outputs_known, [&] {
    double unused = 0;
    const auto structure = state_->structure_for(state_->network.complete_sizes({}), unused);
    if (structure == nullptr) {
      state_->outputs = declared_outputs(state_->network);
      return;
    }
    for (const SymbolicPort& port : structure->outputs) {
      state_->outputs.push_back({port.name, port.dtype, dimension_texts(port.shape)});
    }
  });
  return state_->outputs;
}

const Device& Model::device() const noexcept { return state_->device; }

PlanSummary Model::plan(const Sizes& sizes) const {
  const SymbolValues complete = state_->network.complete_sizes(sizes);
  const std::optional<PlannedProgram> planned = state_->plan_for(complete);
  if (!planned) fail_in_parts();
  const PlanReport& report = planned->instantiated.report;
  PlanSummary summary;
  summary.sizes = complete;
  summary.dispatches = report.dispatches;
  summary.barriers = report.barriers;
  summary.levels = report.levels;
  summary.pipelines = report.pipelines;
  summary.arena_bytes = report.arena_bytes;
  summary.lower_bound_bytes = report.lower_bound_bytes;
  summary.unshared_bytes = report.unshared_bytes;
  summary.weight_bytes = report.weight_bytes;
  summary.structure_ms = planned->structure_ms;
  summary.plan_ms = planned->plan_ms;
  summary.steps = step_lines(planned->instantiated.program);
  return summary;
}

struct Context::State {
  explicit State(Model owner) : model(std::move(owner)) {}

  struct Entry {
    SymbolValues sizes;  // those that matter to its structure
    std::unique_ptr<Executor> executor;
  };

  /// None when the model is no single Program.
  Executor* executor_for(const SymbolValues& sizes) {
    const auto found =
        std::ranges::find_if(entries, [&](const Entry& entry) { return std::ranges::includes(sizes, entry.sizes); });
    if (found != entries.end()) {
      entries.splice(entries.begin(), entries, found);
      return entries.front().executor.get();
    }
    Model::State& state = *model.state_;
    std::optional<PlannedProgram> planned = state.plan_for(sizes);
    if (!planned) return nullptr;
    auto program = std::make_shared<const Program>(std::move(planned->instantiated.program));
    auto executor = std::make_unique<Executor>(state.device.implementation(), state.constants, std::move(program));
    constexpr std::size_t most_entries = 4;
    if (entries.size() == most_entries) entries.pop_back();
    entries.push_front({std::move(planned->sizes), std::move(executor)});
    return entries.front().executor.get();
  }

  std::vector<Value> run_in_parts(std::span<const Value> inputs) {
    const Model::State& state = *model.state_;
    if (!flow) {
      flow =
          std::make_unique<Flow>(state.network.model(), state.device.implementation(), state.constants, state.parts);
    }
    return flow->run({inputs.begin(), inputs.end()});
  }

  Executor& latest() {
    if (model.state_->in_parts) fail_in_parts();
    if (entries.empty()) fail(ErrorCode::invalid_argument, "run the model once before");
    return *entries.front().executor;
  }

  Model model;
  std::list<Entry> entries;  // the latest first
  std::unique_ptr<Flow> flow;
};

Context::Context(const Model& model) : state_(std::make_unique<State>(model)) {}
Context::Context(Context&&) noexcept = default;
Context& Context::operator=(Context&&) noexcept = default;
Context::~Context() = default;

namespace {

std::vector<Tensor> run_once(Executor& executor, std::span<const Tensor> inputs) {
  std::vector<std::span<const std::byte>> input_bytes;
  for (const Tensor& input : inputs) input_bytes.push_back(input.bytes());
  std::vector<Tensor> outputs;
  std::vector<std::span<std::byte>> output_bytes;
  for (const Port& port : executor.program().outputs) {
    outputs.push_back(Tensor::allocate(port.dtype, port.shape));
    output_bytes.push_back(outputs.back().mutable_bytes());
  }
  executor.run(input_bytes, output_bytes);
  return outputs;
}

}  // namespace

std::vector<Tensor> Context::run(std::span<const Tensor> inputs) {
  const Model::State& model = *state_->model.state_;
  Executor* executor = model.in_parts ? nullptr : state_->executor_for(model.network.sizes_of(inputs));
  if (executor != nullptr) return run_once(*executor, inputs);
  const std::vector<Value> values(inputs.begin(), inputs.end());
  model.network.check_inputs(values);
  std::vector<Tensor> outputs;
  for (const Value& value : state_->run_in_parts(values)) outputs.push_back(value.tensor());
  return outputs;
}

std::vector<Value> Context::run(std::span<const Value> inputs) {
  const Model::State& model = *state_->model.state_;
  model.network.check_inputs(inputs);
  // What takes or gives anything but tensors is run in parts.
  if (model.in_parts) return state_->run_in_parts(inputs);
  std::vector<Tensor> tensors;
  for (const Value& input : inputs) tensors.push_back(input.tensor());
  if (Executor* executor = state_->executor_for(model.network.sizes_of(tensors))) {
    std::vector<Tensor> results = run_once(*executor, tensors);
    return {results.begin(), results.end()};
  }
  return state_->run_in_parts(inputs);
}

std::map<std::string, Tensor> Context::run(const std::map<std::string, Tensor>& inputs) {
  std::vector<Tensor> ordered;
  for (const PortDescription& port : state_->model.inputs()) {
    const auto found = inputs.find(port.name);
    if (found == inputs.end()) fail(ErrorCode::invalid_argument, "input '{}' is not given", port.name);
    ordered.push_back(found->second);
  }
  for (const auto& [name, tensor] : inputs) {
    if (!std::ranges::contains(state_->model.inputs(), name, &PortDescription::name)) {
      fail(ErrorCode::invalid_argument, "the model has no input '{}'", name);
    }
  }
  std::vector<Tensor> results = run(ordered);
  std::map<std::string, Tensor> named;
  const auto& names = state_->model.state_->network.output_names();
  for (std::size_t i = 0; i < results.size(); ++i) named.emplace(names[i], std::move(results[i]));
  return named;
}

std::optional<std::uint64_t> Context::gpu_nanoseconds() const { return state_->latest().gpu_nanoseconds(); }
std::vector<std::uint64_t> Context::repeat(std::size_t count) { return state_->latest().run_resident(count); }

std::vector<Context::DispatchTime> Context::profile() {
  Executor& executor = state_->latest();
  const std::vector<std::uint64_t> times = executor.profile();
  std::vector<DispatchTime> result;
  for (const Step& step : executor.program().steps) {
    const auto* dispatch = std::get_if<Dispatch>(&step);
    if (dispatch == nullptr || result.size() == times.size()) continue;
    result.push_back({executor.program().origins[dispatch->origin],
                      executor.program().pipelines[dispatch->pipeline].kernel, times[result.size()]});
  }
  return result;
}

}  // namespace lapilli
