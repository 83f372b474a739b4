// Operators on shapes, and constants. What they compute is known when the model is planned, as expressions of sizes.
#include <algorithm>
#include <array>
#include <cmath>
#include <format>

#include "base/checked.h"
#include "import/onnx/operators/node_builder.h"
#include "ops/movement.h"

namespace lapilli::onnx {
namespace {

void build_shape(NodeBuilder& node) {
  const Shape& shape = node.shape(node.input(0));
  const auto rank = static_cast<std::int64_t>(shape.size());
  const auto bound = [&](std::string_view name, std::int64_t otherwise) {
    const std::int64_t value = node.integer(name, otherwise);
    return std::clamp<std::int64_t>(value < 0 ? value + rank : value, 0, rank);
  };
  const std::int64_t start = bound("start", 0), end = std::max(start, bound("end", rank));
  node.set_output(0, node.sizes({shape.begin() + start, shape.begin() + end}));
}

void build_size(NodeBuilder& node) {
  node.set_output(0, node.reshape(node.sizes({element_count(node.shape(node.input(0)))}), {}));
}

void build_constant(NodeBuilder& node) {
  if (const std::size_t values = node.node().attributes.size(); values != 1)
    node.fail_model(std::format("a Constant has one value, not {}", values));
  if (const Tensor* value = node.tensor("value")) return node.set_output(0, node.constant(*value));
  if (node.has_attribute("value_float")) {
    const std::array values{node.real("value_float", 0)};
    return node.set_output(0, node.constant(Tensor::of<float>(DType::float32, {}, values)));
  }
  if (node.has_attribute("value_int")) {
    const std::array values{node.integer("value_int", 0)};
    return node.set_output(0, node.constant(Tensor::of<std::int64_t>(DType::int64, {}, values)));
  }
  if (const auto values = node.integers("value_ints")) {
    return node.set_output(0, node.constant(Tensor::of<std::int64_t>(
                                  DType::int64, {static_cast<std::int64_t>(values->size())}, *values)));
  }
  if (const auto* values = node.node().find<std::vector<float>>("value_floats")) {
    return node.set_output(
        0, node.constant(Tensor::of<float>(DType::float32, {static_cast<std::int64_t>(values->size())}, *values)));
  }
  if (node.has_attribute("value_string")) {
    return node.set_output(0, node.constant(Tensor::of_strings({}, {node.text("value_string", "")})));
  }
  if (const auto* values = node.node().find<std::vector<std::string>>("value_strings")) {
    return node.set_output(0,
                           node.constant(Tensor::of_strings({static_cast<std::int64_t>(values->size())}, *values)));
  }
  if (const Tensor* value = node.tensor("sparse_value")) return node.set_output(0, node.constant(*value));
  node.fail_model("a Constant without a value");
}

void build_constant_of_shape(NodeBuilder& node) {
  std::vector<Dim> sizes = node.integers(0);
  const Tensor* value = node.tensor("value");
  if (value != nullptr && value->element_count() != 1)
    node.fail_model(std::format("the value has {} elements, where one is repeated", value->element_count()));
  const Tensor element = value != nullptr ? value->reshaped({}) : Tensor::allocate(DType::float32, {});
  node.set_output(0, node.add(std::make_shared<Expand>(std::move(sizes)), {node.constant(element)}));
}

// 0 copies a dimension and -1 stands for what is left.
void build_reshape(NodeBuilder& node) {
  const ValueId value = node.input(0);
  const Shape& shape = node.shape(value);
  const auto wanted = node.integers_from("shape", 1, 5);
  if (!wanted) node.fail_model("no shape is given");
  const bool allow_zero = node.integer("allowzero", 0) != 0;
  Shape result;
  std::optional<std::size_t> open;
  for (std::size_t i = 0; i < wanted->size(); ++i) {
    const Dim& dim = (*wanted)[i];
    if (dim == Dim(0) && !allow_zero) {
      if (i >= shape.size()) {
        node.fail_model(
            std::format("dimension {} of the new shape copies one that {} does not have", i, shape_text(shape)));
      }
      result.push_back(shape[i]);
    } else if (dim == Dim(-1)) {
      if (open) node.fail_model("two dimensions are -1");
      open = i;
      result.emplace_back(1);
    } else {
      result.push_back(dim);
    }
  }
  if (open) {
    const Dim known = element_count(result), total = element_count(shape);
    result[*open] = known == Dim(0) ? Dim(0) : Dim::floor_divide(total, known);
  }
  node.set_output(0, node.reshape(value, std::move(result)));
}

void build_flatten(NodeBuilder& node) {
  const Shape& shape = node.shape(node.input(0));
  const std::int64_t wanted = node.integer("axis", 1), rank = static_cast<std::int64_t>(shape.size());
  if (wanted < -rank || wanted > rank)
    node.fail_model(std::format("axis {} is not within -{} and {}", wanted, rank, rank));
  const auto axis = static_cast<std::size_t>(wanted < 0 ? wanted + rank : wanted);
  const std::span all(shape);
  node.set_output(0, node.reshape(node.input(0), {element_count(all.first(axis)), element_count(all.subspan(axis))}));
}

std::vector<int> axes_of(NodeBuilder& node, std::span<const Dim> dims, std::size_t rank) {
  std::vector<int> axes;
  for (const Dim& dim : dims) {
    const int axis = node.axis(node.assumptions().number(dim), rank);
    if (std::ranges::contains(axes, axis)) node.fail_model(std::format("axis {} is named twice", axis));
    axes.push_back(axis);
  }
  return axes;
}

void build_squeeze(NodeBuilder& node) {
  const Shape& shape = node.shape(node.input(0));
  const auto wanted = node.integers_from("axes", 1, 13);
  std::vector<int> axes;
  if (wanted) {
    axes = axes_of(node, *wanted, shape.size());
  } else {
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (node.assumptions().equal(shape[i], 1)) axes.push_back(static_cast<int>(i));
    }
  }
  Shape result;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (!std::ranges::contains(axes, static_cast<int>(i))) {
      result.push_back(shape[i]);
    } else if (!node.assumptions().equal(shape[i], 1)) {
      node.fail_model(std::format("axis {} of {} is not 1 and cannot be squeezed", i, shape_text(shape)));
    }
  }
  node.set_output(0, node.reshape(node.input(0), std::move(result)));
}

void build_unsqueeze(NodeBuilder& node) {
  const auto wanted = node.integers_from("axes", 1, 13);
  if (!wanted) node.fail_model("no axes are given");
  const std::vector<int> axes = axes_of(node, *wanted, node.rank(node.input(0)) + wanted->size());
  node.set_output(0, node.unsqueeze(node.input(0), axes));
}

void build_expand(NodeBuilder& node) {
  const std::array shapes{node.shape(node.input(0)), node.integers(1)};
  node.set_output(0, node.add(std::make_shared<Expand>(broadcast(shapes, node.assumptions())), {node.input(0)}));
}

void build_range(NodeBuilder& node) {
  const DType dtype = node.dtype(node.input(0));
  if (!is_integer(dtype)) {
    std::array<double, 3> bounds{};
    for (std::size_t i = 0; i < 3; ++i) bounds[i] = Immediate::of_tensor(node.constant(i)).real;
    const double steps = std::ceil((bounds[1] - bounds[0]) / bounds[2]);
    if (!(steps < 1e9)) {
      node.fail_model(std::format("a range from {} to {} in steps of {} has {} elements; 1e9 are possible", bounds[0],
                                  bounds[1], bounds[2], steps));
    }
    const double count = std::max(0.0, steps);
    std::vector<double> values;
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(count); ++i)
      values.push_back(bounds[0] + static_cast<double>(i) * bounds[2]);
    const ValueId wide =
        node.constant(Tensor::of<double>(DType::float64, {static_cast<std::int64_t>(values.size())}, values));
    return node.set_output(0, node.cast(wide, dtype));
  }
  const auto bound = [&](std::size_t index) { return node.assumptions().number(node.integers(index).at(0)); };
  const std::int64_t start = bound(0), limit = bound(1), step = bound(2);
  if (step == 0) node.fail_model("the step of a range is 0");
  // Modulo 2^64, so that ranges may be as wide as the type is.
  const auto begin = static_cast<std::uint64_t>(start), end = static_cast<std::uint64_t>(limit);
  const auto stride = static_cast<std::uint64_t>(step);
  const std::uint64_t distance = step > 0 ? (start < limit ? end - begin : 0) : (limit < start ? begin - end : 0);
  const std::uint64_t count = divide_up(distance, step > 0 ? stride : 0 - stride);
  Tensor values = Tensor::allocate(DType::int64, {checked_cast<std::int64_t>(count)});
  for (std::uint64_t i = 0; i < count; ++i)
    values.mutable_elements<std::int64_t>()[i] = static_cast<std::int64_t>(begin + i * stride);
  node.set_output(0, node.cast(node.constant(std::move(values)), dtype));
}

constexpr std::array records{
    OperatorRecord{"Constant", 1, build_constant, {}},
    OperatorRecord{"ConstantOfShape", 9, build_constant_of_shape, {types::sizes}},
    OperatorRecord{"Expand", 8, build_expand, {types::tensors, types::sizes}},
    OperatorRecord{"Flatten", 1, build_flatten, {types::all}},
    OperatorRecord{"Range", 11, build_range, {types::floats | TypeSet{DType::int16, DType::int32, DType::int64}}},
    OperatorRecord{"Reshape", 1, build_reshape, {types::all, types::sizes}},
    OperatorRecord{"Shape", 1, build_shape, {types::all}},
    OperatorRecord{"Size", 1, build_size, {types::all}},
    OperatorRecord{"Squeeze", 1, build_squeeze, {types::all, types::sizes}},
    OperatorRecord{"Unsqueeze", 1, build_unsqueeze, {types::all, types::sizes}},
};

}  // namespace

std::span<const OperatorRecord> shape_operators() { return records; }

}  // namespace lapilli::onnx
