#include "flow/host_call.h"

#include <algorithm>
#include <array>

namespace lapilli {

const Value& HostCall::input(std::size_t index) const {
  if (!has_input(index)) fail(ErrorCode::invalid_model, "input {} is missing", index);
  return inputs_[index];
}

std::int64_t HostCall::integer_of(const Tensor& tensor) {
  const bool wide = tensor.dtype() == DType::int64;
  if ((!wide && tensor.dtype() != DType::int32) || tensor.element_count() != 1) {
    fail(ErrorCode::invalid_model, "{} of {} elements where one integer is needed", to_string(tensor.dtype()),
         tensor.element_count());
  }
  const Tensor aligned = tensor.aligned();
  return wide ? aligned.elements<std::int64_t>()[0] : aligned.elements<std::int32_t>()[0];
}

bool HostCall::boolean_of(const Tensor& tensor) {
  if (tensor.dtype() != DType::boolean || tensor.element_count() != 1) {
    fail(ErrorCode::invalid_model, "{} of {} elements where one boolean is needed", to_string(tensor.dtype()),
         tensor.element_count());
  }
  return tensor.bytes()[0] != std::byte{0};
}

const onnx::Graph& HostCall::graph(std::string_view name) const {
  const auto* graphs = node_.find<std::vector<onnx::Graph>>(name);
  if (graphs == nullptr || graphs->empty()) fail(ErrorCode::invalid_model, "the graph '{}' is missing", name);
  return graphs->front();
}

std::vector<Value> HostCall::take_outputs() {
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (node_.outputs[i].empty() || is_set_[i]) continue;
    fail(ErrorCode::invalid_model, "output {} ('{}') is not computed", i, node_.outputs[i]);
  }
  return std::move(outputs_);
}

std::span<const std::span<const HostOperator>> host_operator_families() {
  static const std::array families{control_operators(), sequence_operators(), text_operators(),
                                   label_operators(),   map_operators(),      image_operators()};
  return families;
}

const HostOperator* find_host_operator(std::string_view domain, std::string_view name, std::int64_t opset) {
  const HostOperator* best = nullptr;
  for (const auto& family : host_operator_families()) {
    for (const HostOperator& record : family) {
      if (record.name != name || record.domain != domain || record.since > opset) continue;
      if (best == nullptr || record.since > best->since) best = &record;
    }
  }
  return best;
}

}  // namespace lapilli
