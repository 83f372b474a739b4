#include "import/onnx/expand.h"

#include <gtest/gtest.h>

#include "import/onnx/validate.h"
#include "lapilli/error.h"
#include "sample_model.h"

namespace lapilli::onnx {
namespace {

using Names = std::vector<std::string>;

Model expanded(const std::vector<Message>& nodes, const std::vector<std::string>& outputs) {
  Model result = read(model(graph(
      {.nodes = nodes, .inputs = {"x", "y"}, .outputs = outputs, .initializers = {}, .sparse_initializers = {}})));
  expand_nodes(result);
  EXPECT_NO_THROW(validate(result));
  return result;
}

Names operators(const Model& result) {
  Names names;
  for (const Node& node : result.graph.nodes) names.push_back(node.domain + "." + node.op_type);
  return names;
}

TEST(OnnxExpand, CutsResultsToTheirSize) {
  const Model result = expanded({node("NonZero", {"x"}, {"z"}, {}, "n")}, {"z"});
  EXPECT_EQ(operators(result), (Names{"lapilli.NonZeroPadded", "lapilli.Take"}));
  const std::vector<Node>& nodes = result.graph.nodes;
  EXPECT_EQ(nodes[0].inputs, Names{"x"});
  EXPECT_EQ(nodes[1].inputs, nodes[0].outputs);
  EXPECT_EQ(nodes[1].outputs, Names{"z"});
  EXPECT_EQ(nodes[1].name, "n");
}

TEST(OnnxExpand, MakesWhatOutputsNeed) {
  EXPECT_EQ(operators(expanded({node("Unique", {"x"}, {"z"})}, {"z"})),
            (Names{"lapilli.UniquePadded", "lapilli.Take", "lapilli.GatherSlices"}));
  const Model all = expanded({node("Unique", {"x"}, {"z", "i", "j", "c"})}, {"z", "i", "j", "c"});
  EXPECT_EQ(operators(all), (Names{"lapilli.UniquePadded", "lapilli.Take", "lapilli.Take", "lapilli.GatherSlices"}));
  EXPECT_EQ(all.graph.nodes[0].outputs[1], "j");
  EXPECT_EQ(all.graph.nodes[1].outputs, Names{"i"});
  EXPECT_EQ(all.graph.nodes[2].outputs, Names{"c"});
}

constexpr int graph_attribute = 5;

Model attention(const Message& modifier) {
  const Message call = node("FlexAttention", {"x", "y", "x"}, {"z"},
                            {attribute("score_mod", graph_attribute, Message().message(6, modifier))}, "a");
  Model result = read(model(graph(
      {.nodes = {call}, .inputs = {"x", "y"}, .outputs = {"z"}, .initializers = {}, .sparse_initializers = {}})));
  result.graph.nodes[0].domain = "ai.onnx.preview";
  return result;
}

TEST(OnnxExpand, PutsTheGraphsOfAttentionWhereTheyApply) {
  const Message modifier = graph({.nodes = {node("Mul", {"x", "factor"}, {"t"}), node("Tanh", {"t"}, {"r"})},
                                  .inputs = {"x"},
                                  .outputs = {"r"},
                                  .initializers = {raw_tensor("factor", proto::float32, {}, std::string(4, '\1'))},
                                  .sparse_initializers = {}});
  Model result = attention(modifier);
  expand_nodes(result);
  EXPECT_NO_THROW(validate(result));
  EXPECT_EQ(operators(result),
            (Names{"lapilli.AttentionScores", ".Constant", ".Mul", ".Tanh", ".Softmax", "lapilli.AttentionValues"}));
  const std::vector<Node>& nodes = result.graph.nodes;
  // The graph's own "x" is the scores, and hides that of the model.
  EXPECT_EQ(nodes[2].inputs, (Names{nodes[0].outputs[0], nodes[1].outputs[0]}));
  EXPECT_EQ(nodes[4].inputs, nodes[3].outputs);
  EXPECT_EQ(nodes[5].inputs, (Names{nodes[4].outputs[0], "x"}));
  EXPECT_EQ(nodes[5].outputs, Names{"z"});
}

TEST(OnnxExpand, RefusesAGraphOfAttentionWithTwoInputs) {
  Model result = attention(graph({.nodes = {node("Add", {"s", "t"}, {"r"})},
                                  .inputs = {"s", "t"},
                                  .outputs = {"r"},
                                  .initializers = {},
                                  .sparse_initializers = {}}));
  EXPECT_THROW(expand_nodes(result), Error);
}

TEST(OnnxExpand, LeavesTheRest) {
  const Model result = expanded({node("Relu", {"x"}, {"a"}), node("Compress", {"a", "y"}, {"z"}, {}, "one"),
                                 node("Compress", {"z", "y"}, {"w"}, {}, "one")},
                                {"w"});
  EXPECT_EQ(operators(result), (Names{".Relu", "lapilli.SelectedPadded", "lapilli.Take", "lapilli.GatherSlices",
                                      "lapilli.SelectedPadded", "lapilli.Take", "lapilli.GatherSlices"}));
}

}  // namespace
}  // namespace lapilli::onnx
