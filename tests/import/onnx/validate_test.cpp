#include "import/onnx/validate.h"

#include <gtest/gtest.h>

#include "sample_model.h"

namespace lapilli::onnx {
namespace {

std::string error_of(const std::vector<Message>& nodes, const std::vector<std::string>& outputs = {},
                     const std::vector<Message>& initializers = {}) {
  return read_error(model(graph({.nodes = nodes,
                                 .inputs = {"x"},
                                 .outputs = outputs,
                                 .initializers = initializers,
                                 .sparse_initializers = {}})));
}

void expect_parts(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
}

TEST(OnnxValidate, ValuesHaveOneProducer) {
  expect_parts(error_of({node("Relu", {"x"}, {"y"}, {}, "a"), node("Neg", {"x"}, {"y"}, {}, "b")}),
               {"node 'b' (Neg)", "'y'", "node 'a' (Relu)"});
  expect_parts(error_of({node("Relu", {"x"}, {"x"}, {}, "a")}), {"node 'a'", "'x'", "input or initializer"});
  expect_parts(error_of({node("Split", {"x"}, {"y", "y"}, {}, "a")}), {"node 'a'", "'y'"});
  expect_parts(error_of({}, {}, {raw_tensor("w", 2, {1}, "a"), raw_tensor("w", 2, {1}, "a")}), {"'w'"});
  expect_parts(
      read_error(model(
          graph({.nodes = {}, .inputs = {"x", "x"}, .outputs = {}, .initializers = {}, .sparse_initializers = {}}))),
      {"two inputs are called 'x'"});
}

TEST(OnnxValidate, ValuesThatAreReadExist) {
  expect_parts(error_of({node("Relu", {"nothing"}, {"y"}, {}, "a")}),
               {"node 'a' (Relu) reads 'nothing', which no input"});
  expect_parts(error_of({}, {"nothing"}), {"the graph's output reads 'nothing'"});
}

TEST(OnnxValidate, NodesComeAfterWhatTheyRead) {
  expect_parts(error_of({node("Relu", {"z"}, {"y"}, {}, "a"), node("Neg", {"x"}, {"z"}, {}, "b")}),
               {"node 'a' (Relu) reads 'z'", "node 'b' (Neg)", "out of order or form a cycle"});
  expect_parts(error_of({node("Relu", {"y"}, {"y"}, {}, "a")}), {"node 'a' (Relu) reads 'y'"});
}

TEST(OnnxValidate, EmptyNamesAreLeftOut) {
  EXPECT_EQ(error_of({node("Clip", {"x", "", "x"}, {"y", "", ""})}, {"y"}), "");
}

TEST(OnnxValidate, InitializersMayBeDefaultsOfInputs) {
  const auto error = [](int type, const std::vector<std::int64_t>& shape, const char* bytes) {
    return error_of({node("Relu", {"x"}, {"y"})}, {"y"}, {raw_tensor("x", type, shape, bytes)});
  };
  EXPECT_EQ(error(proto::float32, {2}, "12345678"), "");
  expect_parts(error(proto::float32, {1}, "1234"),
               {"initializer 'x' is float32[1], which its declaration as an input"});
  expect_parts(error(proto::int32, {2}, "12345678"), {"initializer 'x' is int32[2]"});
}

Message subgraph_reading(const std::string& name, const std::vector<Message>& more = {}) {
  std::vector<Message> nodes{node("Neg", {name}, {"inner"}, {}, "n")};
  nodes.insert(nodes.end(), more.begin(), more.end());
  return attribute(
      "body", 5,
      Message().message(
          6,
          graph(
              {.nodes = nodes, .inputs = {}, .outputs = {"inner"}, .initializers = {}, .sparse_initializers = {}})));
}

TEST(OnnxValidate, SubgraphsReadWhatIsAroundThem) {
  const Message before = node("Relu", {"x"}, {"y"});
  const Message after = node("Relu", {"x"}, {"z"}, {}, "later");
  const auto with_body = [&](const Message& body) {
    return error_of({before, node("Loop", {"x", ""}, {"w"}, {body}, "loop"), after});
  };
  EXPECT_EQ(with_body(subgraph_reading("y")), "");
  expect_parts(with_body(subgraph_reading("nothing")), {"node 'loop' (Loop), attribute 'body'", "node 'n' (Neg)"});
  expect_parts(with_body(subgraph_reading("z")), {"node 'n' (Neg) reads 'z'", "node 'later'"});
  expect_parts(with_body(subgraph_reading("w")), {"node 'n' (Neg) reads 'w'", "node 'loop'"});
}

TEST(OnnxValidate, OwnNamesHideOuterOnes) {
  const auto with_body = [&](const Message& body) {
    return error_of({node("Loop", {"x", ""}, {"w"}, {body}, "loop")});
  };
  EXPECT_EQ(with_body(attribute("body", 5,
                                Message().message(6, graph({.nodes = {node("Neg", {"x"}, {"y"})},
                                                            .inputs = {"x"},
                                                            .outputs = {"y"},
                                                            .initializers = {},
                                                            .sparse_initializers = {}})))),
            "");
  // Which x the first node means would be anyone's guess.
  expect_parts(with_body(subgraph_reading("x", {node("Neg", {"inner"}, {"x"})})), {"node 'n' (Neg) reads 'x'"});
}

TEST(OnnxValidate, FunctionsStandAlone) {
  const auto with_function = [](const FunctionParts& parts) {
    return read_error(model(graph({}), 17, {function(parts)}));
  };
  FunctionParts parts{.name = "F",
                      .inputs = {"a"},
                      .outputs = {"b"},
                      .nodes = {node("Relu", {"a"}, {"b"})},
                      .attributes = {},
                      .defaults = {},
                      .opset = 17};
  EXPECT_EQ(with_function(parts), "");
  parts.outputs = {"c"};
  expect_parts(with_function(parts), {"function 'F' of domain 'local'", "'c'"});
  parts.outputs = {"b"};
  parts.nodes = {node("Elu", {"a"}, {"b"}, {reference("alpha", 1, "beta")}, "n")};
  expect_parts(with_function(parts), {"node 'n' (Elu)", "'beta'", "does not take"});
  parts.attributes = {"beta"};
  EXPECT_EQ(with_function(parts), "");
  parts.attributes = {"beta", "beta"};
  expect_parts(with_function(parts), {"'beta' twice"});
}

}  // namespace
}  // namespace lapilli::onnx
