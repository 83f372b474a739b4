#include "lapilli/model.h"

#include <algorithm>
#include <chrono>
#include <mutex>

#include "api/model_state.h"
#include "base/failure.h"
#include "base/rethrow.h"
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

// What can only be decided before a model is planned.
void require_no_plan_options(const ModelOptions& options, Precision precision) {
  const auto refuse = [](std::string_view what) {
    fail(ErrorCode::invalid_argument, "{} be chosen when a model is compiled, and this file is a compiled one", what);
  };
  if (!options.keep.empty()) refuse("values to keep have to");
  if (!options.variant.empty()) refuse("kernel variants have to");
  if (!options.optimise || !options.disabled_rules.empty()) refuse("rewrite rules have to");
  // float32 is what nobody has asked for.
  if (options.precision == Precision::float16 && precision != Precision::float16) refuse("float16 has to");
}

FlowOptions flow_options(const ModelOptions& options) {
  return {plan_options(options), options.optimise, options.disabled_rules};
}

}  // namespace

void fail_in_parts() {
  fail(ErrorCode::unsupported,
       "sizes in this model depend on its data, or the host has a part in it, so there is no single plan: it is "
       "planned part by part while it runs. Run the model itself; `lapilli inspect` tells what the host does");
}

std::optional<CompiledModel> open_compiled(const std::filesystem::path& path) {
  std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  if (!is_program_file(file->bytes())) return std::nullopt;
  return with_context(path.string(), [&] {
    CompiledProgram compiled = read_program_file(file->bytes(), file);
    return std::optional<CompiledModel>({std::move(compiled), std::move(file)});
  });
}

std::vector<PortDescription> program_ports(const std::vector<Port>& ports) {
  std::vector<PortDescription> descriptions;
  for (const Port& port : ports) {
    descriptions.push_back({port.name, port.dtype, {}});
    for (const std::int64_t size : port.shape) descriptions.back().shape.push_back(std::to_string(size));
  }
  return descriptions;
}

void add_to(PlanSummary& summary, const PlanReport& report, const Program& program, bool new_program) {
  if (new_program) {
    // Parts run one after the other, each in memory of its own.
    const auto level = static_cast<std::uint32_t>(summary.levels);
    for (const ArenaBlock& block : report.blocks) {
      summary.memory.push_back(
          {block.name, summary.arena_bytes + block.offset, block.size, level + block.first, level + block.last});
    }
  }
  ++summary.parts;
  summary.dispatches += report.dispatches;
  summary.barriers += report.barriers;
  summary.levels += report.levels;
  for (std::string& line : step_lines(program)) summary.steps.push_back(std::move(line));
  if (!new_program) return;
  summary.pipelines += report.pipelines;
  summary.arena_bytes += report.arena_bytes;
  summary.lower_bound_bytes += report.lower_bound_bytes;
  summary.unshared_bytes += report.unshared_bytes;
  summary.weight_bytes += report.weight_bytes;
}

Model::State::State(const std::filesystem::path& path, Device opened, ModelOptions wanted)
    : network(path, wanted.keep),
      device(std::move(opened)),
      options(std::move(wanted)),
      constants(std::make_shared<ResidentConstants>(device.implementation(), network.model().files)),
      parts(std::make_shared<PartPlans>(device.implementation().traits(), flow_options(options))),
      inputs(input_ports(network)) {
  if (options.strict) network.require_device_only();
  in_parts = !network.may_be_one_graph();
}

Model::State::State(const std::filesystem::path& path, CompiledModel model, Device opened, ModelOptions wanted)
    : compiled(std::move(model.compiled)),
      network(path, *compiled),
      device(std::move(opened)),
      options(std::move(wanted)),
      constants(std::make_shared<ResidentConstants>(device.implementation(), std::vector{std::move(model.file)})),
      parts(std::make_shared<PartPlans>(device.implementation().traits(), flow_options(options))),
      inputs(program_ports(compiled->program.inputs)),
      outputs(program_ports(compiled->program.outputs)) {
  with_context(path.string(), [&] {
    require_fit(*compiled, device.implementation().traits());
    require_no_plan_options(options, compiled->precision);
  });
  options.precision = compiled->precision;
}

std::shared_ptr<const Structure> Model::State::structure_for(const SymbolValues& sizes, double& milliseconds) {
  const std::scoped_lock lock(mutex);
  for (const auto& structure : structures) {
    if (serves(*structure, sizes)) return structure;
  }
  if (in_parts) return nullptr;
  const auto start = Clock::now();
  Assumptions assumptions(sizes);
  const std::optional<Network::Built> built = network.build(assumptions, options);
  if (!built) {
    in_parts = true;
    return nullptr;
  }
  auto structure = with_context(network.path(), [&] {
    return std::make_shared<const Structure>(
        build_structure(built->graph, assumptions, device.implementation().traits(), plan_options(options)));
  });
  milliseconds = milliseconds_since(start);
  constexpr std::size_t most_structures = 8;
  if (structures.size() == most_structures) structures.erase(structures.begin());
  structures.push_back(structure);
  return structure;
}

std::optional<PlannedProgram> Model::State::plan_for(const SymbolValues& sizes) {
  PlannedProgram planned;
  if (compiled) return PlannedProgram{{compiled->program, compiled->report}, compiled->sizes};
  const auto structure = structure_for(sizes, planned.structure_ms);
  if (structure == nullptr) return std::nullopt;
  const auto start = Clock::now();
  planned.sizes = relevant_sizes(*structure, sizes);
  planned.instantiated =
      with_context(network.path(), [&] { return instantiate(*structure, sizes, device.implementation().traits()); });
  planned.plan_ms = milliseconds_since(start);
  return planned;
}

Model Model::load(const std::filesystem::path& path, const Device& device, const ModelOptions& options) try {
  if (std::optional<CompiledModel> compiled = open_compiled(path)) {
    return Model(std::make_shared<State>(path, std::move(*compiled), device, options));
  }
  return Model(std::make_shared<State>(path, device, options));
} catch (...) {
  rethrow_as_error();
}

const std::vector<PortDescription>& Model::inputs() const noexcept { return state_->inputs; }

const std::vector<PortDescription>& Model::outputs() const try {
  if (state_->compiled) return state_->outputs;
  std::call_once(state_->outputs_known, [&] {
    double unused = 0;
    const auto structure = state_->structure_for(state_->network.complete_sizes({}), unused);
    if (structure == nullptr) {
      state_->outputs = declared_outputs(state_->network);
      return;
    }
    std::vector<PortDescription> outputs;
    for (const SymbolicPort& port : structure->outputs) {
      outputs.push_back({port.name, port.dtype, dimension_texts(port.shape)});
    }
    state_->outputs = std::move(outputs);
  });
  return state_->outputs;
} catch (...) {
  rethrow_as_error();
}

const std::vector<std::string>& Model::output_names() const noexcept { return state_->network.output_names(); }

const Device& Model::device() const noexcept { return state_->device; }

PlanSummary Model::plan(const Sizes& sizes) const try {
  const SymbolValues complete = state_->network.complete_sizes(sizes);
  const std::optional<PlannedProgram> planned = state_->plan_for(complete);
  if (!planned) fail_in_parts();
  PlanSummary summary;
  summary.sizes = complete;
  summary.parts = 0;
  const Program& program = planned->instantiated.program;
  add_to(summary, planned->instantiated.report, program, true);
  for (const PipelineSpec& spec : program.pipelines) {
    if (!state_->device.implementation().has_pipeline(spec)) ++summary.new_pipelines;
  }
  summary.structure_ms = planned->structure_ms;
  summary.plan_ms = planned->plan_ms;
  return summary;
} catch (...) {
  rethrow_as_error();
}

bool Model::runs_in_parts(const Sizes& sizes) const try {
  const SymbolValues complete = state_->network.complete_sizes(sizes);  // which says what there is not
  if (state_->in_parts || state_->compiled) return state_->in_parts;
  double unused = 0;
  return state_->structure_for(complete, unused) == nullptr;
} catch (...) {
  rethrow_as_error();
}

Precision Model::precision() const noexcept { return state_->options.precision; }

void Model::compile(const Sizes& sizes, const std::filesystem::path& path) const try {
  const std::optional<PlannedProgram> planned = state_->plan_for(state_->network.complete_sizes(sizes));
  if (!planned) with_context("it cannot be compiled", [] { fail_in_parts(); });
  const CompiledProgram compiled{
      planned->instantiated.program,
      planned->instantiated.report,
      state_->compiled ? state_->compiled->traits : state_->device.implementation().traits(),
      planned->sizes,
      state_->options.precision,
      state_->compiled ? state_->compiled->model : state_->network.format()};
  write_program_file(path, compiled);
} catch (...) {
  rethrow_as_error();
}

std::uint64_t Model::weight_bytes() const try { return state_->constants->bytes(); } catch (...) {
  rethrow_as_error();
}

void Model::trim() const try {
  {
    const std::scoped_lock lock(state_->mutex);
    state_->structures.clear();
  }
  state_->parts->trim();
  state_->constants->trim();
} catch (...) {
  rethrow_as_error();
}

}  // namespace lapilli
