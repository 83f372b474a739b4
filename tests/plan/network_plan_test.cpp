// The plan of a whole network, for several devices and sizes, held against its judges. No device is needed.
#include <gtest/gtest.h>

#include <algorithm>

#include "import/onnx/graph/part.h"
#include "import/onnx/inline_functions.h"
#include "import/onnx/reader.h"
#include "lapilli/error.h"
#include "passes/rewrite.h"
#include "plan/build.h"
#include "plan/instantiate.h"
#include "program/verify.h"
#include "vulkan/device_plan.h"
#include "vulkan/recorded_snapshots.h"

namespace lapilli {
namespace {

struct NetworkCase {
  std::string device;
  std::int64_t batch = 1;
  Precision precision = Precision::float32;
  bool optimise = true;
};

const onnx::Model& network() {
  static const onnx::Model model = [] {
    onnx::Model read = onnx::read_model(ASSETS "/efficientnet_lite0.onnx");
    onnx::inline_functions(read);
    return read;
  }();
  return model;
}

Structure structure_of(const NetworkCase& network_case, const DeviceTraits& traits, std::int64_t batch) {
  Assumptions assumptions({{"batch", batch}});
  Graph graph = std::move(onnx::build_model(network(), assumptions).graph);
  if (network_case.optimise) rewrite(graph, assumptions);
  PlanOptions options;
  options.precision = network_case.precision;
  return build_structure(graph, assumptions, traits, options);
}

class NetworkPlan : public ::testing::TestWithParam<NetworkCase> {};

TEST_P(NetworkPlan, needs_every_barrier) {
  const DeviceTraits traits = make_device_plan(recorded_snapshot(GetParam().device), {}).traits;
  const Structure structure = structure_of(GetParam(), traits, GetParam().batch);
  const InstantiatedProgram planned = instantiate(structure, {{"batch", GetParam().batch}}, traits);
  const Program& program = planned.program;
  verify(program, traits);
  std::size_t barriers = 0;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    if (!std::holds_alternative<Barrier>(program.steps[i])) continue;
    ++barriers;
    Program without = program;
    without.steps.erase(without.steps.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_THROW(verify(without, traits), Error) << "barrier at step " << i;
  }
  EXPECT_EQ(barriers, planned.report.barriers);
  EXPECT_GT(barriers, 20U);
  // What a barrier stands before has a higher level than what it waits for.
  EXPECT_EQ(barriers + 1, planned.report.levels);
}

TEST_P(NetworkPlan, shares_memory_and_is_deterministic) {
  const DeviceTraits traits = make_device_plan(recorded_snapshot(GetParam().device), {}).traits;
  const SymbolValues sizes{{"batch", GetParam().batch}};
  const Structure structure = structure_of(GetParam(), traits, GetParam().batch);
  const InstantiatedProgram planned = instantiate(structure, sizes, traits);
  EXPECT_GE(planned.report.arena_bytes, planned.report.lower_bound_bytes);
  EXPECT_LT(planned.report.arena_bytes, planned.report.unshared_bytes / 4);
  EXPECT_LE(planned.report.arena_bytes, planned.report.lower_bound_bytes * 21 / 20);
  const InstantiatedProgram again = instantiate(structure_of(GetParam(), traits, GetParam().batch), sizes, traits);
  ASSERT_EQ(again.program.steps.size(), planned.program.steps.size());
  EXPECT_EQ(again.program.pipelines, planned.program.pipelines);
  EXPECT_EQ(again.program.parameters, planned.program.parameters);
  EXPECT_EQ(again.report.arena_bytes, planned.report.arena_bytes);
}

TEST_P(NetworkPlan, serves_other_batches) {
  const DeviceTraits traits = make_device_plan(recorded_snapshot(GetParam().device), {}).traits;
  const Structure structure = structure_of(GetParam(), traits, 2);
  for (const std::int64_t batch : {2, 3, 16}) {
    ASSERT_TRUE(guards_hold(structure.guards, {{"batch", batch}})) << batch;
    const InstantiatedProgram planned = instantiate(structure, {{"batch", batch}}, traits);
    verify(planned.program, traits);
    EXPECT_EQ(planned.program.inputs[0].shape, (std::vector<std::int64_t>{batch, 3, 224, 224}));
    EXPECT_EQ(planned.program.outputs[0].shape, (std::vector<std::int64_t>{batch, 1000}));
  }
}

TEST_P(NetworkPlan, is_not_used_far_from_what_it_was_tuned_for) {
  const DeviceTraits traits = make_device_plan(recorded_snapshot(GetParam().device), {}).traits;
  const Structure structure = structure_of(GetParam(), traits, 4);
  for (const auto& [batch, expected] : {std::pair{1, true}, {3, true}, {16, true}, {17, false}, {32, false}}) {
    EXPECT_EQ(serves(structure, {{"batch", batch}}), expected) << batch;
  }
}

INSTANTIATE_TEST_SUITE_P(All, NetworkPlan,
                         ::testing::Values(NetworkCase{"llvmpipe_mesa_26_1", 1, Precision::float32, true},
                                           NetworkCase{"nvidia_h200", 8, Precision::float16, true},
                                           NetworkCase{"nvidia_h200", 1, Precision::float32, false},
                                           NetworkCase{"amd_r7_200_windows", 3, Precision::float16, true}),
                         [](const auto& parameter) {
                           return parameter.param.device + (parameter.param.optimise ? "" : "_unoptimised");
                         });

}  // namespace
}  // namespace lapilli
