#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lapilli/dtype.h"

namespace lapilli {

/// An operator of ONNX that this version runs.
struct OperatorDescription {
  std::string domain;  ///< empty for ONNX's own
  std::string name;
  std::vector<std::int64_t> versions;  ///< opsets from which on it is read in another way, the first one first
  std::string runs_on;                 ///< "device", or "host" with the reason below
  std::string reason;
  /// What each input may be over all versions; the last entry serves all inputs that follow. Empty: anything.
  std::vector<std::vector<DType>> input_types;
};

/// Element types under one name, as "floats".
struct TypeGroup {
  std::string name;
  std::vector<DType> types;
};

/// Names for the larger lists in OperatorDescription::input_types.
std::vector<TypeGroup> list_type_groups();

/// All operators, by domain and name.
std::vector<OperatorDescription> list_operators();

}  // namespace lapilli
