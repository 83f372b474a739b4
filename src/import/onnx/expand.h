#pragma once

#include "import/onnx/model.h"

namespace lapilli::onnx {

/// Replaces nodes by others that each run in one place. One whose result is as large as the data say becomes nodes of
/// the domain "lapilli": one that makes the result at its largest possible size together with its true size, and one
/// that cuts it to that, where a part of the model ends. A classifier whose labels are strings becomes one that
/// numbers its classes, for the device, and a table of their names, for the host. Functions of the model have to be
/// inlined before.
void expand_nodes(Model& model);

}  // namespace lapilli::onnx
