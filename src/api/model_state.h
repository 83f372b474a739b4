#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "api/network.h"
#include "lapilli/model.h"
#include "plan/build.h"
#include "plan/instantiate.h"
#include "run/executor.h"
#include "run/resident_constants.h"

namespace lapilli {

struct PlannedProgram {
  InstantiatedProgram instantiated;
  SymbolValues sizes;  ///< those that the program depends on
  double structure_ms = 0, plan_ms = 0;
};

std::vector<std::string> dimension_texts(std::span<const Dim> shape);

/// What the contexts of a model share.
struct Model::State {
  State(const std::filesystem::path& path, Device opened, ModelOptions wanted);

  /// The structure that serves these sizes: one made before whose guards hold, or a new one.
  std::shared_ptr<const Structure> structure_for(const SymbolValues& sizes, double& milliseconds);
  PlannedProgram plan_for(const SymbolValues& sizes);

  Network network;
  Device device;
  ModelOptions options;
  std::shared_ptr<ResidentConstants> constants;
  std::vector<PortDescription> inputs;
  std::once_flag outputs_known;
  std::vector<PortDescription> outputs;
  std::mutex mutex;  // of structures
  std::vector<std::shared_ptr<const Structure>> structures;
};

}  // namespace lapilli
