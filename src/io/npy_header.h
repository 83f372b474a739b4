#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lapilli {

/// What the header of a .npy file says.
struct NpyHeader {
  std::string type;  ///< such as "<f4"
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

/// Parses the literal of a Python dictionary that the header is. Throws Error: invalid_argument, unsupported.
NpyHeader parse_npy_header(std::string_view text);

}  // namespace lapilli
