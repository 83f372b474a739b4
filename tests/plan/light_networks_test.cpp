// Memory and order of the networks in ONNX's test data. No device is needed.
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

struct LightCase {
  std::string network;
  double least_sharing = 1;  // a buffer for each tensor, in arenas
  std::size_t most_dispatches = 0;
};

class LightNetwork : public ::testing::TestWithParam<LightCase> {
 protected:
  [[nodiscard]] static Structure structure(const DeviceTraits& traits, Precision precision) {
    onnx::Model model = onnx::read_model(ONNX_TESTDATA "/light/light_" + GetParam().network + ".onnx");
    onnx::inline_functions(model);
    Assumptions assumptions{SymbolValues{}};
    Graph graph = std::move(onnx::build_model(model, assumptions).graph);
    rewrite(graph, assumptions);
    PlanOptions options;
    options.precision = precision;
    return build_structure(graph, assumptions, traits, options);
  }
};

// The longest chain of dispatches that wait for one another, counted anew.
std::size_t longest_chain(const Structure& structure) {
  std::vector<std::size_t> chain;
  for (const SymbolicDispatch& dispatch : structure.dispatches) {
    std::size_t longest = 0;
    for (const std::uint32_t before : dispatch.after) longest = std::max(longest, chain[before]);
    chain.push_back(longest + 1);
  }
  return chain.empty() ? 0 : *std::ranges::max_element(chain);
}

TEST_P(LightNetwork, shares_memory_and_waits_once_a_level) {
  for (const auto& [device, precision] :
       {std::pair("llvmpipe_mesa_26_1", Precision::float32), std::pair("nvidia_h200", Precision::float16)}) {
    SCOPED_TRACE(device);
    const DeviceTraits traits = make_device_plan(recorded_snapshot(device), {}).traits;
    const Structure network = structure(traits, precision);
    const InstantiatedProgram planned = instantiate(network, {}, traits);
    const PlanReport& report = planned.report;
    verify(planned.program, traits);
    EXPECT_LE(static_cast<double>(report.arena_bytes), 1.05 * static_cast<double>(report.lower_bound_bytes));
    EXPECT_GE(static_cast<double>(report.unshared_bytes),
              GetParam().least_sharing * static_cast<double>(report.arena_bytes));
    EXPECT_EQ(report.barriers + 1, longest_chain(network));
    EXPECT_EQ(report.levels, longest_chain(network));
    if (precision == Precision::float32) {
      EXPECT_LE(report.dispatches, GetParam().most_dispatches);
    }
  }
}

TEST_P(LightNetwork, needs_every_barrier) {
  const DeviceTraits traits = make_device_plan(recorded_snapshot("llvmpipe_mesa_26_1"), {}).traits;
  const Program program = instantiate(structure(traits, Precision::float32), {}, traits).program;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    if (!std::holds_alternative<Barrier>(program.steps[i])) continue;
    Program without = program;
    without.steps.erase(without.steps.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_THROW(verify(without, traits), Error) << "barrier at step " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(All, LightNetwork,
                         ::testing::Values(LightCase{"resnet50", 5, 57}, LightCase{"squeezenet", 3, 31},
                                           LightCase{"densenet121", 3, 246}, LightCase{"inception_v1", 3, 75},
                                           LightCase{"inception_v2", 3, 90}, LightCase{"shufflenet", 3, 113}),
                         [](const auto& parameter) { return parameter.param.network; });

}  // namespace
}  // namespace lapilli
