// Each rewrite rule alone: where it applies the graph changes and its results do not, elsewhere nothing happens.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "lapilli/error.h"
#include "passes/rewrite.h"
#include "passes/rule_cases.h"
#include "plan/build.h"
#include "plan/instantiate.h"
#include "program/verify.h"
#include "run/executor.h"
#include "support/node_runner.h"

namespace lapilli::testing {
namespace {

using RuleNames = std::set<std::string, std::less<>>;

RuleNames all_but(const std::string& name) {
  RuleNames names;
  for (const Rule& rule : rewrite_rules()) {
    if (rule.name != name) names.emplace(rule.name);
  }
  return names;
}

// Operators in their order, with their attributes.
std::vector<std::string> operators_of(const Graph& graph) {
  std::vector<std::string> texts;
  for (const NodeId id : graph.topological_order()) {
    const Node& node = graph.node(id);
    texts.push_back(std::format("{} {} of {}", node.op->name(), node.op->attributes(), node.inputs.size()));
  }
  return texts;
}

std::vector<Tensor> run_on_host(const SampleGraph& sample) {
  const Graph& graph = sample.graph();
  std::map<ValueId, Tensor> values;
  for (std::size_t i = 0; i < sample.inputs().size(); ++i) values[graph.inputs()[i]] = sample.inputs()[i];
  const auto value = [&](ValueId id) { return graph.is_constant(id) ? graph.fact(id).constant : values.at(id); };
  for (const NodeId id : graph.topological_order()) {
    const Node& node = graph.node(id);
    std::vector<Tensor> inputs;
    for (const ValueId input : node.inputs) inputs.push_back(value(input));
    values[node.outputs[0]] = node.op->evaluate(inputs)[0];
  }
  std::vector<Tensor> results;
  for (const ValueId output : graph.outputs()) results.push_back(value(output));
  return results;
}

std::vector<Tensor> run_on_device(SampleGraph& sample) {
  const VulkanDevice& device = test_device();
  const Structure structure = build_structure(sample.graph(), sample.assumptions(), device.traits(), {});
  auto program = std::make_shared<Program>(instantiate(structure, {}, device.traits()).program);
  verify(*program, device.traits());
  std::vector<std::span<const std::byte>> inputs;
  for (const Tensor& tensor : sample.inputs()) inputs.push_back(tensor.bytes());
  std::vector<Tensor> results;
  std::vector<std::span<std::byte>> outputs;
  for (const Port& port : program->outputs) {
    results.push_back(Tensor::allocate(port.dtype, port.shape));
    outputs.push_back(results.back().mutable_bytes());
  }
  Executor(device, std::make_shared<ResidentConstants>(device), program).run(inputs, outputs);
  return results;
}

void expect_close(const std::vector<Tensor>& results, const std::vector<Tensor>& expected, double tolerance) {
  ASSERT_EQ(results.size(), expected.size());
  for (std::size_t i = 0; i < results.size(); ++i) EXPECT_LE(relative_error(results[i], expected[i]), tolerance);
}

class Rules : public ::testing::TestWithParam<RuleCase> {};

TEST_P(Rules, alone) {
  const RuleCase& rule = GetParam();
  SampleGraph without = rule.build(), with = rule.build();
  const RewriteReport report = rewrite(with.graph(), with.assumptions(), all_but(rule.rule));
  with.graph().verify();
  EXPECT_EQ(operators_of(with.graph()) != operators_of(without.graph()), rule.applies) << with.graph().to_string();
  EXPECT_EQ(!report.applied.empty(), rule.applies);
  EXPECT_TRUE(std::ranges::all_of(report.applied, [&](const auto& entry) { return entry.rule == rule.rule; }));
  std::vector<std::string> reasons;
  for (const auto& entry : report.declined) reasons.push_back(entry.reason);
  EXPECT_EQ(reasons, rule.reason.empty() ? std::vector<std::string>{} : std::vector{rule.reason});
  if (!rule.applies) return;

  const std::vector<Tensor> expected = run_on_host(without);
  expect_close(run_on_host(with), expected, rule.tolerance);
  const std::vector<Tensor> before = run_on_device(without), after = run_on_device(with);
  expect_close(before, expected, 2e-6);
  expect_close(after, before, std::max(rule.tolerance, 1e-7));
  EXPECT_EQ(test_device().validation_messages(), std::vector<std::string>{});
}

INSTANTIATE_TEST_SUITE_P(Each, Rules, ::testing::ValuesIn(rule_cases()), [](const auto& parameter) {
  std::string name = parameter.param.rule + "_" + parameter.param.name;
  std::ranges::replace(name, '-', '_');
  return name;
});

TEST(RuleTable, every_rule_has_cases_both_ways) {
  for (const Rule& rule : rewrite_rules()) {
    for (const bool applies : {true, false}) {
      EXPECT_TRUE(std::ranges::any_of(rule_cases(), [&](const RuleCase& entry) {
        return entry.rule == rule.name && entry.applies == applies;
      })) << rule.name;
    }
  }
}

TEST(RuleTable, nothing_changes_when_all_are_off) {
  for (const RuleCase& rule : rule_cases()) {
    SampleGraph sample = rule.build();
    const auto before = operators_of(sample.graph());
    EXPECT_TRUE(rewrite(sample.graph(), sample.assumptions(), all_but("")).applied.empty()) << rule.name;
    EXPECT_EQ(operators_of(sample.graph()), before) << rule.name;
  }
}

TEST(RuleTable, an_unknown_name_is_an_error) {
  SampleGraph sample = rule_cases().front().build();
  EXPECT_THROW((void)rewrite(sample.graph(), sample.assumptions(), {"fuse-everything"}), Error);
}

}  // namespace
}  // namespace lapilli::testing
