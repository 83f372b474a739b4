#include "flow/host_tensors.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>

#include "base/checked.h"
#include "base/failure.h"
#include "base/packed.h"
#include "base/text.h"

namespace lapilli {
namespace {

// Elements before an axis and after it.
struct Extent {
  std::int64_t outer = 1, inner = 1;
};

Extent extent_around(std::span<const std::int64_t> shape, std::size_t axis) {
  const auto product = [](auto part) {
    return std::accumulate(part.begin(), part.end(), std::int64_t{1}, std::multiplies());
  };
  return {product(shape.first(axis)), product(shape.subspan(axis + 1))};
}

// Copies `length` elements, from one place to another.
using Copy = std::function<void(const Tensor& source, std::int64_t from, std::int64_t to, std::int64_t length)>;

// Calls `fill` with what copies into a new tensor, and returns that.
Tensor make_tensor(DType dtype, std::vector<std::int64_t> shape, const std::function<void(const Copy&)>& fill) {
  if (dtype == DType::string) {
    std::vector<std::string> texts(static_cast<std::size_t>(element_count(shape)));
    fill([&](const Tensor& source, std::int64_t from, std::int64_t to, std::int64_t length) {
      std::ranges::copy_n(source.strings().begin() + from, length, texts.begin() + to);
    });
    return Tensor::of_strings(std::move(shape), std::move(texts));
  }
  Tensor result = Tensor::allocate(is_packed(dtype) ? DType::uint8 : dtype, std::move(shape));
  const std::span<std::byte> bytes = result.mutable_bytes();
  const std::size_t size = device_element_bytes(dtype);
  fill([&](const Tensor& source, std::int64_t from, std::int64_t to, std::int64_t length) {
    const Tensor elements = unpacked_tensor(source);
    const std::size_t count = size * static_cast<std::size_t>(length);
    if (count != 0) {
      std::memcpy(bytes.data() + size * static_cast<std::size_t>(to),
                  elements.bytes().data() + size * static_cast<std::size_t>(from), count);
    }
  });
  return packed_tensor(dtype, result);
}

}  // namespace

std::size_t axis_of(std::int64_t axis, std::size_t rank) {
  const auto size = static_cast<std::int64_t>(rank);
  if (axis < -size || axis >= size) {
    fail(ErrorCode::invalid_model, "axis {} is not within -{} and {}", axis, size, size - 1);
  }
  return static_cast<std::size_t>(axis < 0 ? axis + size : axis);
}

Tensor join_tensors(std::span<const Tensor> tensors, std::int64_t axis, bool new_axis) {
  if (tensors.empty()) fail(ErrorCode::invalid_model, "a sequence without elements has no type to join");
  std::vector<std::int64_t> shape = tensors.front().shape();
  const std::size_t at = axis_of(axis, shape.size() + (new_axis ? 1 : 0));
  if (new_axis) {
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(at), 0);
  } else {
    shape[at] = 0;
  }
  for (const Tensor& tensor : tensors) {
    std::vector<std::int64_t> other = tensor.shape();
    if (new_axis && other.size() + 1 == shape.size())
      other.insert(other.begin() + static_cast<std::ptrdiff_t>(at), 1);
    const std::int64_t size = other.size() == shape.size() ? other[at] : 0;
    if (other.size() == shape.size()) other[at] = shape[at];
    if (other != shape || tensor.dtype() != tensors.front().dtype()) {
      fail(ErrorCode::invalid_model, "{}{} cannot be joined along axis {} with {}{}", to_string(tensor.dtype()),
           shape_text(tensor.shape()), at, to_string(tensors.front().dtype()), shape_text(tensors.front().shape()));
    }
    shape[at] = checked_add(shape[at], size);
  }
  const Extent extent = extent_around(shape, at);
  return make_tensor(tensors.front().dtype(), shape, [&](const Copy& copy) {
    std::int64_t begin = 0;
    for (const Tensor& tensor : tensors) {
      const std::int64_t length = (new_axis ? 1 : tensor.shape()[at]) * extent.inner;
      for (std::int64_t i = 0; i < extent.outer; ++i)
        copy(tensor, i * length, i * shape[at] * extent.inner + begin, length);
      begin += length;
    }
  });
}

Tensor cut_tensor(const Tensor& tensor, std::size_t axis, std::int64_t first, std::int64_t size) {
  std::vector<std::int64_t> shape = tensor.shape();
  const std::int64_t whole = shape.at(axis);
  shape[axis] = size;
  const Extent extent = extent_around(shape, axis);
  return make_tensor(tensor.dtype(), shape, [&](const Copy& copy) {
    for (std::int64_t i = 0; i < extent.outer; ++i) {
      copy(tensor, (i * whole + first) * extent.inner, i * size * extent.inner, size * extent.inner);
    }
  });
}

}  // namespace lapilli
