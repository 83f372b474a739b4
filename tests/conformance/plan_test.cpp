// The whole way from each model of ONNX's suite to a Program that its judge accepts. No device is needed, so this is
// also what shows the sanitizers all of the importer, the rewrites and the planner.
#include <gtest/gtest.h>

#include <optional>
#include <ranges>

#include "api/network.h"
#include "conformance/data_set.h"
#include "conformance/expectations.h"
#include "conformance/test_case.h"
#include "lapilli/error.h"
#include "plan/build.h"
#include "plan/instantiate.h"
#include "program/verify.h"
#include "program/verify_kernels.h"
#include "support/restrictions.h"
#include "vulkan/device_plan.h"
#include "vulkan/recorded_snapshots.h"

namespace lapilli::conformance {
namespace {

struct PlanCase {
  std::string name;
  std::string device;
  bool optimise = true;
  Precision precision = Precision::float32;
  bool all_types = true;       // the device has every type that the suite uses
  std::string limits = {};     // what is taken from it
  std::uint32_t subgroup = 0;  // the only size of its subgroups; 0 for those that it has
};

// Nothing where the host has a part in the model.
std::optional<SymbolValues> sizes_for(const Network& network, const TestCase& test) {
  if (!network.may_be_one_graph()) return std::nullopt;
  if (test.data_sets.empty()) return network.complete_sizes({});
  std::vector<Tensor> tensors;
  for (const Value& value : read_inputs(network.model(), test.data_sets.front())) {
    if (!value.is_tensor()) return std::nullopt;
    tensors.push_back(value.tensor());
  }
  return network.sizes_of(tensors);
}

/// Whether the model is one Program, and not one that the host runs part by part.
bool plan(const TestCase& test, const ModelOptions& options, const DeviceTraits& traits) {
  const Network network(test.model);
  const std::optional<SymbolValues> sizes = sizes_for(network, test);
  if (!sizes) return false;
  Assumptions assumptions(*sizes);
  const std::optional<Network::Built> built = network.build(assumptions, options);
  if (!built) return false;
  PlanOptions plan_options;
  plan_options.precision = options.precision;
  const Structure structure = build_structure(built->graph, assumptions, traits, plan_options);
  const Program program = instantiate(structure, *sizes, traits).program;
  verify(program, traits);
  verify_kernels(program, traits);
  return true;
}

class SuitePlan : public ::testing::TestWithParam<PlanCase> {};

TEST_P(SuitePlan, IsValidForEveryModel) {
  const std::vector<TestCase> cases = find_cases(ONNX_TESTDATA);
  const Expectations expectations = Expectations::read(CONFORMANCE_EXPECTED_FAILURES);
  ModelOptions options;
  options.optimise = GetParam().optimise;
  options.precision = GetParam().precision;
  std::vector<std::string> modes{options.optimise ? "optimised" : "unoptimised",
                                 options.precision == Precision::float32 ? "float32" : "float16"};
  for (const auto limit : std::views::split(GetParam().limits, ',')) modes.emplace_back(limit.begin(), limit.end());
  DeviceRestrictions restrictions;
  restrict_device(restrictions, GetParam().limits);
  DeviceSnapshot snapshot = recorded_snapshot(GetParam().device);
  if (const std::uint32_t size = GetParam().subgroup; size != 0) {
    snapshot.subgroup.size = snapshot.subgroup.min_size = snapshot.subgroup.max_size = size;
  }
  const DeviceTraits traits = make_device_plan(snapshot, restrictions).traits;
  std::size_t planned = 0;
  for (const TestCase& test : cases) {
    try {
      planned += plan(test, options, traits) ? 1U : 0U;
    } catch (const Error& error) {
      const bool expected = expectations.find(test, modes) != nullptr ||
                            (!GetParam().all_types && error.code() == ErrorCode::unsupported);
      EXPECT_TRUE(expected && error.code() != ErrorCode::internal) << test.full_name() << ": " << error.what();
    }
  }
  EXPECT_GT(planned, cases.size() / 2);
}

INSTANTIATE_TEST_SUITE_P(
    All, SuitePlan,
    ::testing::Values(
        PlanCase{"Llvmpipe", "llvmpipe_mesa_26_1"}, PlanCase{"LlvmpipeUnoptimised", "llvmpipe_mesa_26_1", false},
        PlanCase{"NvidiaFloat16", "nvidia_h200", true, Precision::float16},
        PlanCase{"FewGroups", "llvmpipe_mesa_26_1", true, Precision::float32, true, "max_groups=64"},
        PlanCase{"SmallBindings", "llvmpipe_mesa_26_1", true, Precision::float32, true, "max_storage_range=1048576"},
        PlanCase{"SmallAllocations", "llvmpipe_mesa_26_1", true, Precision::float32, true, "max_allocation=16777216"},
        PlanCase{"SmallEverything", "nvidia_h200", true, Precision::float16, true,
                 "max_groups=64,max_storage_range=1048576,max_allocation=16777216,"
                 "max_shared_memory=16384,no_float16,no_int8,no_int64"},
        PlanCase{"Subgroups4", "nvidia_h200", true, Precision::float16, true, "", 4},
        PlanCase{"Subgroups64", "nvidia_h200", true, Precision::float16, true, "", 64},
        PlanCase{"OldAmdFloat16", "amd_r7_200_windows", true, Precision::float16, false}),
    [](const auto& parameter) { return parameter.param.name; });

}  // namespace
}  // namespace lapilli::conformance
