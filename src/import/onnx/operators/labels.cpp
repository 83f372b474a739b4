// LabelEncoder between types of numbers: keys in a sorted table, which kernels search.
#include <algorithm>
#include <array>
#include <format>
#include <numeric>

#include "base/packed.h"
#include "import/onnx/operators/node_builder.h"
#include "ops/gather.h"
#include "ops/movement.h"
#include "ops/sort.h"

namespace lapilli::onnx {
namespace {

using Function = PointwiseFunction;

// The attribute that is there of "keys_tensor", "keys_int64s", "keys_floats"; those of strings are the host's.
Tensor list_of(const NodeBuilder& node, const std::string& prefix) {
  if (const Tensor* tensor = node.tensor(prefix + "_tensor"))
    return tensor->reshaped({tensor->element_count()}).aligned();
  if (const auto* integers = node.node().find<std::vector<std::int64_t>>(prefix + "_int64s")) {
    return Tensor::of<std::int64_t>(DType::int64, {static_cast<std::int64_t>(integers->size())}, *integers);
  }
  if (const auto* reals = node.node().find<std::vector<float>>(prefix + "_floats")) {
    return Tensor::of<float>(DType::float32, {static_cast<std::int64_t>(reals->size())}, *reals);
  }
  node.fail_model(std::format("the node has no {}", prefix));
}

ValueId default_for(NodeBuilder& node, DType dtype) {
  if (const Tensor* tensor = node.tensor("default_tensor")) {
    if (tensor->element_count() != 1 || tensor->dtype() != dtype) {
      node.fail_model(std::format("default_tensor is {} with {} elements where the values are {}",
                                  to_string(tensor->dtype()), tensor->element_count(), to_string(dtype)));
    }
    return node.constant(tensor->reshaped({}));
  }
  if (is_floating_point(dtype)) return node.scalar(dtype, node.real("default_float", -0.0F));
  const std::array number{node.integer("default_int64", -1)};
  return node.cast(node.constant(Tensor::of<std::int64_t>(DType::int64, {}, number)), dtype);
}

ValueId elements_at(NodeBuilder& node, ValueId table, ValueId places) {
  return node.add(std::make_shared<Gather>(0), {table, places});
}

// Whether two values are one key: what is not a number is one key.
ValueId same_key(NodeBuilder& node, ValueId left, ValueId right) {
  const ValueId equal = node.pointwise(Function::equal, {left, right});
  if (!is_floating_point(node.dtype(left))) return equal;
  const ValueId missing = node.pointwise(
      Function::logical_and, {node.pointwise(Function::is_nan, {left}), node.pointwise(Function::is_nan, {right})});
  return node.pointwise(Function::logical_or, {equal, missing});
}

// The places of a table's keys in rising order.
std::vector<std::int64_t> sorted_places(const Tensor& keys) {
  const Tensor order = Sort(SortKey::element, 0, false, keys.element_count()).evaluate({&keys, 1}).at(0);
  const auto places = order.elements<std::int32_t>();
  return {places.begin(), places.end()};
}

void build_label_encoder(NodeBuilder& node) {
  const ValueId x = node.input(0);
  const Tensor keys = list_of(node, "keys"), values = list_of(node, "values");
  if (keys.element_count() != values.element_count()) {
    node.fail_model(std::format("{} keys and {} values", keys.element_count(), values.element_count()));
  }
  if (keys.dtype() != node.dtype(x)) {
    node.fail_model(
        std::format("the keys are {}, and the input is {}", to_string(keys.dtype()), node.fact(x).to_string()));
  }
  const ValueId otherwise = default_for(node, values.dtype());
  const Shape shape = node.shape(x);
  if (keys.element_count() == 0) {
    return node.set_output(0, node.add(std::make_shared<Expand>(shape), {otherwise}));
  }
  const std::vector<std::int64_t> order = sorted_places(keys);
  const ValueId places = node.constant(Tensor::of<std::int64_t>(DType::int64, {keys.element_count()}, order));
  const ValueId table = elements_at(node, node.constant(keys), places);
  const ValueId flat = node.reshape(x, {element_count(shape)});
  // Of keys that are there twice the last one counts: it stands before what is larger.
  const ValueId above = node.add(std::make_shared<Search>(true), {table, flat});
  const ValueId place = node.pointwise(
      Function::maximum,
      {node.pointwise(Function::subtract, {above, node.scalar(DType::int32, 1)}), node.scalar(DType::int32, 0)});
  const ValueId found = same_key(node, elements_at(node, table, place), flat);
  const ValueId value = elements_at(node, elements_at(node, node.constant(values), places), place);
  node.set_output(0, node.reshape(node.pointwise(Function::select, {found, value, otherwise}), shape));
}

constexpr TypeSet labels = types::single_or_double | TypeSet{DType::int16, DType::int32, DType::int64, DType::string};

constexpr std::array records{
    OperatorRecord{"LabelEncoder", 2, build_label_encoder, {labels}, "ai.onnx.ml"},
};

}  // namespace

std::span<const OperatorRecord> label_operators() { return records; }

}  // namespace lapilli::onnx
