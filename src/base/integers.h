#pragma once

#include <cstdint>
#include <cstring>

#include "lapilli/tensor.h"

namespace lapilli {

/// An element of an int32 or int64 tensor, which may lie at any byte.
inline std::int64_t integer_at(const Tensor& tensor, std::size_t index) noexcept {
  const auto read = [&]<class Stored>(Stored element) -> std::int64_t {
    std::memcpy(&element, tensor.bytes().data() + index * sizeof(Stored), sizeof(Stored));
    return element;
  };
  return tensor.dtype() == DType::int64 ? read(std::int64_t{}) : read(std::int32_t{});
}

}  // namespace lapilli
