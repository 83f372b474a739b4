#pragma once

#include <functional>
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
  Type::Kind kind = Type::Kind::tensor;
  bool ranked = true;  ///< the file tells the rank of the tensor
};

/// Inputs of a few integers may say shapes and axes, so their elements are symbols too, called "NAME[INDEX]". Nothing
/// for other inputs.
std::optional<std::vector<std::string>> element_symbols(const InputDescription& input);

/// The inputs that a caller has to give, in their order: those that have no initializer.
std::vector<InputDescription> describe_inputs(const Model& model);

/// Everything that keeps this version from running the model, a line each, all at once; empty when nothing does.
/// `runs` says which nodes can be run.
std::vector<std::string> find_unsupported(const Model& model, const std::function<bool(const Node&)>& runs);

}  // namespace lapilli::onnx
