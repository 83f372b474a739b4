#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "plan/build.h"
#include "plan/instantiate.h"
#include "program/verify.h"
#include "run/executor.h"

namespace lapilli::testing {

/// One operator, the tensors that go into it, and which of them the graph has as constants.
struct SingleNode {
  OperatorPointer op;
  std::vector<Tensor> inputs;
  std::vector<bool> constant;
};

inline InstantiatedProgram plan_single_node(const SingleNode& node, const DeviceTraits& traits,
                                            const PlanOptions& options) {
  Assumptions assumptions({});
  Graph graph;
  std::vector<ValueId> values;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const std::string name = "input" + std::to_string(i);
    const Tensor& tensor = node.inputs[i];
    values.push_back(node.constant[i] ? graph.add_constant(name, tensor)
                                      : graph.add_input(name, Fact::of(tensor.dtype(), to_shape(tensor.shape()))));
  }
  for (const ValueId output : graph.add_node(node.op, values, {"node"}, {"output"}, assumptions)) {
    graph.add_output(output);
  }
  const Structure structure = build_structure(graph, assumptions, traits, options);
  InstantiatedProgram program = instantiate(structure, {}, traits);
  verify(program.program, traits);
  return program;
}

/// The first output of the node as the device computes it.
inline Tensor run_single_node(const SingleNode& node, const VulkanDevice& device, const PlanOptions& options) {
  auto program = std::make_shared<const Program>(plan_single_node(node, device.traits(), options).program);
  Executor executor(device, std::make_shared<ResidentConstants>(device), program);
  std::vector<std::span<const std::byte>> inputs;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    if (!node.constant[i]) inputs.push_back(node.inputs[i].bytes());
  }
  Tensor output = Tensor::allocate(program->outputs[0].dtype, program->outputs[0].shape);
  const std::array outputs{output.mutable_bytes()};
  executor.run(inputs, outputs);
  return output;
}

}  // namespace lapilli::testing
