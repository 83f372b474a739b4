#pragma once

#include <filesystem>
#include <vector>

#include "import/onnx/model.h"
#include "lapilli/value.h"

namespace lapilli::conformance {

/// A value of the suite in its file, as the type that the model gives it. Throws Error
/// (unsupported, invalid_argument) for a map whose values are of several types or shapes.
Value read_data(const std::filesystem::path& path, const onnx::ValueInfo& info);

/// input_0.pb and so on in the folder, for the inputs that a caller of the model gives.
std::vector<Value> read_inputs(const onnx::Model& model, const std::filesystem::path& folder);

}  // namespace lapilli::conformance
