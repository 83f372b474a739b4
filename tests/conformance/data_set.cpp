#include "conformance/data_set.h"

#include <format>
#include <memory>
#include <utility>
#include <variant>

#include "base/failure.h"
#include "flow/host_tensors.h"
#include "import/onnx/value.h"

namespace lapilli::conformance {
namespace {

Value to_value(const onnx::Value& value, DType declared);

// The file has a tensor for each key, of one shape.
Value to_map(const onnx::Map& map, DType declared) {
  std::vector<Tensor> values;
  for (const onnx::Value& value : map.values) values.push_back(to_value(value, declared).tensor());
  return Value::map(map.keys, join_tensors(values, 0, true));
}

Value to_value(const onnx::Value& value, DType declared) {
  if (const auto* tensor = std::get_if<Tensor>(&value.content)) {
    // NumPy has no bfloat16, so the suite's files hold its bits as uint16.
    const bool bits_of_bfloat16 = declared == DType::bfloat16 && tensor->dtype() == DType::uint16;
    if (!bits_of_bfloat16) return *tensor;
    return Tensor::view(DType::bfloat16, tensor->shape(), tensor->bytes(), std::make_shared<Tensor>(*tensor));
  }
  if (const auto* optional = std::get_if<onnx::Optional>(&value.content)) {
    return optional->element.empty() ? Value() : to_value(optional->element.front(), declared);
  }
  if (const auto* sequence = std::get_if<onnx::Sequence>(&value.content)) {
    std::vector<Value> elements;
    for (const onnx::Value& element : sequence->elements) elements.push_back(to_value(element, declared));
    return Value::sequence(std::move(elements));
  }
  return to_map(std::get<onnx::Map>(value.content), declared);
}

}  // namespace

Value read_data(const std::filesystem::path& path, const onnx::ValueInfo& info) {
  return to_value(onnx::read_value(path, info.type), info.type.dtype);
}

std::vector<Value> read_inputs(const onnx::Model& model, const std::filesystem::path& folder) {
  std::vector<Value> inputs;
  for (const onnx::ValueInfo& info : model.graph.inputs) {
    if (model.graph.initializers.contains(info.name)) continue;
    inputs.push_back(read_data(folder / std::format("input_{}.pb", inputs.size()), info));
  }
  return inputs;
}

}  // namespace lapilli::conformance
