#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "lapilli/tensor.h"

/// NumPy's text: elements of one length in code points of four bytes, filled up with zeros.
namespace lapilli {

/// The code points of an element where the type, without its byte order, is text such as "U5"; else nothing.
std::optional<std::size_t> npy_text_length(std::string_view code);

/// Strings (UTF-8) from elements of `length` code points, little endian. Throws Error (invalid_argument) for numbers
/// that are no code points.
Tensor texts_from_npy(std::span<const std::byte> elements, std::size_t length, std::vector<std::int64_t> shape);

struct NpyTexts {
  std::size_t length = 0;  ///< code points of an element
  std::vector<std::byte> elements;
};

/// The elements of a string tensor. Throws Error: invalid_argument for strings that are not UTF-8, limit_exceeded
/// past 1 GiB.
NpyTexts texts_for_npy(const Tensor& texts);

}  // namespace lapilli
