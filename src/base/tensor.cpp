#include "lapilli/tensor.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <vector>

#include "base/checked.h"
#include "base/rethrow.h"
#include "base/text.h"

namespace lapilli {

std::int64_t element_count(std::span<const std::int64_t> shape) {
  std::int64_t count = 1;
  bool empty = false;
  for (const std::int64_t dimension : shape) {
    if (dimension < 0) fail(ErrorCode::invalid_argument, "negative dimension in shape {}", shape_text(shape));
    if (dimension == 0) {
      empty = true;
    } else {
      count = checked_multiply(count, dimension);
    }
  }
  return empty ? 0 : count;
}

std::size_t byte_count(DType dtype, std::int64_t count) {
  const std::int64_t bits = checked_multiply(count, static_cast<std::int64_t>(bit_width(dtype)));
  return static_cast<std::size_t>(divide_up(bits, std::int64_t{8}));
}

Tensor Tensor::allocate(DType dtype, std::vector<std::int64_t> shape) try {
  const std::int64_t count = lapilli::element_count(shape);
  if (dtype == DType::string)
    return of_strings(std::move(shape), std::vector<std::string>(static_cast<std::size_t>(count)));
  const std::size_t size = byte_count(dtype, count);
  // 64-bit words, so that elements of every type are aligned; at least one, so that no elements have an address too.
  const std::size_t words = std::max(divide_up(size, std::size_t{8}), std::size_t{1});
  auto storage = [&] {
    try {
      return std::make_shared<std::vector<std::uint64_t>>(words);
    } catch (const std::exception&) {  // bad_alloc, or length_error past all memory
      fail(ErrorCode::out_of_memory, "{}{} takes {} of host memory, and there is not so much", to_string(dtype),
           shape_text(shape), byte_text(size));
    }
  }();
  auto* data = reinterpret_cast<std::byte*>(storage->data());
  Tensor result = view(dtype, std::move(shape), {data, size}, std::move(storage));
  result.writable_ = data;
  return result;
} catch (...) {
  rethrow_as_error();
}

Tensor Tensor::view(DType dtype, std::vector<std::int64_t> shape, std::span<const std::byte> bytes,
                    std::shared_ptr<const void> owner) try {
  Tensor result;
  result.element_count_ = lapilli::element_count(shape);
  if (const std::size_t needed = byte_count(dtype, result.element_count_); needed != bytes.size()) {
    fail(ErrorCode::invalid_argument, "{} of shape {} takes {} bytes, but {} are given", to_string(dtype),
         shape_text(shape), needed, bytes.size());
  }
  result.dtype_ = dtype;
  result.shape_ = std::move(shape);
  result.bytes_ = bytes;
  result.owner_ = std::move(owner);
  return result;
} catch (...) {
  rethrow_as_error();
}

Tensor Tensor::of_strings(std::vector<std::int64_t> shape, std::vector<std::string> values) try {
  Tensor result;
  result.element_count_ = lapilli::element_count(shape);
  if (static_cast<std::size_t>(result.element_count_) != values.size()) {
    fail(ErrorCode::invalid_argument, "shape {} needs {} strings, but {} are given", shape_text(shape),
         result.element_count_, values.size());
  }
  result.dtype_ = DType::string;
  result.shape_ = std::move(shape);
  result.owner_ = std::make_shared<const std::vector<std::string>>(std::move(values));
  return result;
} catch (...) {
  rethrow_as_error();
}

std::span<std::byte> Tensor::mutable_bytes() {
  if (writable_ == nullptr) fail(ErrorCode::internal, "a tensor that does not own its elements cannot be written");
  return {writable_, bytes_.size()};
}

std::span<const std::string> Tensor::strings() const {
  if (dtype_ != DType::string) {
    fail(ErrorCode::invalid_argument, "the elements of a {} tensor are not strings", to_string(dtype_));
  }
  return *static_cast<const std::vector<std::string>*>(owner_.get());
}

Tensor Tensor::aligned() const try {
  const std::size_t size = bit_width(dtype_) / 8;
  if (size <= 1 || reinterpret_cast<std::uintptr_t>(bytes_.data()) % size == 0) return *this;
  Tensor copy = allocate(dtype_, shape_);
  std::ranges::copy(bytes_, copy.mutable_bytes().begin());
  return copy;
} catch (...) {
  rethrow_as_error();
}

Tensor Tensor::reshaped(std::vector<std::int64_t> shape) const try {
  if (lapilli::element_count(shape) != element_count_) {
    fail(ErrorCode::invalid_argument, "shape {} cannot become {}: the element counts differ", shape_text(shape_),
         shape_text(shape));
  }
  Tensor result = *this;
  result.shape_ = std::move(shape);
  return result;
} catch (...) {
  rethrow_as_error();
}

void Tensor::require_element_size(std::size_t size) const {
  if (bit_width(dtype_) != 8 * size) {
    fail(ErrorCode::invalid_argument, "the {} elements of shape {} were asked for as {} bytes each",
         to_string(dtype_), shape_text(shape_), size);
  }
  if (reinterpret_cast<std::uintptr_t>(bytes_.data()) % size != 0)
    fail(ErrorCode::internal, "the elements of a view are not aligned; Tensor::aligned() gives those that are");
}

}  // namespace lapilli
