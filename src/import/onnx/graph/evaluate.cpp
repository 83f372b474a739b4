#include "import/onnx/graph/evaluate.h"

#include "base/failure.h"
#include "import/onnx/operators/node_builder.h"

namespace lapilli::onnx {

// All inputs are constants, so the graph folds as it grows.
std::vector<Tensor> evaluate_node(const Node& node, std::span<const Tensor> inputs) {
  const OperatorRecord* record = find_operator(node.domain, node.op_type, node.opset_version);
  if (record == nullptr) fail(ErrorCode::unsupported, "the operator is not known for these types");
  lapilli::Graph graph;
  Assumptions assumptions({});
  std::vector<ValueId> ids;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    ids.push_back(inputs[i].defined() ? graph.add_constant(node.inputs[i], inputs[i]) : no_value);
  }
  NodeBuilder builder(node, graph, assumptions, std::move(ids));
  build_checked(*record, builder);
  std::vector<Tensor> outputs;
  for (const ValueId value : builder.outputs()) {
    outputs.push_back(value == no_value ? Tensor() : graph.fact(value).constant);
    if (value != no_value && !outputs.back().defined()) {
      fail(ErrorCode::unsupported, "the host cannot compute {} of these types", node.op_type);
    }
  }
  return outputs;
}

}  // namespace lapilli::onnx
