#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "import/onnx/model.h"
#include "ir/graph.h"

namespace lapilli::onnx {

/// What an input looks like from outside: dimensions that are not numbers are symbols, those without a name in the
/// file are called "NAME.AXIS".
struct InputDescription {
  std::string name;
  DType dtype = DType::undefined;
  Shape shape;
};

/// Inputs of a few integers may say shapes and axes, so their elements are symbols too, called "NAME[INDEX]". Nothing
/// for other inputs.
std::optional<std::vector<std::string>> element_symbols(const InputDescription& input);

/// The inputs that a caller has to give, in their order: those that have no initializer.
/// Throws Error (unsupported) for an input that is no tensor or whose rank the file does not tell.
std::vector<InputDescription> describe_inputs(const Model& model);

/// Everything that keeps this version from running the model, a line each, all at once; empty when nothing does.
std::vector<std::string> find_unsupported(const Model& model);

/// Builds the graph of a model whose functions are inlined. `assumptions` knows the sizes of all symbols of the
/// inputs. Throws Error that names the node.
lapilli::Graph build_graph(const Model& model, Assumptions& assumptions);

}  // namespace lapilli::onnx
