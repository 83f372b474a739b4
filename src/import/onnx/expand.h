#pragma once

#include "import/onnx/model.h"

namespace lapilli::onnx {

/// Replaces nodes whose results are as large as the data say by nodes of the domain "lapilli": one that makes the
/// result at its largest possible size together with its true size, and one that cuts it to that, where a part of the
/// model ends. Functions of the model have to be inlined before.
void expand_nodes(Model& model);

}  // namespace lapilli::onnx
