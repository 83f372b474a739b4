#include "support/node_runner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>

#include "base/packed.h"
#include "ops/host_loop.h"
#include "ops/pointwise.h"
#include "plan/families.h"
#include "plan/instantiate.h"
#include "program/verify.h"
#include "run/executor.h"
#include "support/restrictions.h"

namespace lapilli::testing {
namespace {

// Of the same type it is the same, bits that stand for no number too.
Tensor converted(const Tensor& tensor, DType dtype) {
  return tensor.dtype() == dtype ? tensor : evaluate_chain({}, {&tensor, 1}, dtype);
}

std::vector<std::int64_t> permuted(std::span<const std::int64_t> shape, const Layout& layout) {
  std::vector<std::int64_t> result;
  for (const int axis : layout.order()) result.push_back(shape[static_cast<std::size_t>(axis)]);
  return result;
}

// Copies elements between row-major and layout order; `to_layout` says which way.
Tensor reordered(const Tensor& tensor, std::span<const std::int64_t> shape, const Layout& layout, bool to_layout) {
  const std::vector<std::int64_t> sizes(shape.begin(), shape.end());
  if (is_packed(tensor.dtype()))
    return packed_tensor(tensor.dtype(), reordered(unpacked_tensor(tensor), shape, layout, to_layout));
  Tensor result = Tensor::allocate(tensor.dtype(), to_layout ? permuted(shape, layout) : sizes);
  if (result.element_count() == 0) return result;
  const std::vector<Dim> strides = layout.strides(to_shape(shape));
  const std::vector<std::int64_t> placed = *to_numbers(strides), dense = row_major_strides(shape);
  const std::size_t width = bit_width(tensor.dtype()) / 8;
  std::vector<std::int64_t> index(shape.size(), 0);
  do {
    const auto there = static_cast<std::size_t>(offset_of(index, placed)) * width;
    const auto here = static_cast<std::size_t>(offset_of(index, dense)) * width;
    std::memcpy(result.mutable_bytes().data() + (to_layout ? there : here),
                tensor.bytes().data() + (to_layout ? here : there), width);
  } while (next_index(index, sizes));
  return result;
}

// Elements in front of each row and behind it, where tensors lie in larger ones; pitches are multiples of it too.
constexpr std::int64_t gap = 8;

std::vector<std::int64_t> widened(std::vector<std::int64_t> shape) {
  shape.back() = (shape.back() + 3 * gap - 1) / gap * gap;
  return shape;
}

// Copies rows between a dense tensor and one whose rows have gaps, which hold what no kernel should read.
Tensor with_gaps(const Tensor& tensor, const std::vector<std::int64_t>& shape, bool widen) {
  Tensor result = Tensor::allocate(tensor.dtype(), widen ? widened(shape) : shape);
  if (tensor.element_count() == 0 || result.element_count() == 0) return result;
  const std::size_t width = bit_width(tensor.dtype()) / 8;
  const std::size_t row = static_cast<std::size_t>(shape.back()) * width;
  const std::size_t pitch = static_cast<std::size_t>(widened(shape).back()) * width;
  const std::size_t rows = widen ? tensor.bytes().size() / row : result.bytes().size() / row;
  if (widen) std::ranges::fill(result.mutable_bytes(), std::byte{0x7B});
  for (std::size_t i = 0; i < rows; ++i) {
    const std::size_t dense = i * row, wide = i * pitch + gap * width;
    std::memcpy(result.mutable_bytes().data() + (widen ? wide : dense),
                tensor.bytes().data() + (widen ? dense : wide), row);
  }
  return result;
}

// One node between ports that lie as the case says, or with gaps between rows wherever the node's kernels take them.
class NodeProgram {
 public:
  explicit NodeProgram(const NodeCase& node_case, bool gaps = false) : case_(node_case), gaps_(gaps) {
    options_.precision = case_.precision;
    build_graph();
    Emission emission(graph_, assumptions_, test_device().traits(), options_, structure_);
    place_ports(emission);
    const std::vector<std::string> origins{"tested"};
    emission.set_origin(origins);
    family_of(*case_.op).emit(graph_.node(node_), emission);
    structure_.guards = assumptions_.guards();
    program_ = instantiate(structure_, {}, test_device().traits()).program;
    verify(program_, test_device().traits());
  }

  [[nodiscard]] std::vector<Tensor> run() {
    std::vector<std::span<const std::byte>> inputs;
    for (const Tensor& tensor : placed_inputs_) inputs.push_back(tensor.bytes());
    std::vector<Tensor> results;
    std::vector<std::span<std::byte>> outputs;
    for (const Port& port : program_.outputs) {
      results.push_back(Tensor::allocate(port.dtype, port.shape));
      outputs.push_back(results.back().mutable_bytes());
    }
    Executor executor(test_device(), std::make_shared<ResidentConstants>(test_device()),
                      std::make_shared<Program>(program_));
    executor.run(inputs, outputs);
    for (std::size_t i = 0; i < results.size(); ++i) {
      const auto shape = *to_numbers(graph_.fact(graph_.node(node_).outputs[i]).shape);
      const Layout& layout = output_layouts_[i];
      if (gapped_outputs_[i]) results[i] = with_gaps(results[i], permuted(shape, layout), false);
      results[i] = reordered(results[i], shape, layout, false);
    }
    return results;
  }

 private:
  void build_graph() {
    std::vector<ValueId> inputs;
    for (const Tensor& tensor : case_.inputs) {
      const bool there = tensor.defined();
      inputs.push_back(there ? graph_.add_input(std::format("input {}", inputs.size()),
                                                Fact::of(tensor.dtype(), to_shape(tensor.shape())))
                             : no_value);
    }
    const std::vector<ValueId> outputs = graph_.add_node(case_.op, inputs, {"tested"}, {}, assumptions_);
    for (const ValueId output : outputs) graph_.add_output(output);
    node_ = graph_.value(outputs[0]).producer;
  }

  [[nodiscard]] Placement place(Emission& emission, SegmentKind kind, ValueId id, const Layout& layout, bool gapped) {
    const Fact& fact = graph_.fact(id);
    const DType dtype = emission.stored_dtype(fact.dtype);
    const auto width = static_cast<std::int64_t>(device_element_bytes(dtype));
    std::vector<std::int64_t> lying = permuted(*to_numbers(fact.shape), layout);
    if (gapped) lying = widened(lying);
    const Shape memory = to_shape(lying);
    const StorageId storage = emission.add_storage({kind, element_count(memory) * Dim(width), std::nullopt});
    const std::vector<Dim> steps = Layout::row_major(memory.size()).strides(memory);
    std::vector<Dim> strides(memory.size());
    for (std::size_t i = 0; i < memory.size(); ++i) strides[static_cast<std::size_t>(layout.order()[i])] = steps[i];
    emission.place(id, {storage, dtype, gapped ? gap : 0, strides});
    const SymbolicPort port{graph_.value(id).name, dtype, memory, storage};
    (kind == SegmentKind::input ? structure_.inputs : structure_.outputs).push_back(port);
    return emission.placement(id);
  }

  void place_ports(Emission& emission) {
    const Node& node = graph_.node(node_);
    std::vector<Layout> layouts;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const std::size_t rank = case_.inputs[i].shape().size();
      layouts.push_back(i < case_.layouts.size() && case_.layouts[i].rank() == rank ? case_.layouts[i]
                                                                                    : Layout::row_major(rank));
    }
    const LayoutChoice choice =
        family_of(*case_.op).choose_layouts({graph_, node, options_, test_device().traits(), layouts});
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] == no_value) continue;
      bool gapped = may_have_gaps(case_.inputs[i]);
      if (i < choice.inputs.size() && choice.inputs[i].layout) {
        layouts[i] = *choice.inputs[i].layout;
        gapped = gapped && choice.inputs[i].multiple != 0;
      }
      const Placement placement = place(emission, SegmentKind::input, node.inputs[i], layouts[i], gapped);
      placed_inputs_.push_back(
          reordered(converted(case_.inputs[i], placement.dtype), case_.inputs[i].shape(), layouts[i], true));
      if (gapped) {
        placed_inputs_.back() = with_gaps(placed_inputs_.back(), permuted(case_.inputs[i].shape(), layouts[i]), true);
      }
    }
    output_layouts_ = choice.outputs;
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      const Fact& fact = graph_.fact(node.outputs[i]);
      gapped_outputs_.push_back(gaps_ && !choice.dense_outputs && !is_packed(fact.dtype) && !fact.shape.empty());
      (void)place(emission, SegmentKind::output, node.outputs[i], output_layouts_[i], gapped_outputs_.back());
    }
  }

  [[nodiscard]] bool may_have_gaps(const Tensor& tensor) const {
    return gaps_ && !is_packed(tensor.dtype()) && !tensor.shape().empty();
  }

  const NodeCase& case_;
  bool gaps_;
  PlanOptions options_;
  Graph graph_;
  Assumptions assumptions_{SymbolValues{}};
  NodeId node_ = no_node;
  Structure structure_;
  Program program_;
  std::vector<Tensor> placed_inputs_;
  std::vector<Layout> output_layouts_;
  std::vector<bool> gapped_outputs_;
};

double element_difference(double result, double expected) {
  if (std::isnan(result) || std::isnan(expected)) {
    return std::isnan(result) && std::isnan(expected) ? 0 : std::numeric_limits<double>::infinity();
  }
  return result == expected ? 0 : std::abs(result - expected);
}

}  // namespace

const VulkanDevice& test_device() {
  static const VulkanDevice device = [] {
    const char* chosen = std::getenv("LAPILLI_TEST_DEVICE");
    DeviceOptions options;
    options.selector = chosen != nullptr ? chosen : "llvmpipe";
    options.validation = true;
    options.pipeline_cache = false;
    if (const char* limits = std::getenv("LAPILLI_TEST_LIMITS")) restrict_device(options.restrictions, limits);
    return VulkanDevice::open(options);
  }();
  return device;
}

std::vector<Tensor> run_node(const NodeCase& node_case) { return NodeProgram(node_case).run(); }

double relative_error(const Tensor& result, const Tensor& expected) {
  if (result.shape() != expected.shape()) return std::numeric_limits<double>::infinity();
  if (!is_floating_point(expected.dtype())) {
    return std::ranges::equal(result.bytes(), expected.bytes()) ? 0 : 1;
  }
  const Tensor left = converted(result, DType::float64), right = converted(expected, DType::float64);
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < left.elements<double>().size(); ++i) {
    const double a = left.elements<double>()[i], b = right.elements<double>()[i];
    difference += std::pow(element_difference(a, b), 2);
    if (std::isfinite(b)) norm += b * b;
  }
  return norm == 0 ? std::sqrt(difference) : std::sqrt(difference / norm);
}

void expect_matches_host(NodeCase node_case, double tolerance) {
  for (Tensor& tensor : node_case.inputs) {
    if (node_case.precision == Precision::float16 && tensor.dtype() == DType::float32) {
      tensor = converted(converted(tensor, DType::float16), DType::float32);
    }
  }
  const std::vector<Tensor> expected = node_case.op->evaluate(node_case.inputs);
  NodeProgram program(node_case);
  const std::vector<Tensor> results = program.run(), again = program.run();
  // Once more as inside of larger tensors.
  const std::vector<Tensor> spread = NodeProgram(node_case, true).run();
  ASSERT_EQ(results.size(), expected.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    EXPECT_EQ(results[i].shape(), expected[i].shape()) << "output " << i;
    EXPECT_LE(relative_error(results[i], expected[i]), is_floating_point(expected[i].dtype()) ? tolerance : 0)
        << "output " << i << " of " << node_case.op->name() << " " << node_case.op->attributes();
    EXPECT_TRUE(std::ranges::equal(results[i].bytes(), again[i].bytes()))
        << "output " << i << " differs between runs";
    EXPECT_LE(relative_error(spread[i], expected[i]), is_floating_point(expected[i].dtype()) ? tolerance : 0)
        << "output " << i << " with gaps, of " << node_case.op->name() << " " << node_case.op->attributes();
  }
  EXPECT_EQ(test_device().validation_messages(), std::vector<std::string>{});
}

Tensor random_tensor(DType dtype, std::vector<std::int64_t> shape, double low, double high, std::uint32_t seed) {
  Tensor tensor = Tensor::allocate(DType::float64, std::move(shape));
  std::mt19937 generator(seed);
  for (double& element : tensor.mutable_elements<double>()) {
    element = low + (high - low) * (static_cast<double>(generator()) * 0x1p-32);
  }
  return converted(tensor, dtype);
}

Tensor float_tensor(std::vector<std::int64_t> shape, const std::vector<float>& values) {
  return Tensor::of<float>(DType::float32, std::move(shape), values);
}

Tensor integer_tensor(std::vector<std::int64_t> shape, const std::vector<std::int64_t>& values) {
  return Tensor::of<std::int64_t>(DType::int64, std::move(shape), values);
}

std::vector<float> floats_of(const Tensor& tensor) {
  const Tensor floats = converted(tensor, DType::float32);
  return {floats.elements<float>().begin(), floats.elements<float>().end()};
}

std::vector<std::int64_t> integers_of(const Tensor& tensor) {
  const Tensor integers = converted(tensor, DType::int64);
  return {integers.elements<std::int64_t>().begin(), integers.elements<std::int64_t>().end()};
}

}  // namespace lapilli::testing
