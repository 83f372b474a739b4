#include "plan/contraction.h"

#include <algorithm>

#include "base/checked.h"

namespace lapilli {
namespace {

// Strides of an operand's leading axes along the axes that they broadcast to.
std::vector<Dim> broadcast_strides(const Shape& shape, const std::vector<Dim>& strides, const Shape& target,
                                   Assumptions& assumptions) {
  std::vector<Dim> result(target.size() - 2, Dim(0));
  const std::size_t missing = target.size() - shape.size();
  for (std::size_t i = 0; i + 2 < shape.size(); ++i) {
    const bool repeated = shape[i] != target[missing + i] && assumptions.equal(shape[i], 1);
    if (!repeated && shape[i] != Dim(1)) result[missing + i] = strides[i];
  }
  return result;
}

// A value's place; that of constant weights, which get theirs later, is in their own tensor.
Placement placement_of(ValueId value, bool weights, Emission& emission) {
  if (!weights) return emission.placement(value);
  const Fact& fact = emission.graph().fact(value);
  return {StorageId{}, fact.dtype, 0, Layout::row_major(fact.shape.size()).strides(fact.shape)};
}

ContractionOperand operand_at(const Placement& placement) {
  ContractionOperand operand;
  operand.storage = placement.storage;
  operand.dtype = placement.dtype;
  operand.offset = placement.offset;
  return operand;
}

class ContractionMaker {
 public:
  ContractionMaker(const Node& node, Emission& emission)
      : node_(node), emission_(emission), graph_(emission.graph()) {
    const auto& op = static_cast<const FusedOperator&>(*node.op);
    result_.chain = op.epilogue();
    result_.dtype = graph_.fact(node.inputs[0]).dtype;
    if (graph_.is_constant(node.inputs[1])) result_.weights = graph_.fact(node.inputs[1]).constant;
  }

  Contraction make() {
    if (const auto* product = operator_as<MatMul>(node_)) {
      make_product(*product);
    } else {
      make_convolution(static_cast<const Convolution&>(*node_.op));
    }
    if (result_.window.rank() == 0) {
      fold_batch_into_rows();
      merge_rows();
    }
    merge_batch();
    if (result_.row_sizes.size() > most_row_axes) {
      fail(ErrorCode::unsupported, "{} row axes are left where kernels have {}", result_.row_sizes.size(),
           most_row_axes);
    }
    return std::move(result_);
  }

 private:
  // The output and, by the same axes, the epilogue's operands: strides along each axis of the output's shape.
  template <class Action>
  void for_each_result_operand(Action&& arrange) {
    const Shape& shape = graph_.fact(node_.outputs[0]).shape;
    const Placement output = emission_.placement(node_.outputs[0]);
    result_.output = operand_at(output);
    arrange(result_.output, output.strides);
    for (std::size_t i = 2; i < node_.inputs.size(); ++i) {
      const ValueId input = node_.inputs[i];
      const NestOperand nest =
          broadcast_operand(emission_.placement(input), graph_.fact(input).shape, shape, emission_.assumptions());
      ContractionOperand operand = operand_at({nest.storage, nest.dtype, nest.offset, {}});
      arrange(operand, nest.strides);
      result_.epilogue.push_back(std::move(operand));
    }
  }

  void make_product(const MatMul& op) {
    const Shape &shape_a = graph_.fact(node_.inputs[0]).shape, &shape_b = graph_.fact(node_.inputs[1]).shape;
    const Shape& shape = graph_.fact(node_.outputs[0]).shape;
    const std::size_t rank = shape.size();
    const Placement a = placement_of(node_.inputs[0], false, emission_);
    const Placement b = placement_of(node_.inputs[1], result_.weights.defined(), emission_);
    const std::size_t row_a = shape_a.size() - (op.transpose_a() ? 1 : 2);
    const std::size_t depth_a = shape_a.size() - (op.transpose_a() ? 2 : 1);
    result_.batch_sizes.assign(shape.begin(), shape.end() - 2);
    result_.row_sizes = {shape[rank - 2]};
    result_.columns = shape[rank - 1];
    result_.channels = shape_a[depth_a];
    result_.a = operand_at(a);
    result_.a.batch = broadcast_strides(shape_a, a.strides, shape, emission_.assumptions());
    result_.a.rows = {a.strides[row_a]};
    result_.a.channel = a.strides[depth_a];
    result_.b = operand_at(b);
    result_.b.batch = broadcast_strides(shape_b, b.strides, shape, emission_.assumptions());
    result_.b.channel = b.strides[shape_b.size() - (op.transpose_b() ? 1 : 2)];
    result_.b.column = b.strides[shape_b.size() - (op.transpose_b() ? 2 : 1)];
    for_each_result_operand([&](ContractionOperand& operand, const std::vector<Dim>& strides) {
      operand.batch.assign(strides.begin(), strides.end() - 2);
      operand.rows = {strides[rank - 2]};
      operand.column = strides[rank - 1];
    });
  }

  void make_convolution(const Convolution& op) {
    const Shape &x = graph_.fact(node_.inputs[0]).shape, &w = graph_.fact(node_.inputs[1]).shape;
    const Shape& y = graph_.fact(node_.outputs[0]).shape;
    const std::size_t spatial = x.size() - 2;
    const ConvolutionAttributes attributes = op.filled(spatial);
    const std::int64_t group = attributes.group;
    result_.columns = attributes.transposed ? w[1] : Dim::floor_divide(w[0], group);
    result_.channels = attributes.transposed ? Dim::floor_divide(w[0], group) : w[1];
    if (group > 1) result_.batch_sizes = {group};
    result_.row_sizes = {y[0]};
    for (std::size_t axis = 0; axis < spatial; ++axis) result_.row_sizes.push_back(y[2 + axis]);

    const bool window = needs_window(attributes, w, y);
    if (window) make_window(attributes, x, w);
    const Placement a = placement_of(node_.inputs[0], false, emission_);
    result_.a = operand_at(a);
    if (group > 1) result_.a.batch = {a.strides[1] * result_.channels};
    result_.a.rows = {a.strides[0]};
    for (std::size_t axis = 0; axis < spatial; ++axis) {
      result_.a.rows.push_back(window ? a.strides[2 + axis] : a.strides[2 + axis] * attributes.strides[axis]);
    }
    result_.a.channel = a.strides[1];

    const Placement b = placement_of(node_.inputs[1], result_.weights.defined(), emission_);
    result_.b = operand_at(b);
    result_.b.channel = b.strides[attributes.transposed ? 0 : 1];
    result_.b.column = b.strides[attributes.transposed ? 1 : 0];
    result_.b.tap = 1;  // weights are row-major
    if (group > 1) {
      result_.b.batch = {attributes.transposed ? result_.b.channel * result_.channels
                                               : result_.b.column * result_.columns};
    }
    for_each_result_operand([&](ContractionOperand& operand, const std::vector<Dim>& strides) {
      if (group > 1) operand.batch = {strides[1] * result_.columns};
      operand.rows = {strides[0]};
      operand.rows.insert(operand.rows.end(), strides.begin() + 2, strides.end());
      operand.column = strides[1];
    });
  }

  // A window of one element that never leaves the input is none.
  bool needs_window(const ConvolutionAttributes& attributes, const Shape& w, const Shape& y) {
    Assumptions& assumptions = emission_.assumptions();
    for (std::size_t axis = 0; axis + 2 < w.size(); ++axis) {
      if (!assumptions.equal(w[2 + axis], 1) || !assumptions.equal(attributes.pads_begin[axis], 0)) return true;
      if (!attributes.transposed && !assumptions.equal(attributes.pads_end[axis], 0)) return true;
      const Dim& input = graph_.fact(node_.inputs[0]).shape[2 + axis];
      if (attributes.transposed && (attributes.strides[axis] != 1 || !assumptions.equal(y[2 + axis], input))) {
        return true;
      }
    }
    return false;
  }

  void make_window(const ConvolutionAttributes& attributes, const Shape& x, const Shape& w) {
    ContractionWindow& window = result_.window;
    if (w.size() - 2 > most_window_axes) {
      fail(ErrorCode::unsupported, "a convolution over {} axes; kernels have {}", w.size() - 2, most_window_axes);
    }
    for (std::size_t axis = 0; axis + 2 < w.size(); ++axis) {
      window.kernel.push_back(emission_.assumptions().number(w[2 + axis]));
      window.input.push_back(x[2 + axis]);
    }
    window.strides = attributes.strides;
    window.dilations = attributes.dilations;
    window.pads = attributes.pads_begin;
    window.transposed = attributes.transposed;
    for (std::size_t axis = 0; axis < window.rank(); ++axis) {
      const std::int64_t extent = checked_multiply(window.kernel[axis], window.dilations[axis]);
      if (extent > 0x3FFFFFFF || window.strides[axis] > 0x3FFFFFFF) {
        fail(ErrorCode::limit_exceeded, "a window of {} elements, moved by {}, along axis {}", extent,
             window.strides[axis], axis);
      }
    }
  }

  template <class Action>
  void for_each_row_operand(Action&& action) {
    action(result_.a);
    action(result_.output);
    for (ContractionOperand& operand : result_.epilogue) action(operand);
  }

  // All batches have one B: they are more rows.
  void fold_batch_into_rows() {
    if (!std::ranges::all_of(result_.b.batch, [](const Dim& stride) { return stride == Dim(0); })) return;
    Contraction folded = result_;
    std::swap(result_, folded);
    result_.row_sizes.insert(result_.row_sizes.begin(), result_.batch_sizes.begin(), result_.batch_sizes.end());
    result_.batch_sizes.clear();
    result_.b.batch.clear();
    for_each_row_operand([](ContractionOperand& operand) {
      operand.rows.insert(operand.rows.begin(), operand.batch.begin(), operand.batch.end());
      operand.batch.clear();
    });
    merge_rows();
    if (result_.row_sizes.size() > most_row_axes) std::swap(result_, folded);
  }

  void merge_rows() {
    std::vector<std::vector<Dim>*> strides;
    for_each_row_operand([&](ContractionOperand& operand) { strides.push_back(&operand.rows); });
    merge_axes(result_.row_sizes, strides);
    if (!result_.row_sizes.empty()) return;
    result_.row_sizes = {1};
    for (std::vector<Dim>* list : strides) *list = {Dim(0)};
  }

  void merge_batch() {
    std::vector<std::vector<Dim>*> strides{&result_.b.batch};
    for_each_row_operand([&](ContractionOperand& operand) { strides.push_back(&operand.batch); });
    merge_axes(result_.batch_sizes, strides);
  }

  // Drops axes of one element and makes one of neighbours that every operand steps through as one.
  static void merge_axes(std::vector<Dim>& sizes, std::span<std::vector<Dim>* const> strides) {
    const auto erase = [&](std::size_t axis) {
      sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(axis));
      for (std::vector<Dim>* list : strides) list->erase(list->begin() + static_cast<std::ptrdiff_t>(axis));
    };
    for (std::size_t axis = sizes.size(); axis-- > 0;) {
      if (sizes[axis] == Dim(1)) erase(axis);
    }
    for (std::size_t axis = sizes.size(); axis-- > 1;) {
      const bool mergeable = std::ranges::all_of(
          strides, [&](const std::vector<Dim>* list) { return (*list)[axis - 1] == (*list)[axis] * sizes[axis]; });
      if (!mergeable) continue;
      sizes[axis] = sizes[axis - 1] * sizes[axis];
      erase(axis - 1);
    }
  }

  const Node& node_;
  Emission& emission_;
  const Graph& graph_;
  Contraction result_;
};

}  // namespace

std::int64_t ContractionWindow::taps() const {
  std::int64_t taps = 1;
  for (const std::int64_t size : kernel) taps = checked_multiply(taps, size);
  return taps;
}

Contraction make_contraction(const Node& node, Emission& emission) { return ContractionMaker(node, emission).make(); }

namespace {

bool has_wide_types(const Graph& graph, const Node& node) {
  const auto wide = [](DType dtype) { return bit_width(dtype) == 64; };
  const auto wide_value = [&](ValueId value) { return wide(graph.fact(value).dtype); };
  const PointwiseChain& chain = static_cast<const FusedOperator&>(*node.op).epilogue();
  return std::ranges::any_of(node.inputs, wide_value) || std::ranges::any_of(node.outputs, wide_value) ||
         std::ranges::any_of(chain.steps, [&](const PointwiseStep& step) { return wide(step.dtype); }) ||
         std::ranges::any_of(chain.immediates, [&](const Immediate& immediate) { return wide(immediate.dtype); });
}

}  // namespace

ContractionTraits contraction_traits(const Graph& graph, const Node& node, const PlanOptions& options) {
  ContractionTraits traits;
  const Fact &a = graph.fact(node.inputs[0]), &b = graph.fact(node.inputs[1]);
  traits.constant_weights = graph.is_constant(node.inputs[1]);
  traits.dtype = a.dtype;
  traits.wide_types = has_wide_types(graph, node);
  traits.stored_dtype =
      a.dtype == DType::float32 && options.precision == Precision::float16 ? DType::float16 : a.dtype;
  if (const auto* product = operator_as<MatMul>(node)) {
    traits.channels = a.shape[a.shape.size() - (product->transpose_a() ? 2 : 1)].constant();
    traits.columns = b.shape[b.shape.size() - (product->transpose_b() ? 2 : 1)].constant();
    return traits;
  }
  const ConvolutionAttributes attributes = static_cast<const Convolution&>(*node.op).filled(a.shape.size() - 2);
  traits.convolution = true;
  traits.transposed = attributes.transposed;
  traits.group = attributes.group;
  const auto of_group = [&](const Dim& count) { return Dim::floor_divide(count, attributes.group).constant(); };
  traits.channels = attributes.transposed ? of_group(b.shape[0]) : b.shape[1].constant();
  traits.columns = attributes.transposed ? b.shape[1].constant() : of_group(b.shape[0]);
  return traits;
}

void pack_weights(Contraction& contraction, DType dtype, std::int64_t channel_multiple, std::int64_t column_multiple,
                  Emission& emission) {
  ContractionOperand& b = contraction.b;
  Packing packing;
  packing.dtype = dtype;
  packing.source_offset = b.offset.constant().value_or(0);
  const auto add_axis = [&](const Dim& size, const Dim& stride, std::int64_t multiple) {
    // Weights are constants: all sizes and strides are numbers.
    const std::int64_t extent = emission.assumptions().number(size);
    packing.shape.push_back(align_up(extent, multiple));
    packing.source_extent.push_back(extent);
    packing.source_stride.push_back(emission.assumptions().number(stride));
  };
  std::vector<std::size_t> repeated;  // batch axes along which B stays the same are not packed again
  for (std::size_t axis = 0; axis < b.batch.size(); ++axis) {
    if (b.batch[axis] == Dim(0)) {
      repeated.push_back(axis);
    } else {
      add_axis(contraction.batch_sizes[axis], b.batch[axis], 1);
    }
  }
  add_axis(contraction.window.taps(), b.tap, 1);
  add_axis(contraction.channels, b.channel, channel_multiple);
  add_axis(contraction.columns, b.column, column_multiple);
  b.storage = emission.add_constant(contraction.weights, packing);
  b.dtype = dtype;
  b.offset = 0;
  std::int64_t stride = 1;
  const auto take_stride = [&] {
    const std::int64_t taken = stride;
    stride = checked_multiply(stride, packing.shape.back());
    packing.shape.pop_back();
    return Dim(taken);
  };
  b.column = take_stride();
  b.channel = take_stride();
  b.tap = take_stride();
  for (std::size_t axis = b.batch.size(); axis-- > 0;) {
    if (!std::ranges::contains(repeated, axis)) b.batch[axis] = take_stride();
  }
}

bool is_multiple(const Dim& value, std::int64_t factor, Assumptions& assumptions) {
  return assumptions.equal(Dim::floor_divide(value, factor) * factor, value);
}

bool rows_are_aligned(const ContractionOperand& operand, std::int64_t factor, Assumptions& assumptions) {
  const auto aligned = [&](const Dim& stride) { return is_multiple(stride, factor, assumptions); };
  return aligned(operand.offset) && std::ranges::all_of(operand.batch, aligned) &&
         std::ranges::all_of(operand.rows, aligned);
}

std::uint32_t vector_operands(const Contraction& contraction, std::int64_t vector, Assumptions& assumptions) {
  if (!is_multiple(contraction.columns, vector, assumptions)) return 0;
  const auto fits = [&](const ContractionOperand& operand) {
    return (operand.dtype == DType::float16 || operand.dtype == DType::float32) && operand.column == Dim(1) &&
           rows_are_aligned(operand, vector, assumptions);
  };
  std::uint32_t bits = fits(contraction.output) ? 1 : 0;
  for (std::size_t i = 0; i < contraction.epilogue.size(); ++i) {
    if (fits(contraction.epilogue[i])) bits |= 2U << i;
  }
  return bits;
}

void append_window_constants(const ContractionWindow& window, std::vector<std::uint32_t>& constants) {
  constants.push_back(window.transposed ? 1 : 0);
  for (const std::vector<std::int64_t>* list : {&window.kernel, &window.strides, &window.dilations}) {
    for (std::size_t axis = 0; axis < most_window_axes; ++axis) {
      constants.push_back(axis < list->size() ? checked_cast<std::uint32_t>((*list)[axis]) : 1);
    }
  }
}

void append_loops(const Contraction& contraction, ParameterWriter& parameters) {
  const auto add = [&](const std::vector<Dim>& values) {
    for (const Dim& value : values) parameters.value(value);
  };
  const auto add_operand = [&](const ContractionOperand& operand, const Dim& last) {
    parameters.value(operand.offset);
    add(operand.batch);
    add(operand.rows);
    parameters.value(last);
  };
  add_operand(contraction.output, contraction.output.column);
  add_operand(contraction.a, contraction.a.channel);
  parameters.value(contraction.b.offset);
  add(contraction.b.batch);
  add({contraction.b.tap, contraction.b.channel, contraction.b.column});
  for (const ContractionOperand& operand : contraction.epilogue) add_operand(operand, operand.column);
  for (std::size_t i = 1; i < contraction.row_sizes.size(); ++i) parameters.divisor(contraction.row_sizes[i]);
  for (std::size_t i = 1; i < contraction.batch_sizes.size(); ++i) parameters.divisor(contraction.batch_sizes[i]);
  for (std::size_t axis = 0; axis < contraction.window.rank(); ++axis) {
    parameters.value(contraction.window.input[axis]).value(contraction.window.pads[axis]);
  }
}

std::uint32_t epilogue_dtypes(const Contraction& contraction) {
  std::vector<DType> dtypes;
  for (const ContractionOperand& operand : contraction.epilogue) dtypes.push_back(operand.dtype);
  return pack_dtypes(dtypes);
}

EncodedChain encode_epilogue(const Contraction& contraction) {
  std::vector<DType> dtypes{contraction.dtype};
  for (const ContractionOperand& operand : contraction.epilogue) dtypes.push_back(operand.dtype);
  return encode_chain(contraction.chain, dtypes, epilogue_limits.steps);
}

KernelLevel capability_level(const Contraction& contraction, const EncodedChain& chain) {
  KernelLevel level = std::max({chain.level, level_of(contraction.output.dtype), level_of(contraction.a.dtype),
                                level_of(contraction.b.dtype)});
  for (const ContractionOperand& operand : contraction.epilogue) level = std::max(level, level_of(operand.dtype));
  return level;
}

std::vector<StorageAccess> contraction_bindings(const Contraction& contraction) {
  const auto read = [](const ContractionOperand& operand) {
    return StorageAccess{operand.storage, Access::read, operand.window};
  };
  std::vector<StorageAccess> bindings{{contraction.output.storage, Access::write, contraction.output.window},
                                      read(contraction.a),
                                      read(contraction.b)};
  for (const ContractionOperand& operand : contraction.epilogue) bindings.push_back(read(operand));
  bindings.resize(3 + epilogue_limits.inputs - 1, bindings.back());
  return bindings;
}

}  // namespace lapilli
