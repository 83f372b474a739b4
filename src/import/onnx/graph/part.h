#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "import/onnx/model.h"
#include "import/onnx/operators/node_builder.h"
#include "ir/graph.h"

namespace lapilli::onnx {

/// A graph of the file from one of its nodes on, as far as a lapilli::Graph can be made of it.
struct PartRequest {
  const Graph& graph;
  std::span<const Graph* const> around;  ///< the graphs that it lies in, from the inside out
  std::size_t first = 0;                 ///< the node to begin with
  /// Inputs of the result that are there whether a node reads them or not, and come first.
  std::span<const std::string> inputs;
  /// What is known of a value from outside, asked once for each; nothing where it is no tensor of numbers. A constant
  /// becomes part of the result, all else becomes an input.
  std::function<std::optional<Fact>(const std::string& name)> outside;
};

struct Part {
  lapilli::Graph graph;
  std::size_t end = 0;  ///< the first node that is not in it; PartRequest::first when there is nothing in it
  std::vector<std::string> inputs;
  /// All outputs of the file's graph when its last node is in the part, else what later nodes and the file's outputs
  /// need of it.
  std::vector<std::string> outputs;
};

/// Builds nodes one after the other. It ends before a node that only the host runs, before one that needs elements
/// which this part computes, and before values that are no tensors of numbers. `assumptions` knows the sizes of all
/// symbols. Throws UnknownElements, and Error that names the node.
Part build_part(const PartRequest& request, Assumptions& assumptions);

/// The graph of a model whose functions are inlined, from its first node on: with all inputs of describe_inputs, in
/// their order, and where no node is missing with all outputs. `assumptions` knows the sizes of all their symbols.
/// Throws as build_part does.
Part build_model(const Model& model, Assumptions& assumptions);

/// Throws Error (invalid_model) where a graph's output that is a tensor of `type` is declared to have another type.
void require_declared(const ValueInfo& output, DType type);

/// Whether a node may be in a part at all: there is an operator for it, and it is not the host's.
bool runs_on_device(const Node& node);

}  // namespace lapilli::onnx
