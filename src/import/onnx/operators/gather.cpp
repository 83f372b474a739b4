// Operators that read or write at places which indices say.
#include "ops/gather.h"

#include <array>
#include <format>

#include "import/onnx/operators/node_builder.h"
#include "ops/movement.h"
#include "ops/scatter.h"

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

using Function = PointwiseFunction;

Function scatter_function(NodeBuilder& node) {
  const std::string reduction = node.text("reduction", "none");
  if (reduction == "none") return Function::identity;
  if (reduction == "add") return Function::add;
  if (reduction == "mul") return Function::multiply;
  if (reduction == "max") return Function::maximum;
  if (reduction == "min") return Function::minimum;
  node.fail_model(std::format("reduction '{}' is none of none, add, mul, max, min", reduction));
}

void build_scatter_elements(NodeBuilder& node) {
  const int axis = node.axis(node.integer("axis", 0), node.rank(node.input(0)));
  const auto op = std::make_shared<Scatter>(std::make_shared<GatherElements>(axis), scatter_function(node));
  node.set_output(0, node.add(op, {node.input(0), node.input(1), node.input(2)}));
}

void build_scatter_nd(NodeBuilder& node) {
  const auto op = std::make_shared<Scatter>(std::make_shared<GatherTuples>(0), scatter_function(node));
  node.set_output(0, node.add(op, {node.input(0), node.input(1), node.input(2)}));
}

// An update of a cache along one axis, from a place on that each batch has for itself.
void build_tensor_scatter(NodeBuilder& node) {
  const ValueId cache = node.input(0), update = node.input(1);
  const std::string mode = node.text("mode", "linear");
  if (mode != "linear" && mode != "circular") {
    node.fail_model(std::format("mode '{}' is neither linear nor circular", mode));
  }
  const std::size_t rank = node.rank(cache);
  const int axis = node.axis(node.integer("axis", -2), rank);
  if (axis == 0 || node.rank(update) != rank) {
    node.fail_model(std::format("an update {} of {} along axis {}", node.fact(update).to_string(),
                                node.fact(cache).to_string(), axis));
  }
  const auto along = static_cast<std::size_t>(axis);
  ValueId place = node.cast(node.positions(node.shape(update)[along], along, rank), DType::int64);
  if (node.has_input(2)) {
    Shape batches(rank, Dim(1));
    batches[0] = node.shape(cache)[0];
    place = node.pointwise(Function::add, {place, node.reshape(node.input(2), std::move(batches))});
  }
  if (mode == "circular") {
    place = node.pointwise(Function::modulo, {place, node.reshape(node.sizes({node.shape(cache)[along]}), {})});
  }
  const ValueId places = node.add(std::make_shared<Expand>(node.shape(update)), {place});
  const auto op = std::make_shared<Scatter>(std::make_shared<GatherElements>(axis), Function::identity);
  node.set_output(0, node.add(op, {cache, places, update}));
}

constexpr std::array records{
    OperatorRecord{"Gather", 1, build_along_axis<Gather>, {types::tensors, types::indices}},
    OperatorRecord{"GatherElements", 11, build_along_axis<GatherElements>, {types::tensors, types::indices}},
    OperatorRecord{"GatherND", 11, build_gather_nd, {types::tensors, types::sizes}},
    OperatorRecord{"Scatter", 9, build_scatter_elements, {types::tensors, types::indices, types::tensors}},
    OperatorRecord{"ScatterElements", 11, build_scatter_elements, {types::tensors, types::indices, types::tensors}},
    OperatorRecord{"ScatterND", 11, build_scatter_nd, {types::tensors, types::sizes, types::tensors}},
    OperatorRecord{"TensorScatter", 24, build_tensor_scatter, {types::all, types::all, types::sizes}},
};

}  // namespace

std::span<const OperatorRecord> gather_operators() { return records; }

}  // namespace lapilli::onnx
