#pragma once

#include "import/onnx/model.h"
#include "import/onnx/wire.h"

namespace lapilli::onnx {

/// How deep messages that contain themselves (graphs, types, sequences) may be nested.
constexpr int max_nesting = 64;

/// Throws Error (invalid_model) when `depth` is past max_nesting; `what` is the plural of what is nested.
void check_nesting(int depth, std::string_view what);

/// Reads a TypeProto that is nested `depth` deep in others. Throws Error (unsupported) for opaque types and element
/// types that Lapilli does not have.
Type read_type(MessageReader message, int depth = 0);

}  // namespace lapilli::onnx
