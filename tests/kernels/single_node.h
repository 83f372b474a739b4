#pragma once

#include <cmath>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "base/half.h"
#include "plan/build.h"
#include "plan/instantiate.h"
#include "program/verify.h"
#include "run/executor.h"

namespace lapilli {

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
inline Tensor run_single_node(const SingleNode& node, const Device& device, const PlanOptions& options) {
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

inline double real_at(const Tensor& tensor, std::size_t i) {
  switch (tensor.dtype()) {
    case DType::float32: return tensor.elements<float>()[i];
    case DType::float64: return tensor.elements<double>()[i];
    case DType::float16: return static_cast<float>(tensor.elements<Half>()[i]);
    case DType::bfloat16: return static_cast<float>(tensor.elements<BFloat16>()[i]);
    default: return std::numeric_limits<double>::quiet_NaN();
  }
}

/// The norm of the difference over that of the reference; NaN is never small.
inline double relative_error(const Tensor& actual, const Tensor& reference) {
  if (actual.shape() != reference.shape()) return std::numeric_limits<double>::infinity();
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(reference.element_count()); ++i) {
    const double expected = real_at(reference, i);
    difference += (real_at(actual, i) - expected) * (real_at(actual, i) - expected);
    norm += expected * expected;
  }
  return norm == 0 ? std::sqrt(difference) : std::sqrt(difference / norm);
}

/// Numbers from -1 to 1, or small integers.
inline Tensor random_tensor(DType dtype, std::vector<std::int64_t> shape, std::mt19937& generator) {
  Tensor tensor = Tensor::allocate(dtype, std::move(shape));
  std::uniform_real_distribution<float> real(-1, 1);
  std::uniform_int_distribution<std::int64_t> integer(-100, 100);
  const auto fill = [&]<class T>(std::span<T> elements, auto&& make) {
    for (T& element : elements) element = static_cast<T>(make());
  };
  switch (dtype) {
    case DType::float32: fill(tensor.mutable_elements<float>(), [&] { return real(generator); }); break;
    case DType::float64: fill(tensor.mutable_elements<double>(), [&] { return real(generator); }); break;
    case DType::float16: fill(tensor.mutable_elements<Half>(), [&] { return real(generator); }); break;
    case DType::bfloat16: fill(tensor.mutable_elements<BFloat16>(), [&] { return real(generator); }); break;
    case DType::int32: fill(tensor.mutable_elements<std::int32_t>(), [&] { return integer(generator); }); break;
    case DType::int64: fill(tensor.mutable_elements<std::int64_t>(), [&] { return integer(generator); }); break;
    case DType::uint32: fill(tensor.mutable_elements<std::uint32_t>(), [&] { return integer(generator); }); break;
    case DType::uint64: fill(tensor.mutable_elements<std::uint64_t>(), [&] { return integer(generator); }); break;
    default: break;
  }
  return tensor;
}

}  // namespace lapilli
