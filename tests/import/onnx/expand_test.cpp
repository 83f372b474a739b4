#include "import/onnx/expand.h"

#include <gtest/gtest.h>

#include "import/onnx/validate.h"
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

TEST(OnnxExpand, LeavesTheRest) {
  const Model result = expanded({node("Relu", {"x"}, {"a"}), node("Compress", {"a", "y"}, {"z"}, {}, "one"),
                                 node("Compress", {"z", "y"}, {"w"}, {}, "one")},
                                {"w"});
  EXPECT_EQ(operators(result), (Names{".Relu", "lapilli.SelectedPadded", "lapilli.Take", "lapilli.GatherSlices",
                                      "lapilli.SelectedPadded", "lapilli.Take", "lapilli.GatherSlices"}));
}

}  // namespace
}  // namespace lapilli::onnx
