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

/// Replaces nodes by those that they stand for, some of the domain "lapilli". A node whose result is as large as the
/// data say becomes one that makes the result at its largest possible size together with its true size, and one that
/// cuts it to that, where a part of the model ends. Functions of the model have to be inlined before.
void expand_nodes(Model& model);

}  // namespace lapilli::onnx
