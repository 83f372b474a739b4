#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lapilli/tensor.h"

namespace lapilli {

/// Finds labels of any type in a list of them. Of labels that are there twice the last one counts.
class LabelTable {
 public:
  static constexpr std::size_t missing = static_cast<std::size_t>(-1);

  explicit LabelTable(Tensor labels);

  /// Where in the list each element of a tensor is; `missing` for those that are not in it. Numbers are found among
  /// numbers of any type. Throws Error (invalid_model) when one side is strings and the other is not.
  [[nodiscard]] std::vector<std::size_t> find(const Tensor& tensor) const;

 private:
  Tensor labels_;
  std::map<std::string_view, std::size_t> texts_;
  std::map<std::int64_t, std::size_t> integers_;
  std::map<std::uint64_t, std::size_t> reals_;  // by their bits
};

}  // namespace lapilli
