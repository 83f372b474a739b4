#pragma once

#include "import/onnx/model.h"

namespace lapilli::onnx {

/// Replaces every node that calls one of the model's functions by the nodes of that function, in subgraphs and in
/// functions too, until none is left; `model.functions` is empty afterwards.
///
/// Values and nodes inside are renamed to begin with the calling node's name and "/". Attributes that refer to the
/// calling node's get its value, or the function's default, or are dropped when there is neither. Each node keeps the
/// opset version that its function imports. The model is valid (validate.h) before and after.
///
/// Throws Error (invalid_model) for functions that call each other in a circle, for calls that do not fit the
/// function, and for expansions out of all proportion to the model.
void inline_functions(Model& model);

}  // namespace lapilli::onnx
