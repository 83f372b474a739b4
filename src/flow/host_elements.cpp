#include "flow/host_elements.h"

#include <algorithm>
#include <cstring>

#include "base/failure.h"
#include "base/packed.h"
#include "base/text.h"
#include "ops/host_loop.h"
#include "ops/pointwise.h"

namespace lapilli {

std::size_t host_element_count(std::span<const std::int64_t> shape) {
  constexpr std::int64_t most_elements = std::int64_t{1} << 27U;
  const std::int64_t count = element_count(shape);
  if (count > most_elements) {
    fail(ErrorCode::limit_exceeded, "{} has {} elements, more than the {} that the host makes", shape_text(shape),
         count, most_elements);
  }
  return static_cast<std::size_t>(count);
}

Broadcast broadcast_tensors(std::span<const Tensor> tensors) {
  std::vector<Shape> shapes;
  for (const Tensor& tensor : tensors) shapes.push_back(to_shape(tensor.shape()));
  Assumptions none({});
  Broadcast result;
  result.shape = *to_numbers(broadcast(shapes, none));
  const std::size_t count = host_element_count(result.shape), rank = result.shape.size();
  for (const Tensor& tensor : tensors) {
    std::vector<std::int64_t> strides(rank, 0);
    const std::vector<std::int64_t> own = row_major_strides(tensor.shape());
    for (std::size_t i = 0; i < own.size(); ++i) {
      if (tensor.shape()[i] != 1) strides[rank - own.size() + i] = own[i];
    }
    std::vector<std::int64_t> index(rank, 0);
    std::vector<std::size_t>& positions = result.positions.emplace_back();
    positions.reserve(count);
    for (std::size_t i = 0; i < count; ++i, next_index(index, result.shape)) {
      positions.push_back(static_cast<std::size_t>(offset_of(index, strides)));
    }
  }
  return result;
}

Tensor take_elements(const Tensor& tensor, std::span<const std::size_t> positions, std::vector<std::int64_t> shape) {
  if (tensor.dtype() == DType::string) {
    std::vector<std::string> texts;
    texts.reserve(positions.size());
    for (const std::size_t position : positions) texts.push_back(tensor.strings()[position]);
    return Tensor::of_strings(std::move(shape), std::move(texts));
  }
  const Tensor source = unpacked_tensor(tensor);
  const std::size_t width = device_element_bytes(tensor.dtype());
  Tensor result = Tensor::allocate(source.dtype(), std::move(shape));
  std::byte* target = result.mutable_bytes().data();
  for (const std::size_t position : positions) {
    std::memcpy(target, source.bytes().data() + position * width, width);
    target += width;
  }
  return packed_tensor(tensor.dtype(), result);
}

std::span<const std::string> strings_of(const HostCall& call, std::size_t index) {
  const Tensor& tensor = call.tensor(index);
  if (tensor.dtype() != DType::string) {
    fail(ErrorCode::invalid_model, "input {} is {} where strings are needed", index, to_string(tensor.dtype()));
  }
  return tensor.strings();
}

Tensor convert_elements(const Tensor& tensor, DType dtype) {
  return tensor.dtype() == dtype ? tensor.aligned() : evaluate_chain({}, {&tensor, 1}, dtype);
}

Tensor vector_of(std::span<const float> values) {
  return Tensor::of<float>(DType::float32, {static_cast<std::int64_t>(values.size())}, values);
}

Tensor vector_of(std::span<const std::int64_t> values) {
  return Tensor::of<std::int64_t>(DType::int64, {static_cast<std::int64_t>(values.size())}, values);
}

Tensor vector_of(std::span<const std::string> values) {
  return Tensor::of_strings({static_cast<std::int64_t>(values.size())}, {values.begin(), values.end()});
}

}  // namespace lapilli
