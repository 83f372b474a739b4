#include <algorithm>

#include "base/checked.h"
#include "base/packed.h"
#include "base/text.h"
#include "import/onnx/model.h"
#include "import/onnx/tensor_reader.h"

namespace lapilli::onnx {
namespace {

struct SparseParts {
  NamedTensor values;
  Tensor indices;
  std::vector<std::int64_t> dims;
};

/// The row-major position that entry `i` of the indices names.
std::int64_t position_of(const SparseParts& parts, std::span<const std::int64_t> indices, std::size_t i,
                         std::int64_t count) {
  const std::size_t rank = parts.dims.size();
  std::int64_t position = 0;
  if (parts.indices.shape().size() == 1) {
    position = indices[i];
  } else {
    for (std::size_t axis = 0; axis < rank; ++axis) {
      const std::int64_t index = indices[i * rank + axis];
      if (index < 0 || index >= parts.dims[axis]) {
        fail(ErrorCode::invalid_model, "sparse index {} is outside dimension {} of shape {}", index, axis,
             shape_text(parts.dims));
      }
      position = position * parts.dims[axis] + index;
    }
  }
  if (position < 0 || position >= count) {
    fail(ErrorCode::invalid_model, "sparse index {} is outside the {} elements of shape {}", position, count,
         shape_text(parts.dims));
  }
  return position;
}

void check_indices(const SparseParts& parts) {
  const std::int64_t entries = parts.values.tensor.element_count();
  const auto rank = static_cast<std::int64_t>(parts.dims.size());
  const std::vector<std::int64_t>& shape = parts.indices.shape();
  const bool linear = shape.size() == 1 && shape[0] == entries;
  const bool coordinates = shape.size() == 2 && shape[0] == entries && shape[1] == rank;
  if (parts.indices.dtype() != DType::int64 || parts.values.tensor.shape().size() != 1 || !(linear || coordinates)) {
    fail(ErrorCode::invalid_model, "{} indices of shape {} do not fit {} sparse values of shape {}",
         to_string(parts.indices.dtype()), shape_text(shape), entries, shape_text(parts.dims));
  }
}

/// Puts element `from` of `source` at element `to` of `target`, which has as many bits an element.
void copy_element(std::span<const std::byte> source, std::size_t from, std::span<std::byte> target, std::size_t to,
                  std::size_t size) {
  std::ranges::copy(source.subspan(from * size, size), target.subspan(to * size, size).begin());
}

Tensor make_dense(const SparseParts& parts, TensorSource& source) {
  const Tensor& values = parts.values.tensor;
  if (!values.defined() || !parts.indices.defined())
    fail(ErrorCode::invalid_model, "a sparse tensor needs both values and indices");
  check_indices(parts);
  for (const std::int64_t size : parts.dims) {
    if (size < 0) fail(ErrorCode::invalid_model, "sparse tensor of shape {}", shape_text(parts.dims));
  }
  const std::int64_t count = element_count(parts.dims);
  const bool is_text = values.dtype() == DType::string;
  const std::size_t element_bytes = is_text ? sizeof(std::string) : device_element_bytes(values.dtype());
  const std::size_t bytes = checked_multiply(static_cast<std::size_t>(count), element_bytes);
  if (bytes > source.sparse_bytes_left) {
    fail(ErrorCode::limit_exceeded, "a sparse tensor of shape {} takes {} when dense; {} are left for all of them",
         shape_text(parts.dims), byte_text(bytes), byte_text(source.sparse_bytes_left));
  }
  source.sparse_bytes_left -= bytes;

  const Tensor aligned_indices = parts.indices.aligned();
  const std::span<const std::int64_t> indices = aligned_indices.elements<std::int64_t>();
  const auto entries = static_cast<std::size_t>(values.element_count());
  const auto place = [&](std::size_t i) { return static_cast<std::size_t>(position_of(parts, indices, i, count)); };
  if (is_text) {
    std::vector<std::string> strings(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < entries; ++i) strings[place(i)] = values.strings()[i];
    return Tensor::of_strings(parts.dims, std::move(strings));
  }
  const Tensor elements = unpacked_tensor(values);
  Tensor dense = Tensor::allocate(elements.dtype(), parts.dims);
  for (std::size_t i = 0; i < entries; ++i)
    copy_element(elements.bytes(), i, dense.mutable_bytes(), place(i), element_bytes);
  return packed_tensor(values.dtype(), dense);
}

}  // namespace

NamedTensor read_sparse_tensor(MessageReader message, TensorSource& source) {
  SparseParts parts;
  while (message.next()) {
    switch (message.field()) {
      case 1: parts.values = read_tensor(message.read_message("TensorProto"), source); break;
      case 2: parts.indices = read_tensor(message.read_message("TensorProto"), source).tensor; break;
      case 3: message.for_each_varint([&](std::int64_t size) { parts.dims.push_back(size); }); break;
      default: message.skip();
    }
  }
  try {
    Tensor dense = make_dense(parts, source);
    return {std::move(parts.values.name), std::move(dense)};
  } catch (const Error& error) {
    if (parts.values.name.empty()) throw;
    fail(error.code(), "tensor {}: {}", name_text(parts.values.name), error.what());
  }
}

}  // namespace lapilli::onnx
