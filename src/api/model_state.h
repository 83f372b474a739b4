#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "api/network.h"
#include "base/mapped_file.h"
#include "flow/flow.h"
#include "lapilli/model.h"
#include "plan/build.h"
#include "plan/instantiate.h"
#include "program/program_file.h"
#include "run/executor.h"
#include "run/resident_constants.h"

namespace lapilli {

struct PlannedProgram {
  InstantiatedProgram instantiated;
  SymbolValues sizes;  ///< those that the program depends on
  double structure_ms = 0, plan_ms = 0;
};

std::vector<std::string> dimension_texts(std::span<const Dim> shape);
std::vector<PortDescription> input_ports(const Network& network);
/// The outputs as the file declares them, for models whose graph is not known as a whole.
std::vector<PortDescription> declared_outputs(const Network& network);

/// For what needs a single Program. Throws Error (unsupported).
[[noreturn]] void fail_in_parts();

/// Adds a Program that a run goes through; its memory and pipelines count where it is new to the summary.
void add_to(PlanSummary& summary, const PlanReport& report, const Program& program, bool new_program);

/// What a program file holds, and the file that its constants lie in.
struct CompiledModel {
  CompiledProgram compiled;
  std::shared_ptr<const MappedFile> file;
};

/// Nothing when the file is no program file. Throws Error that names the file.
std::optional<CompiledModel> open_compiled(const std::filesystem::path& path);

/// The inputs and outputs of a Program.
std::vector<PortDescription> program_ports(const std::vector<Port>& ports);

/// What the contexts of a model share.
struct Model::State {
  State(const std::filesystem::path& path, Device opened, ModelOptions wanted);
  /// Of a program file.
  State(const std::filesystem::path& path, CompiledModel model, Device opened, ModelOptions wanted);

  /// The structure that serves these sizes: one made before (serves), or a new one. None when the model is
  /// no single Program (Flow).
  std::shared_ptr<const Structure> structure_for(const SymbolValues& sizes, double& milliseconds);
  std::optional<PlannedProgram> plan_for(const SymbolValues& sizes);

  std::optional<CompiledProgram> compiled;  // then there is nothing to plan
  Network network;
  Device device;
  ModelOptions options;
  std::shared_ptr<ResidentConstants> constants;
  std::shared_ptr<PartPlans> parts;
  std::atomic<bool> in_parts{false};  // found to be no single Program
  std::vector<PortDescription> inputs;
  std::once_flag outputs_known;
  std::vector<PortDescription> outputs;
  std::mutex mutex;  // of structures
  std::vector<std::shared_ptr<const Structure>> structures;
};

}  // namespace lapilli
