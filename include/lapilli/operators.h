#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lapilli {

/// An operator of ONNX that this version runs.
struct OperatorDescription {
  std::string domain;  ///< empty for ONNX's own
  std::string name;
  std::vector<std::int64_t> versions;  ///< opsets from which on it is read in another way, the first one first
  std::string runs_on;                 ///< "device", or "host" with the reason below
  std::string reason;
};

/// All operators, by domain and name.
std::vector<OperatorDescription> list_operators();

}  // namespace lapilli
