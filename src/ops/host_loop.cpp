#include "ops/host_loop.h"

namespace lapilli {

std::vector<std::int64_t> row_major_strides(std::span<const std::int64_t> sizes) {
  std::vector<std::int64_t> strides(sizes.size(), 1);
  for (std::size_t i = sizes.size(); i-- > 1;) strides[i - 1] = strides[i] * sizes[i];
  return strides;
}

std::int64_t offset_of(std::span<const std::int64_t> index, std::span<const std::int64_t> strides) {
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < index.size(); ++i) offset += index[i] * strides[i];
  return offset;
}

bool next_index(std::span<std::int64_t> index, std::span<const std::int64_t> sizes) {
  for (std::size_t i = index.size(); i-- > 0;) {
    if (++index[i] < sizes[i]) return true;
    index[i] = 0;
  }
  return false;
}

}  // namespace lapilli
