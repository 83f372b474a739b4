#pragma once

#include "import/onnx/operators/node_builder.h"
#include "ops/random.h"

namespace lapilli::onnx {

/// Random numbers by the node's own seed; where it has none, by a fixed one and the name of its first output, so that
/// no two nodes of a model draw the same.
ValueId random_numbers(NodeBuilder& node, RandomAttributes attributes);

/// float32 numbers from 0 up to but not including 1.
ValueId uniform_numbers(NodeBuilder& node, Shape shape);

}  // namespace lapilli::onnx
