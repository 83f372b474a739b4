#include <algorithm>
#include <chrono>
#include <list>
#include <set>
#include <utility>

#include "api/model_state.h"
#include "base/failure.h"
#include "base/rethrow.h"
#include "lapilli/model.h"

namespace lapilli {
namespace {

bool has_ports_of(const Program& program, std::span<const Tensor> inputs) {
  return std::ranges::equal(inputs, program.inputs, [](const Tensor& tensor, const Port& port) {
    return tensor.dtype() == port.dtype && tensor.shape() == port.shape;
  });
}

// A run in parts that can be had again.
struct PartsRun {
  std::vector<Value> inputs;
  std::optional<std::uint64_t> nanoseconds;
};

void add_times(Executor& executor, std::vector<Context::DispatchTime>& result) {
  const std::vector<std::uint64_t> times = executor.profile();
  const Program& program = executor.program();
  std::size_t next = 0;
  for (const Step& step : program.steps) {
    const auto* dispatch = std::get_if<Dispatch>(&step);
    if (dispatch == nullptr || next == times.size()) continue;
    result.push_back(
        {program.origins[dispatch->origin], program.pipelines[dispatch->pipeline].kernel, times[next++]});
  }
}

}  // namespace

Run::Run(std::shared_ptr<Executor> executor, std::uint64_t ticket)
    : executor_(std::move(executor)), ticket_(ticket) {}
Run::Run(std::vector<Tensor> results) : results_(std::move(results)) {}
Run::Run(Run&& other) noexcept = default;

Run& Run::operator=(Run&& other) noexcept {
  std::swap(executor_, other.executor_);
  std::swap(ticket_, other.ticket_);
  std::swap(results_, other.results_);
  return *this;
}

Run::~Run() {
  if (executor_ != nullptr) executor_->drop(ticket_);
}

bool Run::done() const try { return executor_ == nullptr || executor_->done(ticket_); } catch (...) {
  rethrow_as_error();
}

bool Run::wait_for(std::chrono::nanoseconds limit) const try {
  return executor_ == nullptr || executor_->wait(ticket_, limit);
} catch (...) {
  rethrow_as_error();
}

void Run::wait() const { (void)wait_for(std::chrono::nanoseconds::max()); }

std::vector<Tensor> Run::results() try {
  if (executor_ == nullptr) return std::move(results_);
  std::vector<Tensor> outputs(executor_->program().outputs.size());
  results(outputs);
  return outputs;
} catch (...) {
  rethrow_as_error();
}

void Run::results(std::span<Tensor> outputs) try {
  if (executor_ != nullptr) {
    executor_->read(ticket_, outputs);
    executor_ = nullptr;
    return;
  }
  if (outputs.size() != results_.size()) {
    fail(ErrorCode::invalid_argument, "the run has {} results, but {} are asked for", results_.size(),
         outputs.size());
  }
  std::ranges::move(std::exchange(results_, {}), outputs.begin());
} catch (...) {
  rethrow_as_error();
}

struct Context::State {
  explicit State(Model owner) : model(std::move(owner)) {}

  struct Entry {
    SymbolValues sizes;  // those that matter to its structure
    PlanReport report;
    double structure_ms = 0, plan_ms = 0;
    std::shared_ptr<Executor> executor;
  };

  /// None when the model is no single Program.
  std::shared_ptr<Executor> executor_for(std::span<const Tensor> inputs) {
    const Model::State& state = *model.state_;
    if (state.in_parts) return nullptr;
    // The usual run is like one before it, and takes no memory.
    const auto found = std::ranges::find_if(entries, [&](const Entry& entry) {
      return has_ports_of(entry.executor->program(), inputs) && state.network.elements_agree(inputs, entry.sizes);
    });
    return found != entries.end() ? make_latest(found) : executor_for(state.network.sizes_of(inputs));
  }

  std::shared_ptr<Executor> executor_for(const SymbolValues& sizes) {
    const auto found =
        std::ranges::find_if(entries, [&](const Entry& entry) { return std::ranges::includes(sizes, entry.sizes); });
    if (found != entries.end()) return make_latest(found);
    std::optional<PlannedProgram> planned = model.state_->plan_for(sizes);
    if (!planned) return nullptr;
    auto program = std::make_shared<const Program>(std::move(planned->instantiated.program));
    constexpr std::size_t most_entries = 4;
    if (entries.size() == most_entries) entries.pop_back();
    std::shared_ptr<Executor> executor =
        with_context(model.state_->network.path(), [&] { return make_executor(program); });
    entries.push_front({std::move(planned->sizes), planned->instantiated.report, planned->structure_ms,
                        planned->plan_ms, std::move(executor)});
    return entries.front().executor;
  }

  const std::shared_ptr<Executor>& make_latest(std::list<Entry>::iterator entry) {
    entries.splice(entries.begin(), entries, entry);
    return entry->executor;
  }

  // Where memory is short, the plans that were used least lately go first.
  std::shared_ptr<Executor> make_executor(const std::shared_ptr<const Program>& program) {
    const Model::State& state = *model.state_;
    while (true) {
      try {
        return std::make_shared<Executor>(state.device.implementation(), state.constants, program);
      } catch (const Error& error) {
        if (error.code() != ErrorCode::out_of_memory || entries.empty()) throw;
        entries.pop_back();
        if (entries.empty()) state.constants->trim();
      }
    }
  }

  std::vector<Value> run_in_parts(std::span<const Value> inputs) {
    const Model::State& state = *model.state_;
    if (!flow) {
      flow = std::make_unique<Flow>(state.network.model(), state.device.implementation(), state.constants,
                                    state.parts, HostServices{state.options.decode_image});
    }
    PartsRun& run = last_in_parts.emplace();
    run.inputs.assign(inputs.begin(), inputs.end());
    return with_context(state.network.path(), [&] {
      return flow->run(run.inputs, [&](const Flow::PartRun& part) {
        if (const auto time = part.executor.gpu_nanoseconds()) run.nanoseconds = run.nanoseconds.value_or(0) + *time;
      });
    });
  }

  std::vector<Tensor> run_in_parts(std::span<const Tensor> inputs) {
    const std::vector<Value> values(inputs.begin(), inputs.end());
    model.state_->network.check_inputs(values);
    std::vector<Tensor> outputs;
    for (const Value& value : run_in_parts(values)) outputs.push_back(value.tensor());
    return outputs;
  }

  Entry& latest() {
    if (entries.empty()) fail(ErrorCode::invalid_argument, "run the model once before");
    return entries.front();
  }

  Model model;
  std::list<Entry> entries;  // the latest first
  std::unique_ptr<Flow> flow;
  std::optional<PartsRun> last_in_parts;  // where the last run went through parts
};

Context::Context(const Model& model) try : state_(std::make_unique<State>(model)) {
} catch (...) {
  rethrow_as_error();
}
Context::Context(Context&&) noexcept = default;
Context& Context::operator=(Context&&) noexcept = default;
Context::~Context() = default;

Run Context::submit(std::span<const Tensor> inputs) try {
  std::shared_ptr<Executor> executor = state_->executor_for(inputs);
  if (executor == nullptr) return Run(state_->run_in_parts(inputs));
  state_->last_in_parts = std::nullopt;
  const Executor::Ticket ticket = executor->submit(inputs);
  return {std::move(executor), ticket};
} catch (...) {
  rethrow_as_error();
}

Run Context::submit(const Sizes& sizes, const FillInput& fill) try {
  const Model::State& model = *state_->model.state_;
  std::shared_ptr<Executor> executor =
      model.in_parts ? nullptr : state_->executor_for(model.network.complete_sizes(sizes));
  if (executor == nullptr) fail(ErrorCode::unsupported, "this model runs in parts: give its inputs as tensors");
  if (model.network.names_elements(state_->latest().sizes)) {
    fail(ErrorCode::unsupported, "sizes in this model depend on elements of its inputs: give them as tensors");
  }
  state_->last_in_parts = std::nullopt;
  const Executor::Ticket ticket = executor->submit(fill);
  return {std::move(executor), ticket};
} catch (...) {
  rethrow_as_error();
}

std::vector<Tensor> Context::run(std::span<const Tensor> inputs) { return submit(inputs).results(); }

void Context::run(std::span<const Tensor> inputs, std::span<Tensor> outputs) { submit(inputs).results(outputs); }

std::vector<Value> Context::run(std::span<const Value> inputs) try {
  const Model::State& model = *state_->model.state_;
  model.network.check_inputs(inputs);
  // What takes or gives anything but tensors is run in parts.
  if (model.in_parts) return state_->run_in_parts(inputs);
  std::vector<Tensor> tensors;
  for (const Value& input : inputs) tensors.push_back(input.tensor());
  const std::shared_ptr<Executor> executor = state_->executor_for(tensors);
  if (executor == nullptr) return state_->run_in_parts(inputs);
  const std::vector<Tensor> results = run(tensors);
  return {results.begin(), results.end()};
} catch (...) {
  rethrow_as_error();
}

std::map<std::string, Tensor> Context::run(const std::map<std::string, Tensor>& inputs) try {
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
} catch (...) {
  rethrow_as_error();
}

void Context::prepare(const Sizes& sizes) try {
  const Model::State& model = *state_->model.state_;
  if (!model.in_parts) (void)state_->executor_for(model.network.complete_sizes(sizes));
} catch (...) {
  rethrow_as_error();
}

void Context::trim() {
  state_->entries.clear();
  state_->flow = nullptr;
  state_->last_in_parts = std::nullopt;
}

Context::Memory Context::memory() const {
  Memory memory;
  const auto add = [&](const Executor& executor) {
    ++memory.plans;
    memory.bytes += executor.device_bytes();
  };
  for (const State::Entry& entry : state_->entries) add(*entry.executor);
  if (state_->flow != nullptr) state_->flow->for_each_executor(add);
  return memory;
}

PlanSummary Context::last_plan() const try {
  PlanSummary summary;
  summary.parts = 0;
  if (state_->last_in_parts) {
    // Asked for seldom, so that runs do not gather it: one more run does.
    std::set<const Program*> programs;
    (void)state_->flow->run(state_->last_in_parts->inputs, [&](const Flow::PartRun& part) {
      const Program& program = part.executor.program();
      const bool is_new = programs.insert(&program).second;
      add_to(summary, part.report, program, is_new);
      if (is_new) summary.plan_ms += part.plan_ms;
    });
    return summary;
  }
  const State::Entry& entry = state_->latest();
  summary.sizes = entry.sizes;
  add_to(summary, entry.report, entry.executor->program(), true);
  summary.structure_ms = entry.structure_ms;
  summary.plan_ms = entry.plan_ms;
  return summary;
} catch (...) {
  rethrow_as_error();
}

std::optional<std::uint64_t> Context::gpu_nanoseconds() const try {
  if (state_->last_in_parts) return state_->last_in_parts->nanoseconds;
  return state_->latest().executor->gpu_nanoseconds();
} catch (...) {
  rethrow_as_error();
}

std::vector<std::uint64_t> Context::submit_nanoseconds() const try {
  if (state_->last_in_parts) return {};
  return state_->latest().executor->submit_nanoseconds();
} catch (...) {
  rethrow_as_error();
}

std::vector<std::uint64_t> Context::repeat(std::size_t count) try {
  if (!state_->last_in_parts) return state_->latest().executor->run_resident(count);
  std::vector<std::uint64_t> times;
  for (std::size_t i = 0; i < count; ++i) {
    const std::vector<Value> inputs = state_->last_in_parts->inputs;
    const auto start = std::chrono::steady_clock::now();
    (void)state_->run_in_parts(inputs);
    const std::chrono::nanoseconds elapsed = std::chrono::steady_clock::now() - start;
    times.push_back(state_->last_in_parts->nanoseconds.value_or(static_cast<std::uint64_t>(elapsed.count())));
  }
  return times;
} catch (...) {
  rethrow_as_error();
}

std::vector<Context::DispatchTime> Context::profile() try {
  std::vector<DispatchTime> result;
  if (!state_->last_in_parts) {
    add_times(*state_->latest().executor, result);
    return result;
  }
  // The values of a part are there when it has just run.
  (void)state_->flow->run(state_->last_in_parts->inputs,
                          [&](const Flow::PartRun& part) { add_times(part.executor, result); });
  return result;
} catch (...) {
  rethrow_as_error();
}

}  // namespace lapilli
