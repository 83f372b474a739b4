#pragma once

#include "import/onnx/operators/node_builder.h"

namespace lapilli::onnx {

/// The product of MatMul. One-dimensional operands are a row on the left and a column on the right; the axis goes
/// away again.
ValueId matrix_product(NodeBuilder& node, ValueId left, ValueId right);

/// The convolution that the node's attributes describe, without bias. `x` and `weights` have the shapes of the node's
/// own.
ValueId convolution(NodeBuilder& node, ValueId x, ValueId weights);

}  // namespace lapilli::onnx
