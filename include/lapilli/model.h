#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "lapilli/device.h"
#include "lapilli/image_decoder.h"
#include "lapilli/precision.h"
#include "lapilli/tensor.h"
#include "lapilli/value.h"

namespace lapilli {

class Executor;

/// The sizes of named dimensions, such as {"batch", 8}.
using Sizes = std::map<std::string, std::int64_t, std::less<>>;

struct ModelOptions {
  Precision precision = Precision::float32;
  bool optimise = true;                               ///< rewrite the graph before it is planned
  std::set<std::string, std::less<>> disabled_rules;  ///< rewrite rules to leave out, by name
  bool strict = false;                                ///< refuse a model of which the host would run a node
  /// Values inside the model, by their names, that come out behind its own outputs, whatever would be fused around
  /// them.
  std::vector<std::string> keep;
  std::string variant;        ///< a kernel variant that runs wherever it can, by its name; empty for the best one
  ImageDecoder decode_image;  ///< for models that decode pictures; src/vision has one
};

enum class PortKind : std::uint8_t { tensor, sequence, optional, map };

/// An input or output of a model. Dimensions are numbers, or expressions of named sizes such as "batch".
struct PortDescription {
  std::string name;
  DType dtype = DType::undefined;  ///< of tensors and of the keys of maps; undefined where only a run tells
  std::vector<std::string> shape;  ///< of tensors whose rank the model tells
  PortKind kind = PortKind::tensor;
};

/// A tensor in the memory of intermediate results, while levels `first_level` to `last_level` run.
struct MemoryBlock {
  std::string name;  ///< the model's; empty for what only a node needs
  std::uint64_t offset = 0, size = 0;
  std::uint32_t first_level = 0, last_level = 0;
};

/// What a plan costs, for one set of sizes.
struct PlanSummary {
  Sizes sizes;
  std::size_t parts = 1;  ///< that a run goes through; a loop's count as often as it turns
  std::size_t dispatches = 0, barriers = 0, levels = 0, pipelines = 0;
  std::size_t new_pipelines = 0;  ///< of these, those that the device has not made yet
  std::uint64_t arena_bytes = 0;
  std::uint64_t lower_bound_bytes = 0;  ///< the largest set of tensors that are alive together
  std::uint64_t unshared_bytes = 0;     ///< a buffer for each tensor
  std::uint64_t weight_bytes = 0;
  double structure_ms = 0;         ///< rewriting, fusion, choice of kernels; 0 when an earlier structure served
  double plan_ms = 0;              ///< numbers for these sizes
  std::vector<std::string> steps;  ///< one line a dispatch or barrier
  std::vector<MemoryBlock> memory;
};

/// A node of the graph as it is run; of a program file, a dispatch, without its values and operations.
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
  std::string format;  ///< "ONNX, opset 17, from pytorch 2.1", or what a program file was compiled for and from
  std::vector<PortDescription> inputs, outputs;
  std::vector<NodeDescription> nodes;
  std::int64_t parameters = 0;  ///< elements of all weights
  std::uint64_t parameter_bytes = 0;
  std::int64_t operations = 0;  ///< multiplications and additions of one run; 0 for a program file
  Sizes sizes;                  ///< for which the counts hold
};

/// Reads a model or a program file and says what is in it. Named sizes that are not given are 1.
ModelDescription describe_model(const std::filesystem::path& path, const Sizes& sizes = {},
                                const ModelOptions& options = {});

/// A model on a device: weights are uploaded once and shared by all its contexts. A handle: copies are the same
/// model. Immutable for its users and thread-safe.
class Model {
 public:
  /// Reads an ONNX file, or a program file that `compile` wrote, which takes no planning and serves one set of sizes.
  /// Throws Error that names the file and the node, and lists all that is unsupported at once, or all that this
  /// device lacks of what a program file needs. Of `options`, a program file takes the precision that it was compiled
  /// with; it is an Error (invalid_argument) to ask it for what had to be said to `compile`: float16 where it is
  /// float32, values to keep, a variant, rules.
  ///
  /// Any file may be given: a damaged one is an Error. But a program file says what kernels of this library do with
  /// the memory of the device, and not all of that can be checked: take it from where you would take shaders.
  static Model load(const std::filesystem::path& path, const Device& device, const ModelOptions& options = {});

  [[nodiscard]] const std::vector<PortDescription>& inputs() const noexcept;
  [[nodiscard]] const std::vector<PortDescription>& outputs() const;
  /// Known without a plan.
  [[nodiscard]] const std::vector<std::string>& output_names() const noexcept;
  [[nodiscard]] const Device& device() const noexcept;
  [[nodiscard]] Precision precision() const noexcept;

  /// Plans for these sizes without running. Named sizes that are not given are 1.
  [[nodiscard]] PlanSummary plan(const Sizes& sizes = {}) const;

  /// Writes the plan for these sizes with all weights to a file that `load` takes, on this device and on those that
  /// have what it counts on: no planning is left, and no conversion of weights. Named sizes that are not given are 1.
  /// The file is there as a whole or not at all. It serves this version of Lapilli alone. Throws Error (unsupported)
  /// for a model that runs in parts, and (input_output) where the file cannot be written.
  void compile(const Sizes& sizes, const std::filesystem::path& path) const;

  /// Whether it is no single plan for these sizes: sizes depend on its data, or the host has a part in it. It is then
  /// planned part by part while it runs.
  [[nodiscard]] bool runs_in_parts(const Sizes& sizes = {}) const;

  /// Device memory that its weights take now. They are uploaded when a plan first needs them.
  [[nodiscard]] std::uint64_t weight_bytes() const;
  /// Gives up the plans that contexts could share later, and the weights that no context holds a plan for. What is
  /// needed again is made again.
  void trim() const;

 private:
  friend class Context;
  struct State;
  explicit Model(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

/// A run under way, or its results. It keeps what it needs, whatever becomes of context and model. For the thread
/// that has its context; one that is dropped ends by itself.
class Run {
 public:
  Run(Run&& other) noexcept;
  Run& operator=(Run&& other) noexcept;
  ~Run();

  /// Whether the results are there; never waits. Throws Error (device_lost), as the others do.
  [[nodiscard]] bool done() const;
  /// Waits for `limit` at most, and says whether the results are there.
  [[nodiscard]] bool wait_for(std::chrono::nanoseconds limit) const;
  void wait() const;

  /// The results, in the order of Model::outputs, once: waits for them.
  [[nodiscard]] std::vector<Tensor> results();
  /// The same into `outputs`, one each, as Context::run does.
  void results(std::span<Tensor> outputs);

 private:
  friend class Context;
  Run(std::shared_ptr<Executor> executor, std::uint64_t ticket);
  explicit Run(std::vector<Tensor> results);

  std::shared_ptr<Executor> executor_;  // none: results_ are there
  std::uint64_t ticket_ = 0;
  std::vector<Tensor> results_;
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
  /// The same into `outputs`, one each. One that has the right type and shape, and elements that no other handle
  /// shares, keeps its memory; the others, such as undefined ones, are replaced. When all keep theirs and the sizes
  /// are those of the run before, nothing is allocated.
  void run(std::span<const Tensor> inputs, std::span<Tensor> outputs);
  /// Starts a run and returns; results of one can be read while the next ones run. At most 8 are under way at once.
  /// A model that runs in parts (its sizes depend on data, or the host has a part in it) is done when this returns.
  [[nodiscard]] Run submit(std::span<const Tensor> inputs);
  /// The same without a copy: `fill` writes the elements of input `index`, dense and row-major, where the device
  /// reads them. That memory may be slow to read, so write it in order; what `fill` throws is passed on, and nothing
  /// runs. Named sizes that are not given are 1. Throws Error (unsupported) for a model that runs in parts, and for
  /// one whose sizes depend on the elements of inputs, which have to be given as tensors.
  using FillInput = std::function<void(std::size_t index, std::span<std::byte> elements)>;
  [[nodiscard]] Run submit(const Sizes& sizes, const FillInput& fill);
  /// The same for models that take or give sequences, optionals and maps.
  std::vector<Value> run(std::span<const Value> inputs);
  /// The same by name, all tensors.
  std::map<std::string, Tensor> run(const std::map<std::string, Tensor>& inputs);

  /// Plans, compiles, takes memory and records for these sizes, so that the first run with them is as fast as any.
  /// Named sizes that are not given are 1. A model that runs in parts finds out what to prepare when it runs.
  void prepare(const Sizes& sizes = {});

  /// Gives up all plans and their memory; what is needed again is made again.
  void trim();
  struct Memory {
    std::size_t plans = 0;
    std::uint64_t bytes = 0;  ///< on the device, without weights
  };
  [[nodiscard]] Memory memory() const;

  /// What the last run did. For a model that runs in parts, dispatches, barriers and levels of all of them, and the
  /// memory of each different part once.
  [[nodiscard]] PlanSummary last_plan() const;

  /// Time on the device of the last run in nanoseconds, the sum of its parts; nothing where the device has no clock.
  [[nodiscard]] std::optional<std::uint64_t> gpu_nanoseconds() const;

  /// The same for each submission that DeviceOptions::longest_submit cut the last run into; empty where the device
  /// has no clock, and for a model that runs in parts.
  [[nodiscard]] std::vector<std::uint64_t> submit_nanoseconds() const;

  /// Runs again `count` times with the last run's inputs, which are on the device already unless the model runs in
  /// parts: nanoseconds of each on the device, or on the host's clock where that has none.
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
