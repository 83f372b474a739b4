#pragma once

#include <span>
#include <vector>

#include "import/onnx/model.h"
#include "lapilli/tensor.h"

namespace lapilli::onnx {

/// Computes a node on the host; an input that is left out is undefined. Throws Error (unsupported) for an operator
/// that only the device runs.
std::vector<Tensor> evaluate_node(const Node& node, std::span<const Tensor> inputs);

}  // namespace lapilli::onnx
