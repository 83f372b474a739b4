#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "import/onnx/graph/import.h"
#include "ir/graph.h"
#include "lapilli/model.h"
#include "lapilli/value.h"
#include "passes/rewrite.h"
#include "program/program_file.h"

namespace lapilli {

/// A model file that is read, whatever its format: it builds the graph for any sizes. Immutable and thread-safe.
class Network {
 public:
  /// Values named in `keep` become outputs behind the model's own.
  explicit Network(const std::filesystem::path& path, std::span<const std::string> keep = {});
  /// What a program file says of its inputs and outputs. There is nothing to build.
  Network(const std::filesystem::path& path, const CompiledProgram& compiled);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const std::string& format() const noexcept { return format_; }
  [[nodiscard]] const std::vector<onnx::InputDescription>& inputs() const noexcept { return inputs_; }
  [[nodiscard]] const std::vector<std::string>& output_names() const noexcept { return output_names_; }

  /// `given` and, for every other named size of the inputs, 1, or what it was compiled for. Throws Error
  /// (invalid_argument) for a name that no input has, for a negative dimension, and for one that it was not compiled
  /// for.
  [[nodiscard]] SymbolValues complete_sizes(const Sizes& given) const;
  /// The sizes that these inputs, all tensors, have. Throws Error (invalid_argument) that names the input which does
  /// not fit, or the size that it was not compiled for.
  [[nodiscard]] SymbolValues sizes_of(std::span<const Tensor> inputs) const;
  /// Whether elements of the inputs, where they count among `sizes`, are what those say. The inputs have the types
  /// and shapes that the model takes.
  [[nodiscard]] bool elements_agree(std::span<const Tensor> inputs, const SymbolValues& sizes) const;
  /// Whether some of `sizes` are elements of inputs.
  [[nodiscard]] bool names_elements(const SymbolValues& sizes) const;
  /// Throws Error (invalid_argument) where values are not of the kinds and types that the inputs take.
  void check_inputs(std::span<const Value> inputs) const;

  struct Built {
    Graph graph;
    RewriteReport rewrites;
  };
  /// Nothing when the model is no single graph for the device: sizes depend on data, or the host has a part in it.
  [[nodiscard]] std::optional<Built> build(Assumptions& assumptions, const ModelOptions& options) const;

  /// Whether its inputs and nodes let it be one graph for the device at all; only `build` knows whether it is.
  [[nodiscard]] bool may_be_one_graph() const noexcept { return may_be_one_graph_; }

  /// Throws Error (unsupported) that names every node which the host runs, with the reason.
  void require_device_only() const;

  /// What the file says, functions inlined.
  [[nodiscard]] const onnx::Model& model() const noexcept { return model_; }

 private:
  void require_compiled_sizes(const SymbolValues& sizes) const;

  std::string path_;
  onnx::Model model_;
  std::string format_;
  std::vector<onnx::InputDescription> inputs_;
  std::vector<std::string> output_names_;
  bool may_be_one_graph_ = true;
  std::vector<std::vector<std::string>> element_symbols_;  // of each input
  SymbolValues compiled_sizes_;                            ///< of a program file: the only ones that it has
};

}  // namespace lapilli
