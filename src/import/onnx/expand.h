#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "import/onnx/model.h"
#include "import/onnx/operators/types.h"

namespace lapilli::onnx {

/// An operator that stands for others.
struct ExpandedOperator {
  std::string_view name;
  std::int64_t since;  ///< the first opset that has it
  InputTypes types;    ///< those of the operators that it stands for are checked
  std::string_view domain;
};

std::vector<ExpandedOperator> expanded_operators();

/// Replaces nodes by others that each run in one place. One whose result is as large as the data say becomes nodes of
/// the domain "lapilli": one that makes the result at its largest possible size together with its true size, and one
/// that cuts it to that, where a part of the model ends. A classifier whose labels are strings becomes one that
/// numbers its classes, for the device, and a table of their names, for the host. Functions of the model have to be
/// inlined before.
void expand_nodes(Model& model);

}  // namespace lapilli::onnx
