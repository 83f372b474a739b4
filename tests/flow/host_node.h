#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "flow/host_call.h"

namespace lapilli::testing {

inline onnx::Attribute attribute(std::string name, onnx::Attribute::Value value) {
  return {std::move(name), onnx::AttributeType::undefined, std::move(value), {}};
}

/// A node of the newest opset; its name is that of its operator.
inline onnx::Node make_node(std::string op_type, std::vector<std::string> inputs, std::vector<std::string> outputs,
                            std::vector<onnx::Attribute> attributes = {}, std::string domain = {}) {
  onnx::Node node;
  node.name = op_type;
  node.op_type = std::move(op_type);
  node.opset_version = domain.empty() ? 23 : 5;
  node.domain = std::move(domain);
  node.inputs = std::move(inputs);
  node.outputs = std::move(outputs);
  node.attributes = std::move(attributes);
  return node;
}

/// Runs a node without subgraphs as the host does.
inline std::vector<Value> run_on_host(const onnx::Node& node, std::vector<Value> inputs) {
  const HostOperator* record = find_host_operator(node.domain, node.op_type, node.opset_version);
  if (record == nullptr) fail(ErrorCode::internal, "no operator {}", node.op_type);
  HostCall call(node, std::move(inputs), {});
  record->run(call);
  return call.take_outputs();
}

inline std::vector<std::string> names(const std::string& prefix, std::size_t count) {
  std::vector<std::string> result;
  for (std::size_t i = 0; i < count; ++i) result.push_back(prefix + std::to_string(i));
  return result;
}

inline std::vector<Value> run_on_host(std::string op_type, std::vector<Value> inputs, std::size_t outputs,
                                      std::vector<onnx::Attribute> attributes = {}, std::string domain = {}) {
  const onnx::Node node = make_node(std::move(op_type), names("in", inputs.size()), names("out", outputs),
                                    std::move(attributes), std::move(domain));
  return run_on_host(node, std::move(inputs));
}

inline Tensor texts(std::vector<std::int64_t> shape, std::vector<std::string> values) {
  return Tensor::of_strings(std::move(shape), std::move(values));
}

inline std::vector<std::string> strings_in(const Value& value) {
  const auto strings = value.tensor().strings();
  return {strings.begin(), strings.end()};
}

/// The text of the Error that an action throws; empty when it throws none.
template <class Action>
std::string error_of(Action&& action) {
  try {
    std::forward<Action>(action)();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace lapilli::testing
