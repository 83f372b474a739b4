// Operators that read at places which indices say.
#include "ops/gather.h"

#include <array>

#include "import/onnx/operators/node_builder.h"

namespace lapilli::onnx {
namespace {

template <class Operation>
void build_along_axis(NodeBuilder& node) {
  const int axis = node.axis(node.integer("axis", 0), node.rank(node.input(0)));
  node.set_output(0, node.add(std::make_shared<Operation>(axis), {node.input(0), node.input(1)}));
}

void build_gather_nd(NodeBuilder& node) {
  const auto batch_axes = static_cast<int>(node.integer("batch_dims", 0));
  node.set_output(0, node.add(std::make_shared<GatherTuples>(batch_axes), {node.input(0), node.input(1)}));
}

constexpr std::array records{
    OperatorRecord{"Gather", 1, build_along_axis<Gather>},
    OperatorRecord{"GatherElements", 11, build_along_axis<GatherElements>},
    OperatorRecord{"GatherND", 11, build_gather_nd},
};

}  // namespace

std::span<const OperatorRecord> gather_operators() { return records; }

}  // namespace lapilli::onnx
