#include <array>

#include "import/onnx/operators/node_builder.h"

namespace lapilli::onnx {

std::span<const std::span<const OperatorRecord>> operator_families() {
  static const std::array families{pointwise_operators(),      shape_operators(),
                                   movement_operators(),       contraction_operators(),
                                   window_operators(),         reduction_operators(),
                                   normalization_operators(),  gather_operators(),
                                   quantization_operators(),   quantized_contraction_operators(),
                                   sampling_operators(),       geometry_operators(),
                                   loss_operators(),           position_operators(),
                                   order_operators(),          random_operators(),
                                   training_operators(),       gradient_operators(),
                                   selection_operators(),      machine_learning_operators(),
                                   support_vector_operators(), tree_ensemble_operators(),
                                   label_operators(),          recurrent_operators(),
                                   einsum_operators(),         attention_operators(),
                                   signal_operators(),         low_bit_product_operators()};
  return families;
}

void build_checked(const OperatorRecord& record, NodeBuilder& node) {
  for (std::size_t i = 0; i < node.input_count(); ++i) {
    if (node.has_input(i)) require_type(record.types, node.node(), i, node.dtype(node.input(i)));
  }
  record.build(node);
}

const OperatorRecord* find_operator(std::string_view domain, std::string_view name, std::int64_t opset) {
  const OperatorRecord* best = nullptr;
  for (const auto& family : operator_families()) {
    for (const OperatorRecord& record : family) {
      const bool matches = record.name == name && record.domain == domain && record.since <= opset;
      if (matches && (best == nullptr || record.since > best->since)) best = &record;
    }
  }
  return best;
}

}  // namespace lapilli::onnx
