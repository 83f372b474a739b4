#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "lapilli/tensor.h"

/// NumPy's format for one array: a text header with type, order and shape, and the elements.
namespace lapilli {

/// Reads an array of numbers, bool or text. Arrays of the other byte order or in Fortran's order are turned;
/// otherwise the tensor is a view of `file`, kept alive by `owner`, whose elements may lie at any byte. Throws Error:
/// invalid_argument when the bytes are not a whole .npy file, unsupported for objects and records.
Tensor read_npy(std::span<const std::byte> file, std::shared_ptr<const void> owner);

/// The file's content. NumPy lacks some types, which become those that hold all their values, one element after the
/// other: bfloat16 and floats of 8 bits and fewer become float32, integers of 4 and 2 bits become int8 or uint8.
/// Strings have to be UTF-8.
std::vector<std::byte> write_npy(const Tensor& tensor);

/// What write_npy made of a type that NumPy lacks, as that type again; other tensors as they are. Numbers that the
/// type does not have are rounded. Throws Error (invalid_argument) for integers past its range.
Tensor restored_from_numpy(const Tensor& tensor, DType dtype);

}  // namespace lapilli
