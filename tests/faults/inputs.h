#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "lapilli/model.h"

namespace lapilli {

/// The same each time: floats that grow from -0.99, ones of other types.
inline std::vector<Tensor> inputs_of(const Model& model) {
  std::vector<Tensor> inputs;
  for (const PortDescription& port : model.inputs()) {
    std::vector<std::int64_t> shape;
    for (const std::string& size : port.shape) shape.push_back(std::stoll(size));
    Tensor& tensor = inputs.emplace_back(Tensor::allocate(port.dtype, std::move(shape)));
    float value = -1;
    if (tensor.dtype() == DType::float32) {
      for (float& element : tensor.mutable_elements<float>()) element = value += 0.01F;
    } else if (tensor.dtype() == DType::int64) {
      std::ranges::fill(tensor.mutable_elements<std::int64_t>(), 1);
    } else {
      std::ranges::fill(tensor.mutable_bytes(), std::byte{1});
    }
  }
  return inputs;
}

}  // namespace lapilli
