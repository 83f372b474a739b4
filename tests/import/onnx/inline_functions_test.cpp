#include "import/onnx/inline_functions.h"

#include <gtest/gtest.h>

#include "import/onnx/validate.h"
#include "import/onnx/walk.h"
#include "lapilli/error.h"
#include "sample_model.h"

namespace lapilli::onnx {
namespace {

constexpr int integer = 2;

Message call(std::string_view name, const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
             const std::vector<Message>& attributes = {}, std::string_view node_name = "call") {
  return node(name, inputs, outputs, attributes, node_name, "local");
}

/// A function of opset 18 with attribute k, and j of default 2.
Message function_of(const std::string& name, const std::vector<Message>& nodes,
                    const std::vector<std::string>& inputs = {"a"}, const std::vector<std::string>& outputs = {"b"}) {
  return function({.name = name,
                   .inputs = inputs,
                   .outputs = outputs,
                   .nodes = nodes,
                   .attributes = {"k"},
                   .defaults = {attribute("j", integer, Message().number(3, 2))},
                   .opset = 18});
}

Model inlined(const std::vector<Message>& nodes, const std::vector<Message>& functions) {
  Model result = read(model(
      graph({.nodes = nodes, .inputs = {"x", "y"}, .outputs = {"z"}, .initializers = {}, .sparse_initializers = {}}),
      17, functions));
  inline_functions(result);
  EXPECT_TRUE(result.functions.empty());
  EXPECT_NO_THROW(validate(result));
  return result;
}

std::string error_of(const std::vector<Message>& nodes, const std::vector<Message>& functions) {
  try {
    (void)inlined(nodes, functions);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

using Names = std::vector<std::string>;

TEST(OnnxInline, BodiesReplaceCalls) {
  const Model result =
      inlined({call("F", {"x"}, {"m"}, {}, "one"), call("F", {"m"}, {"z"}, {}, "two"), node("Neg", {"z"}, {"end"})},
              {function_of("F", {node("Relu", {"a"}, {"t"}, {}, "r"), node("Neg", {"t"}, {"b"})})});
  const std::vector<Node>& nodes = result.graph.nodes;
  ASSERT_EQ(nodes.size(), 5U);
  EXPECT_EQ(nodes[0].name, "one/r");
  EXPECT_EQ(nodes[0].inputs, Names{"x"});
  EXPECT_EQ(nodes[0].outputs, Names{"one/t"});
  EXPECT_EQ(nodes[1].name, "one/Neg");
  EXPECT_EQ(nodes[1].outputs, Names{"m"});
  EXPECT_EQ(nodes[3].inputs, Names{"two/t"});
  EXPECT_EQ(nodes[3].outputs, Names{"z"});
  EXPECT_EQ(nodes[3].opset_version, 18);
  EXPECT_EQ(nodes[4].opset_version, 17);
}

TEST(OnnxInline, NamesStayUnique) {
  const Model result = inlined(
      {node("Neg", {"x"}, {"same/t"}), call("F", {"same/t"}, {"m"}, {}, "same"), call("F", {"m"}, {"z"}, {}, "same")},
      {function_of("F", {node("Relu", {"a"}, {"t"}), node("Neg", {"t"}, {"b"})})});
  EXPECT_EQ(result.graph.nodes[1].outputs, Names{"same/t_2"});
  EXPECT_EQ(result.graph.nodes[3].outputs, Names{"same/t_3"});
}

TEST(OnnxInline, AttributesAreBound) {
  const std::vector<Message> body{node("Op", {"a"}, {"b"},
                                       {reference("from_call", integer, "k"), reference("from_default", integer, "j"),
                                        attribute("own", integer, Message().number(3, 9))})};
  const Node bound =
      inlined({call("F", {"x"}, {"z"}, {attribute("k", integer, Message().number(3, 5))})}, {function_of("F", body)})
          .graph.nodes[0];
  EXPECT_EQ(*bound.find<std::int64_t>("from_call"), 5);
  EXPECT_EQ(*bound.find<std::int64_t>("from_default"), 2);
  EXPECT_EQ(*bound.find<std::int64_t>("own"), 9);
  const Node unbound =
      inlined({call("F", {"x"}, {"z"}, {attribute("j", integer, Message().number(3, 6))})}, {function_of("F", body)})
          .graph.nodes[0];
  EXPECT_EQ(unbound.find_attribute("from_call"), nullptr);
  EXPECT_EQ(*unbound.find<std::int64_t>("from_default"), 6);
  EXPECT_NE(error_of({call("F", {"x"}, {"z"}, {attribute("k", 1, Message().real(2, 5))})}, {function_of("F", body)})
                .find("has type float, but its function takes int"),
            std::string::npos);
}

TEST(OnnxInline, FunctionsCallFunctions) {
  const Model result = inlined(
      {call("Outer", {"x"}, {"z"}, {attribute("k", integer, Message().number(3, 5))}, "o")},
      {function_of("Outer", {call("Inner", {"a"}, {"b"}, {reference("j", integer, "k")}, "i")}),
       function_of("Inner", {node("Op", {"a"}, {"t"}, {reference("n", integer, "j")}), node("Neg", {"t"}, {"b"})})});
  ASSERT_EQ(result.graph.nodes.size(), 2U);
  EXPECT_EQ(result.graph.nodes[0].outputs, Names{"o/i/t"});
  EXPECT_EQ(result.graph.nodes[0].name, "o/i/Op");
  EXPECT_EQ(*result.graph.nodes[0].find<std::int64_t>("n"), 5);
}

TEST(OnnxInline, RecursionIsRefused) {
  EXPECT_NE(error_of({call("F", {"x"}, {"z"})},
                     {function_of("F", {call("G", {"a"}, {"b"})}), function_of("G", {call("F", {"a"}, {"b"})})})
                .find("calls itself"),
            std::string::npos);
}

TEST(OnnxInline, InputsMayBeLeftOut) {
  const Model result = inlined({call("F", {"x"}, {"z"}), call("F", {"x", "", "y"}, {"w"})},
                               {function_of("F", {node("Clip", {"a", "low", "high"}, {"b"})}, {"a", "low", "high"})});
  EXPECT_EQ(result.graph.nodes[0].inputs, (Names{"x", "", ""}));
  EXPECT_EQ(result.graph.nodes[1].inputs, (Names{"x", "", "y"}));
  EXPECT_NE(error_of({call("F", {"x", "y"}, {"z"})}, {function_of("F", {node("Relu", {"a"}, {"b"})})})
                .find("has 2 inputs and 1 outputs, but its function takes 1 and gives 1"),
            std::string::npos);
}

TEST(OnnxInline, OutputsMayBeLeftOutReturnedTwiceOrInputs) {
  const Message body = function_of("F", {node("Relu", {"a"}, {"b"})}, {"a"}, {"b", "b", "a"});
  const Model some = inlined({call("F", {"x"}, {"", "z"})}, {body});
  ASSERT_EQ(some.graph.nodes.size(), 1U);
  EXPECT_EQ(some.graph.nodes[0].outputs, Names{"z"});
  const Model all = inlined({call("F", {"x"}, {"z", "v", "w"})}, {body});
  ASSERT_EQ(all.graph.nodes.size(), 3U);
  EXPECT_EQ(all.graph.nodes[1].op_type, "Identity");
  EXPECT_EQ(all.graph.nodes[1].inputs, Names{"z"});
  EXPECT_EQ(all.graph.nodes[1].outputs, Names{"v"});
  EXPECT_EQ(all.graph.nodes[2].inputs, Names{"x"});
  EXPECT_EQ(all.graph.nodes[2].outputs, Names{"w"});
  EXPECT_EQ(all.graph.nodes[2].opset_version, 18);
  const Message returns_input = function_of("G", {}, {"a"}, {"a"});
  EXPECT_NE(error_of({call("G", {""}, {"z"})}, {returns_input}).find("leaves out input 'a'"), std::string::npos);
}

TEST(OnnxInline, SubgraphsAreRenamedAndExpanded) {
  // The branch reads the function's input and value t, and calls a function; its input hides a name of the function.
  const Message branch = graph({.nodes = {node("Add", {"t", "hidden"}, {"s"}), call("G", {"s"}, {"u"}, {}, "g"),
                                          node("Concat", {"u", "a"}, {"v"}, {reference("axis", integer, "k")})},
                                .inputs = {"hidden"},
                                .outputs = {"v"},
                                .initializers = {raw_tensor("w", proto::uint8, {1}, "a")},
                                .sparse_initializers = {}});
  const Model result = inlined(
      {call("F", {"x", "y"}, {"z"}, {attribute("k", integer, Message().number(3, 5))}, "f")},
      {function_of("F",
                   {node("Relu", {"a"}, {"t"}),
                    node("Loop", {"hidden", ""}, {"b"}, {attribute("body", 5, Message().message(6, branch))})},
                   {"a", "hidden"}),
       function_of("G", {node("Neg", {"a"}, {"b"})})});
  ASSERT_EQ(result.graph.nodes.size(), 2U);
  EXPECT_EQ(result.graph.nodes[1].inputs, (Names{"y", ""}));
  const Graph& body = result.graph.nodes[1].find<std::vector<Graph>>("body")->front();
  ASSERT_EQ(body.nodes.size(), 3U);
  EXPECT_EQ(body.inputs[0].name, "f/hidden");
  EXPECT_EQ(body.outputs[0].name, "f/v");
  EXPECT_TRUE(body.initializers.contains("f/w"));
  EXPECT_EQ(body.nodes[0].inputs, (Names{"f/t", "f/hidden"}));
  EXPECT_EQ(body.nodes[1].op_type, "Neg");
  EXPECT_EQ(body.nodes[1].outputs, Names{"f/u"});
  EXPECT_EQ(body.nodes[2].inputs, (Names{"f/u", "x"}));
  EXPECT_EQ(*body.nodes[2].find<std::int64_t>("axis"), 5);
  EXPECT_EQ(captured_values(body), (std::set<std::string, std::less<>>{"f/t", "x"}));
}

TEST(OnnxInline, GraphsGivenAsAttributesKeepTheirNames) {
  const Message branch = graph({.nodes = {node("Neg", {"y"}, {"t"})},
                                .inputs = {},
                                .outputs = {"t"},
                                .initializers = {},
                                .sparse_initializers = {}});
  const Model result = inlined(
      {call("F", {"x"}, {"z"}, {attribute("k", 5, Message().message(6, branch))})},
      {function_of(
          "F", {node("If", {"a"}, {"b"}, {reference("then_branch", 5, "k"), reference("else_branch", 5, "k")})})});
  const Graph& body = result.graph.nodes[0].find<std::vector<Graph>>("then_branch")->front();
  EXPECT_EQ(body.nodes[0].inputs, Names{"y"});
  EXPECT_EQ(body.outputs[0].name, "t");
}

}  // namespace
}  // namespace lapilli::onnx
