#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lapilli {

/// Elements between neighbours along each axis of a row-major tensor.
std::vector<std::int64_t> row_major_strides(std::span<const std::int64_t> sizes);

/// The offset of an index in a tensor with these strides.
std::int64_t offset_of(std::span<const std::int64_t> index, std::span<const std::int64_t> strides);

/// Steps to the next index in row-major order; false after the last one, with the index back at zero.
bool next_index(std::span<std::int64_t> index, std::span<const std::int64_t> sizes);

}  // namespace lapilli
