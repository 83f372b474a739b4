// Values that share memory: Concats without copies, slices without copies, results in the place of an operand. Each
// graph runs on the device and is compared with its nodes' host evaluation, one after the other.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "ops/contraction.h"
#include "ops/movement.h"
#include "ops/pointwise.h"
#include "ops/window.h"
#include "plan/build.h"
#include "plan/instantiate.h"
#include "program/verify.h"
#include "run/executor.h"
#include "support/node_runner.h"

namespace lapilli::testing {
namespace {

class TestGraph {
 public:
  ValueId input(std::vector<std::int64_t> shape) {
    tensors_.push_back(random_tensor(DType::float32, shape, -1, 1, static_cast<std::uint32_t>(tensors_.size() + 1)));
    const ValueId id =
        graph_.add_input("input " + std::to_string(tensors_.size()), Fact::of(DType::float32, to_shape(shape)));
    known_[id] = tensors_.back();
    return id;
  }
  ValueId constant(const Tensor& tensor) {
    const ValueId id = graph_.add_constant("", tensor);
    known_[id] = tensor;
    return id;
  }
  ValueId node(OperatorPointer op, const std::vector<ValueId>& inputs) {
    std::vector<Tensor> tensors;
    for (const ValueId id : inputs) tensors.push_back(known_.at(id));
    const Tensor result = op->evaluate(tensors)[0];
    const std::string name = "node " + std::to_string(known_.size());
    const ValueId output = graph_.add_node(std::move(op), inputs, {name}, {name}, assumptions_)[0];
    known_[output] = result;
    return output;
  }
  ValueId convolution(ValueId input, std::int64_t channels, std::int64_t kernel = 1, std::int64_t group = 1) {
    const std::int64_t from = known_.at(input).shape()[1];
    const Tensor weights = random_tensor(DType::float32, {channels, from / group, kernel, kernel}, -0.5, 0.5,
                                         static_cast<std::uint32_t>(known_.size()));
    ConvolutionAttributes attributes;
    attributes.pads_begin = attributes.pads_end = {kernel / 2, kernel / 2};
    attributes.group = group;
    return node(std::make_shared<Convolution>(attributes), {input, constant(weights)});
  }
  ValueId relu(ValueId input) {
    return node(make_pointwise(PointwiseFunction::maximum, DType::float32, 1, {Immediate::of(0)}), {input});
  }
  ValueId add(ValueId left, ValueId right) {
    return node(make_pointwise(PointwiseFunction::add, DType::float32, 2), {left, right});
  }
  ValueId concat(const std::vector<ValueId>& inputs, int axis = 1) {
    return node(std::make_shared<Concat>(axis), inputs);
  }
  ValueId slice(ValueId input, int axis, std::int64_t start, std::int64_t size) {
    const std::vector<std::int64_t>& shape = known_.at(input).shape();
    std::vector<Dim> starts(shape.size(), Dim(0)), sizes = to_shape(shape);
    starts[static_cast<std::size_t>(axis)] = start;
    sizes[static_cast<std::size_t>(axis)] = size;
    return node(std::make_shared<Slice>(starts, sizes, std::vector<Dim>(shape.size(), Dim(1))), {input});
  }
  void output(ValueId id) { graph_.add_output(id); }

  /// Plans for the test device, runs, and compares each output.
  InstantiatedProgram expect_right(Precision precision = Precision::float32, const std::string& variant = {}) {
    PlanOptions options;
    options.precision = precision;
    options.contraction.variant = variant;
    const DeviceTraits& traits = test_device().traits();
    const Structure structure = build_structure(graph_, assumptions_, traits, options);
    InstantiatedProgram planned = instantiate(structure, {}, traits);
    verify(planned.program, traits);
    std::vector<std::span<const std::byte>> inputs;
    for (const Tensor& tensor : tensors_) inputs.push_back(tensor.bytes());
    std::vector<Tensor> results;
    std::vector<std::span<std::byte>> outputs;
    for (const Port& port : planned.program.outputs) results.push_back(Tensor::allocate(port.dtype, port.shape));
    for (Tensor& result : results) outputs.push_back(result.mutable_bytes());
    Executor executor(test_device(), std::make_shared<ResidentConstants>(test_device()),
                      std::make_shared<const Program>(planned.program));
    // Twice: nothing is left over from the first run.
    for (int run = 0; run < 2; ++run) {
      executor.run(inputs, outputs);
      for (std::size_t i = 0; i < results.size(); ++i) {
        EXPECT_LE(relative_error(results[i], known_.at(graph_.outputs()[i])),
                  precision == Precision::float16 ? 5e-3 : 1e-5)
            << "output " << i << ", run " << run;
      }
    }
    EXPECT_EQ(test_device().validation_messages(), std::vector<std::string>{});
    return planned;
  }

 private:
  Graph graph_;
  Assumptions assumptions_{SymbolValues{}};
  std::vector<Tensor> tensors_;
  std::map<ValueId, Tensor> known_;
};

std::size_t count_kernels(const Program& program, std::string_view family) {
  return static_cast<std::size_t>(std::ranges::count_if(program.steps, [&](const Step& step) {
    const auto* dispatch = std::get_if<Dispatch>(&step);
    return dispatch != nullptr && program.pipelines[dispatch->pipeline].kernel.starts_with(family);
  }));
}

// As in Inception: branches side by side, joined.
TEST(Concat, of_branches_copies_nothing_and_branches_stay_side_by_side) {
  TestGraph graph;
  const ValueId x = graph.convolution(graph.input({2, 8, 6, 5}), 16);
  const ValueId joined =
      graph.concat({graph.convolution(x, 8), graph.convolution(x, 16, 3), graph.convolution(x, 24)});
  graph.output(graph.convolution(joined, 8));
  const InstantiatedProgram planned = graph.expect_right();
  EXPECT_EQ(planned.report.dispatches, 6U);  // a change of layout, and five convolutions
  EXPECT_EQ(count_kernels(planned.program, "pointwise"), 1U);
  EXPECT_EQ(planned.report.levels, 4U);
  EXPECT_EQ(planned.report.barriers, 3U);
}

// As DenseNet is exported: lists that grow, and a reader of each.
TEST(Concat, of_lists_that_grow_copies_nothing) {
  for (const Precision precision : {Precision::float32, Precision::float16}) {
    TestGraph graph;
    std::vector<ValueId> list{graph.convolution(graph.input({1, 8, 4, 4}), 8)};
    for (int layer = 0; layer < 3; ++layer) {
      const ValueId all = layer == 0 ? list[0] : graph.concat(list);
      list.push_back(graph.convolution(graph.relu(all), 8, 3));
    }
    graph.output(graph.relu(graph.concat(list)));
    const InstantiatedProgram planned = graph.expect_right(precision);
    EXPECT_EQ(count_kernels(planned.program, "contraction"), 4U);
    EXPECT_EQ(count_kernels(planned.program, "pointwise"), 5U);  // a change of layout, four relus, no copies
  }
}

// The same by nested Concats: one of what was joined and one more.
TEST(Concat, inside_of_another_copies_nothing) {
  TestGraph graph;
  ValueId all = graph.convolution(graph.input({1, 8, 4, 4}), 8);
  for (int layer = 0; layer < 3; ++layer) all = graph.concat({all, graph.convolution(all, 8, 3)});
  graph.output(graph.convolution(all, 8));
  const InstantiatedProgram planned = graph.expect_right();
  EXPECT_EQ(planned.report.dispatches, 6U);
}

TEST(Concat, copies_what_cannot_be_computed_in_place) {
  TestGraph graph;
  const ValueId input = graph.input({1, 8, 4, 4});
  const ValueId x = graph.convolution(input, 8), y = graph.relu(graph.convolution(x, 8));
  // A constant, an input, one value twice, and one that another Concat has already.
  const ValueId constant = graph.constant(random_tensor(DType::float32, {1, 3, 4, 4}));
  graph.output(graph.concat({x, constant, x, input}));
  graph.output(graph.concat({y, x}));
  graph.output(graph.concat({graph.relu(y), y}, 2));
  graph.output(y);
  graph.expect_right();
}

TEST(Concat, of_odd_numbers_of_channels_is_right) {
  for (const Precision precision : {Precision::float32, Precision::float16}) {
    TestGraph graph;
    const ValueId x = graph.convolution(graph.input({2, 3, 5, 4}), 12);
    const ValueId odd = graph.convolution(x, 5), three = graph.convolution(x, 3, 3);
    const ValueId joined = graph.concat({odd, three, graph.convolution(x, 16)});
    graph.output(graph.convolution(joined, 8));
    // Read by others, with rows that begin anywhere.
    graph.output(graph.convolution(three, 8, 3));
    graph.expect_right(precision);
  }
}

TEST(Concat, along_other_axes_is_right) {
  for (const int axis : {0, 2, 3}) {
    TestGraph graph;
    const ValueId x = graph.convolution(graph.input({2, 8, 4, 4}), 8);
    graph.output(graph.relu(graph.concat({graph.relu(x), graph.convolution(x, 8, 3)}, axis)));
    graph.expect_right();
  }
}

// Matrix units take the rows of a larger tensor.
TEST(Concat, leaves_matrix_units_at_work) {
  TestGraph graph;
  const ValueId x = graph.convolution(graph.input({1, 16, 8, 8}), 32);
  const ValueId left = graph.convolution(x, 32, 3), right = graph.convolution(left, 32, 3);
  graph.output(graph.convolution(graph.concat({left, right}), 32));
  const InstantiatedProgram planned = graph.expect_right(Precision::float16, "contraction_matrix");
  if (test_device().traits().cooperative_matrix) {
    EXPECT_EQ(count_kernels(planned.program, "contraction_matrix"), 4U);
    EXPECT_LE(count_kernels(planned.program, "pointwise"), 2U);
  }
}

TEST(Slice, is_a_view) {
  TestGraph graph;
  const ValueId x = graph.convolution(graph.input({2, 8, 4, 5}), 16);
  const ValueId first = graph.slice(x, 1, 0, 8), second = graph.slice(x, 1, 8, 8);
  graph.output(graph.convolution(graph.concat({first, second, graph.convolution(second, 8, 3)}), 8));
  const InstantiatedProgram planned = graph.expect_right();
  EXPECT_EQ(count_kernels(planned.program, "contraction"), 3U);
  EXPECT_EQ(count_kernels(planned.program, "pointwise"), 3U);  // a change of layout, and the Concat's two copies
}

TEST(Slice, of_a_depthwise_convolution_keeps_its_vectors) {
  TestGraph graph;
  const ValueId x = graph.convolution(graph.input({1, 8, 4, 5}), 24);
  // Rows that begin at a multiple of four elements, and rows that do not.
  graph.output(graph.convolution(graph.slice(x, 1, 8, 16), 16, 3, 16));
  graph.output(graph.convolution(graph.slice(x, 1, 3, 16), 16, 3, 16));
  graph.output(graph.slice(graph.slice(x, 2, 1, 3), 3, 2, 2));
  graph.expect_right();
}

TEST(Slice, of_an_input_is_a_view) {
  TestGraph graph;
  const ValueId x = graph.input({4, 12});
  graph.output(graph.add(graph.slice(x, 0, 1, 2), graph.slice(x, 0, 2, 2)));
  EXPECT_EQ(graph.expect_right().report.dispatches, 1U);
}

TEST(InPlace, a_residual_takes_the_memory_of_its_operand) {
  for (const Precision precision : {Precision::float32, Precision::float16}) {
    TestGraph graph;
    ValueId x = graph.convolution(graph.input({1, 2, 8, 8}), 8);
    for (int block = 0; block < 3; ++block) {
      PointwiseChain sum;
      sum.input_count = 2;
      sum.add(PointwiseFunction::add, DType::float32, {0, 1, 0});
      const ValueId inner = graph.convolution(x, 8, 3);
      const Tensor weights =
          random_tensor(DType::float32, {8, 8, 1, 1}, -0.5, 0.5, static_cast<std::uint32_t>(block));
      x = graph.node(std::make_shared<Convolution>(ConvolutionAttributes{}, sum),
                     {inner, graph.constant(weights), x});
    }
    graph.output(graph.convolution(x, 8, 3));
    const InstantiatedProgram planned = graph.expect_right(precision);
    // Two tensors are alive at a time, and not three.
    const std::uint64_t tensor = std::uint64_t{8} * 8 * 8 * (precision == Precision::float16 ? 2 : 4);
    EXPECT_EQ(planned.report.lower_bound_bytes, 2 * tensor);
    EXPECT_EQ(planned.report.arena_bytes, 2 * tensor);
  }
}

TEST(InPlace, a_pointwise_node_takes_the_memory_of_what_ends_there) {
  TestGraph graph;
  const ValueId x = graph.convolution(graph.input({1, 8, 4, 4}), 8);
  const ValueId y = graph.relu(x), z = graph.add(y, graph.convolution(x, 8, 3));
  graph.output(graph.convolution(z, 8, 3));
  graph.expect_right();
}

// Where the operand is read again, at the same time, or elsewhere in the same node, it is not overwritten.
TEST(InPlace, nothing_takes_the_memory_of_what_others_read) {
  TestGraph graph;
  const ValueId x = graph.convolution(graph.input({1, 4, 4, 4}), 4);
  const ValueId later = graph.relu(x);
  graph.output(graph.convolution(graph.add(later, x), 4));
  graph.output(graph.relu(graph.convolution(x, 4, 3)));
  const ValueId square = graph.convolution(graph.input({1, 4, 4, 4}), 4);
  const ValueId turned = graph.node(std::make_shared<Transpose>(std::vector<int>{0, 1, 3, 2}), {square});
  graph.output(graph.convolution(graph.add(square, turned), 4));
  const ValueId viewed = graph.convolution(graph.input({1, 4, 4, 4}), 4);
  graph.output(graph.convolution(graph.add(graph.slice(viewed, 2, 0, 3), graph.slice(viewed, 2, 1, 3)), 4));
  // An output of the graph stays as it is.
  const ValueId kept = graph.convolution(graph.input({1, 4, 4, 4}), 4);
  graph.output(kept);
  graph.output(graph.convolution(graph.relu(kept), 4));
  graph.expect_right();
}

}  // namespace
}  // namespace lapilli::testing
