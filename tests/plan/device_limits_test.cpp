// Small devices: tensors larger than a binding, an arena larger than an allocation, runs longer than a submission.
#include <gtest/gtest.h>

#include <algorithm>

#include "lapilli/error.h"
#include "ops/contraction.h"
#include "ops/gather.h"
#include "ops/movement.h"
#include "ops/normalization.h"
#include "ops/reduction.h"
#include "ops/window.h"
#include "plan/build.h"
#include "plan/instantiate.h"
#include "program/verify.h"
#include "run/executor.h"
#include "support/node_runner.h"

namespace lapilli::testing {
namespace {

VulkanDevice open(const DeviceRestrictions& restrictions, std::chrono::milliseconds longest_submit = {}) {
  DeviceOptions options;
  options.selector = "llvmpipe";
  options.validation = true;
  options.pipeline_cache = false;
  options.restrictions = restrictions;
  options.longest_submit = longest_submit;
  return VulkanDevice::open(options);
}

/// A graph made node by node, run on a device.
class Network {
 public:
  ValueId input(const std::vector<std::int64_t>& shape) {
    tensors_.push_back(random_tensor(DType::float32, shape, -2, 2, static_cast<std::uint32_t>(tensors_.size() + 1)));
    return graph_.add_input(std::format("input {}", tensors_.size()), Fact::of(DType::float32, to_shape(shape)));
  }
  ValueId weights(const std::vector<std::int64_t>& shape) {
    return graph_.add_constant("weights", random_tensor(DType::float32, shape, -1, 1, 99));
  }
  ValueId constant(const std::vector<std::int64_t>& numbers) {
    return graph_.add_constant("numbers", integer_tensor({static_cast<std::int64_t>(numbers.size())}, numbers));
  }
  ValueId add(OperatorPointer op, std::vector<ValueId> inputs) {
    return graph_.add_node(std::move(op), std::move(inputs), {std::format("node {}", ++nodes_)}, {}, assumptions_)[0];
  }
  void output(ValueId value) { graph_.add_output(value); }

  Program plan(const DeviceTraits& traits) {
    const Structure structure = build_structure(graph_, assumptions_, traits, {});
    Program program = instantiate(structure, {}, traits).program;
    verify(program, traits);
    return program;
  }

  struct Result {
    std::vector<float> values;
    std::vector<std::uint64_t> submits;  // nanoseconds of each
    std::size_t dispatches = 0;
  };
  Result run(const VulkanDevice& device) {
    const Program program = plan(device.traits());
    Result result;
    for (const Step& step : program.steps) result.dispatches += std::holds_alternative<Dispatch>(step) ? 1U : 0U;
    std::vector<std::span<const std::byte>> inputs;
    for (const Tensor& tensor : tensors_) inputs.push_back(tensor.bytes());
    Tensor output = Tensor::allocate(DType::float32, program.outputs[0].shape);
    const std::vector<std::span<std::byte>> outputs{output.mutable_bytes()};
    Executor executor(device, std::make_shared<ResidentConstants>(device), std::make_shared<Program>(program));
    executor.run(inputs, outputs);
    result.values = floats_of(output);
    result.submits = executor.submit_nanoseconds();
    EXPECT_EQ(device.validation_messages(), std::vector<std::string>{});
    return result;
  }

 private:
  Graph graph_;
  Assumptions assumptions_{{}};
  std::vector<Tensor> tensors_;
  int nodes_ = 0;
};

ConvolutionAttributes padded(std::int64_t pad, std::int64_t group = 1) {
  ConvolutionAttributes attributes;
  attributes.pads_begin = attributes.pads_end = {pad, pad};
  attributes.group = group;
  return attributes;
}

OperatorPointer relu() { return make_pointwise(PointwiseFunction::relu, DType::float32, 1); }

struct LargeTensorCase {
  const char* name;
  void (*build)(Network&);
};

const std::vector<LargeTensorCase>& large_tensor_cases() {
  static const std::vector<LargeTensorCase> cases{
      {"Transpose",
       [](Network& n) { n.output(n.add(std::make_shared<Transpose>(std::vector{1, 0}), {n.input({70, 50})})); }},
      {"Add",
       [](Network& n) {
         n.output(
             n.add(make_pointwise(PointwiseFunction::add, DType::float32, 2), {n.input({40, 60}), n.input({60})}));
       }},
      {"Concat",
       [](Network& n) { n.output(n.add(std::make_shared<Concat>(1), {n.input({50, 30}), n.input({50, 41})})); }},
      {"Sum",
       [](Network& n) {
         n.output(n.add(std::make_shared<Reduction>(ReductionFunction::sum, Preparation::none, std::vector{1}),
                        {n.input({50, 60})}));
       }},
      {"Softmax",
       [](Network& n) {
         NormalizationAttributes softmax;
         softmax.axes = {1};
         n.output(n.add(std::make_shared<Normalization>(softmax), {n.input({50, 60})}));
       }},
      {"MaxPool",
       [](Network& n) {
         WindowAttributes pool;
         pool.axes = {{2, 3, 2, 1, 1, 1}, {3, 3, 2, 1, 1, 1}};
         n.output(n.add(std::make_shared<Window>(pool), {n.input({1, 4, 40, 40})}));
       }},
      {"MeanPool",
       [](Network& n) {
         WindowAttributes pool;
         pool.function = ReductionFunction::mean;
         pool.axes = {{2, 2, 1, 2, 1, 0}, {3, 3, 2, 1, 0, 1}};
         n.output(n.add(std::make_shared<Window>(pool), {n.input({2, 3, 40, 40})}));
       }},
      {"Convolution",
       [](Network& n) {
         const ValueId hidden =
             n.add(std::make_shared<Convolution>(padded(1)), {n.input({1, 4, 40, 40}), n.weights({8, 4, 3, 3})});
         n.output(
             n.add(std::make_shared<Convolution>(padded(1)), {n.add(relu(), {hidden}), n.weights({4, 8, 3, 3})}));
       }},
      {"Depthwise",
       [](Network& n) {
         const ValueId hidden =
             n.add(std::make_shared<Convolution>(padded(1, 8)), {n.input({1, 8, 20, 20}), n.weights({8, 1, 3, 3})});
         n.output(n.add(relu(), {hidden}));
       }},
      {"Transposed",
       [](Network& n) {
         ConvolutionAttributes attributes = padded(1);
         attributes.transposed = true;
         attributes.strides = {2, 2};
         n.output(
             n.add(std::make_shared<Convolution>(attributes), {n.input({3, 4, 12, 12}), n.weights({4, 2, 3, 3})}));
       }},
      {"ManyWeights",
       [](Network& n) { n.output(n.add(std::make_shared<MatMul>(), {n.input({33, 40}), n.weights({40, 60})})); }},
      {"Gather",
       [](Network& n) {
         // In every window some places, and none in order.
         const ValueId places = n.constant({49, -1, 0, 17, -50, 31, 16, 33, 32, 48, 1, -16, 15});
         n.output(n.add(relu(), {n.add(std::make_shared<Gather>(0), {n.input({50, 60}), places})}));
       }},
      {"Products",
       [](Network& n) {
         n.output(n.add(std::make_shared<MatMul>(false, true), {n.input({6, 20, 30}), n.input({6, 25, 30})}));
       }},
  };
  return cases;
}

class LargeTensors : public ::testing::TestWithParam<LargeTensorCase> {};

TEST_P(LargeTensors, AreBoundInWindows) {
  Network network;
  GetParam().build(network);
  const Network::Result whole = network.run(open({}));
  DeviceRestrictions restrictions;
  restrictions.max_storage_range = 4096;
  const Network::Result windows = network.run(open(restrictions));
  EXPECT_GT(windows.dispatches, whole.dispatches);
  EXPECT_EQ(windows.values, whole.values);
}

INSTANTIATE_TEST_SUITE_P(Families, LargeTensors, ::testing::ValuesIn(large_tensor_cases()),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

void build_chain(Network& network, std::int64_t size, int length) {
  ValueId value = network.input({1, 3, size, size});
  for (int i = 0; i < length; ++i) {
    const std::int64_t channels = i == 0 ? 3 : 8;
    value = network.add(std::make_shared<Convolution>(padded(1)), {value, network.weights({8, channels, 3, 3})});
    value = network.add(relu(), {value});
  }
  network.output(value);
}

TEST(SmallAllocations, TheArenaComesInSeveral) {
  Network network;
  build_chain(network, 24, 4);
  DeviceRestrictions restrictions;
  restrictions.max_allocation = std::uint64_t{24} * 24 * 8 * 4;
  const VulkanDevice device = open(restrictions);
  const Program program = network.plan(device.traits());
  EXPECT_GT(std::ranges::count(program.segments, SegmentKind::arena, &Segment::kind), 1);
  EXPECT_EQ(network.run(device).values, network.run(open({})).values);
}

TEST(SmallAllocations, ATensorThatIsTooLargeIsAnError) {
  Network network;
  build_chain(network, 24, 2);
  DeviceTraits traits = open({}).traits();
  traits.max_allocation = 1000;
  try {
    (void)network.plan(traits);
    FAIL();
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_EQ(error.code(), ErrorCode::limit_exceeded);
    EXPECT_NE(text.find("node "), std::string::npos) << text;
    EXPECT_NE(text.find("1000 B"), std::string::npos) << text;
  }
}

TEST(LongestSubmit, CutsWorkAndChangesNothing) {
  Network network;
  build_chain(network, 320, 6);
  const Network::Result whole = network.run(open({}));
  ASSERT_EQ(whole.submits.size(), 1U);
  // As long as an eighth of the whole takes, estimated: what is measured depends on who else computes.
  const std::chrono::milliseconds bound(40);
  const Network::Result cut = network.run(open({}, bound));
  EXPECT_EQ(cut.values, whole.values);
  EXPECT_GE(cut.submits.size(), 6U);
  const std::uint64_t longest = *std::ranges::max_element(cut.submits);
  EXPECT_LT(longest, whole.submits[0] / 2);
  std::printf("whole run %.1f ms, %zu submits, the longest %.1f ms of %lld ms\n",
              static_cast<double>(whole.submits[0]) * 1e-6, cut.submits.size(), static_cast<double>(longest) * 1e-6,
              static_cast<long long>(bound.count()));
}

}  // namespace
}  // namespace lapilli::testing
