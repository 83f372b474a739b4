#pragma once

#include "import/onnx/model.h"

namespace lapilli::onnx {

/// Checks that names add up: every value has one producer, every value that is read has one that comes before, in the
/// same graph or one around it, and attributes refer only to attributes of the function that they are in.
/// Throws Error (invalid_model) that names node and value. A subgraph may define a name that a graph around it has
/// too (it then means its own), but not after it has read the outer one.
void validate(const Model& model);

}  // namespace lapilli::onnx
