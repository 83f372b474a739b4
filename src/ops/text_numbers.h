#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lapilli/tensor.h"

namespace lapilli {

/// Strings as integers, so that what compares or scatters elements needs no code of its own for strings: equal
/// strings have equal numbers, and the empty one is 0.
class TextNumbers {
 public:
  /// int64 of the same shape. The strings have to live as long as this object.
  Tensor encode(const Tensor& strings);
  /// The strings of what `encode` gave.
  [[nodiscard]] Tensor decode(const Tensor& numbers) const;

 private:
  std::unordered_map<std::string_view, std::int64_t> numbers_{{"", 0}};
  std::vector<std::string_view> strings_{""};
};

}  // namespace lapilli
