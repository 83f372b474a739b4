#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "lapilli/device.h"
#include "lapilli/precision.h"
#include "lapilli/tensor.h"
#include "lapilli/value.h"

namespace lapilli {

/// The sizes of named dimensions, such as {"batch", 8}.
using Sizes = std::map<std::string, std::int64_t, std::less<>>;

struct ModelOptions {
  Precision precision = Precision::float32;
  bool optimise = true;                               ///< rewrite the graph before it is planned
  std::set<std::string, std::less<>> disabled_rules;  ///< rewrite rules to leave out, by name
  bool strict = false;                                ///< refuse a model of which the host would run a node
  std::string variant;  ///< a kernel variant that runs wherever it can, by its name; empty for the best one
};

enum class PortKind : std::uint8_t { tensor, sequence, optional };

/// An input or output of a model. Dimensions are numbers, or expressions of named sizes such as "batch".
struct PortDescription {
  std::string name;
  DType dtype = DType::undefined;  ///< of tensors; undefined where only a run tells
  std::vector<std::string> shape;  ///< of tensors whose rank the model tells
  PortKind kind = PortKind::tensor;
};

/// What a plan costs, for one set of sizes.
struct PlanSummary {
  Sizes sizes;
  std::size_t dispatches = 0, barriers = 0, levels = 0, pipelines = 0;
  std::uint64_t arena_bytes = 0;
  std::uint64_t lower_bound_bytes = 0;  ///< the largest set of tensors that are alive together
  std::uint64_t unshared_bytes = 0;     ///< a buffer for each tensor
  std::uint64_t weight_bytes = 0;
  double structure_ms = 0;         ///< rewriting, fusion, choice of kernels; 0 when an earlier structure served
  double plan_ms = 0;              ///< numbers for these sizes
  std::vector<std::string> steps;  ///< one line a dispatch or barrier
};

/// A node of the graph as it is run.
struct NodeDescription {
  std::string operation;             ///< family and attributes
  std::vector<std::string> origins;  ///< the model's nodes that it does the work of
  std::vector<std::string> inputs, outputs;
  std::string runs_on;          ///< "device", "view" (no work), or "host"
  std::string reason;           ///< why the host runs it, or why it is not known yet how the device does; else empty
  std::int64_t operations = 0;  ///< multiplications and additions, for the given sizes
};

/// What is in a model file, without a device.
struct ModelDescription {
  std::string format;  ///< "ONNX, opset 17, from pytorch 2.1"
  std::vector<PortDescription> inputs, outputs;
  std::vector<NodeDescription> nodes;
  std::int64_t parameters = 0;  ///< elements of all weights
  std::uint64_t parameter_bytes = 0;
  std::int64_t operations = 0;  ///< multiplications and additions of one run
  Sizes sizes;                  ///< for which the counts hold
};

/// Reads a model and says what is in it. Named sizes that are not given are 1.
ModelDescription describe_model(const std::filesystem::path& path, const Sizes& sizes = {},
                                const ModelOptions& options = {});

/// A model on a device: weights are uploaded once and shared by all its contexts. A handle: copies are the same
/// model. Immutable for its users and thread-safe.
class Model {
 public:
  /// Reads an ONNX file. Throws Error that names the file and the node, and lists all that is unsupported at once.
  static Model load(const std::filesystem::path& path, const Device& device, const ModelOptions& options = {});

  [[nodiscard]] const std::vector<PortDescription>& inputs() const noexcept;
  [[nodiscard]] const std::vector<PortDescription>& outputs() const;
  [[nodiscard]] const Device& device() const noexcept;

  /// Plans for these sizes without running. Named sizes that are not given are 1.
  [[nodiscard]] PlanSummary plan(const Sizes& sizes = {}) const;

 private:
  friend class Context;
  struct State;
  explicit Model(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

/// Runs a model. It keeps memory and recorded commands for the sizes that it has run lately. For one thread at a
/// time; a thread each is how a model is shared.
class Context {
 public:
  explicit Context(const Model& model);
  Context(Context&&) noexcept;
  Context& operator=(Context&&) noexcept;
  ~Context();

  /// One run with inputs in the order of Model::inputs; results in the order of Model::outputs. Named sizes follow
  /// from the shapes. Throws Error (invalid_argument) that names the input and what is wrong with its type or shape.
  std::vector<Tensor> run(std::span<const Tensor> inputs);
  /// The same for models that take or give sequences and optionals.
  std::vector<Value> run(std::span<const Value> inputs);
  /// The same by name, all tensors.
  std::map<std::string, Tensor> run(const std::map<std::string, Tensor>& inputs);

  /// Time on the device of the last run in nanoseconds; nothing where the device has no clock.
  [[nodiscard]] std::optional<std::uint64_t> gpu_nanoseconds() const;

  /// Runs again `count` times with the last run's inputs already on the device: nanoseconds of each.
  std::vector<std::uint64_t> repeat(std::size_t count);

  /// One more run with each dispatch alone: nanoseconds and origin of each.
  struct DispatchTime {
    std::string origin, kernel;
    std::uint64_t nanoseconds = 0;
  };
  std::vector<DispatchTime> profile();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lapilli
