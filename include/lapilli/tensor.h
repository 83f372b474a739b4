#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lapilli/dtype.h"

namespace lapilli {

/// The number of elements of a shape. Throws Error (limit_exceeded) when the product does not fit in 63 bits and
/// Error (invalid_argument) when a dimension is negative.
std::int64_t element_count(std::span<const std::int64_t> shape);

/// The bytes that `count` elements take; those of fewer than 8 bits are packed without gaps.
std::size_t byte_count(DType dtype, std::int64_t count);

/// A dense row-major tensor in host memory.
///
/// A Tensor is a handle: copies share the elements, which are never changed once they are shared. `mutable_bytes`
/// serves the one who has just allocated it. Elements may lie in memory that belongs to something else, such as a
/// mapped file, which the tensor keeps alive. Reading from several threads is safe.
class Tensor {
 public:
  /// An undefined tensor, which stands for "not there".
  Tensor() = default;

  /// New elements, all zero (empty text for string).
  static Tensor allocate(DType dtype, std::vector<std::int64_t> shape);

  /// Elements that live in `bytes`, kept alive by `owner`. `bytes` has exactly the size that dtype and shape need.
  static Tensor view(DType dtype, std::vector<std::int64_t> shape, std::span<const std::byte> bytes,
                     std::shared_ptr<const void> owner);

  /// A string tensor; the number of values is the number of elements of `shape`.
  static Tensor of_strings(std::vector<std::int64_t> shape, std::vector<std::string> values);

  /// A copy of `values`, whose C++ type must be the one that stores `dtype` (element_type below).
  template <class T>
  static Tensor of(DType dtype, std::vector<std::int64_t> shape, std::span<const T> values);

  [[nodiscard]] DType dtype() const noexcept { return dtype_; }
  [[nodiscard]] const std::vector<std::int64_t>& shape() const noexcept { return shape_; }
  [[nodiscard]] std::int64_t element_count() const noexcept { return element_count_; }
  [[nodiscard]] bool defined() const noexcept { return dtype_ != DType::undefined; }

  /// Row-major elements, little endian, packed where they have fewer than 8 bits. Empty for string tensors.
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }

  /// For the one who allocated the tensor and has not given it away. Throws Error (internal) for a view.
  [[nodiscard]] std::span<std::byte> mutable_bytes();
  /// Whether this handle allocated the elements and no other handle shares them.
  [[nodiscard]] bool sole_owner() const noexcept { return writable_ != nullptr && owner_.use_count() == 1; }

  /// This tensor, or a copy of it where the elements are not aligned for their type: views into a file may lie at any
  /// byte. Call it before `elements` on a tensor that came from a file.
  [[nodiscard]] Tensor aligned() const;

  /// Elements as T. Throws Error (invalid_argument) when T is not what stores dtype(), and Error (internal) when they
  /// are not aligned.
  template <class T>
  [[nodiscard]] std::span<const T> elements() const;
  template <class T>
  [[nodiscard]] std::span<T> mutable_elements();

  /// Elements of a string tensor.
  [[nodiscard]] std::span<const std::string> strings() const;

  /// The same elements under another shape of the same element count.
  [[nodiscard]] Tensor reshaped(std::vector<std::int64_t> shape) const;

 private:
  void require_element_size(std::size_t size) const;

  DType dtype_ = DType::undefined;
  std::vector<std::int64_t> shape_;
  std::int64_t element_count_ = 0;
  std::span<const std::byte> bytes_;
  std::shared_ptr<const void> owner_;
  std::byte* writable_ = nullptr;
};

template <class T>
std::span<const T> Tensor::elements() const {
  require_element_size(sizeof(T));
  return {reinterpret_cast<const T*>(bytes_.data()), bytes_.size() / sizeof(T)};
}

template <class T>
std::span<T> Tensor::mutable_elements() {
  require_element_size(sizeof(T));
  const std::span<std::byte> bytes = mutable_bytes();
  return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
}

template <class T>
Tensor Tensor::of(DType dtype, std::vector<std::int64_t> shape, std::span<const T> values) {
  Tensor result = allocate(dtype, std::move(shape));
  const std::span<T> elements = result.mutable_elements<T>();
  if (elements.size() != values.size()) result.require_element_size(0);
  for (std::size_t i = 0; i < values.size(); ++i) elements[i] = values[i];
  return result;
}

}  // namespace lapilli
