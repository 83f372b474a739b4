#include <gtest/gtest.h>

#include "import/onnx/walk.h"
#include "sample_model.h"

namespace lapilli::onnx {
namespace {

GraphParts relu() {
  return {.nodes = {node("Relu", {"x"}, {"y"}, {}, "r")},
          .inputs = {"x"},
          .outputs = {"y"},
          .initializers = {},
          .sparse_initializers = {}};
}

TEST(OnnxModel, Fields) {
  const Model result = read(sample_model());
  EXPECT_EQ(result.ir_version, 10);
  EXPECT_EQ(result.producer_name, "test");
  EXPECT_EQ(result.producer_version, "1");
  EXPECT_EQ(result.metadata.at("license"), "none");
  EXPECT_EQ(result.opset_imports, (OpsetImports{{"", 17}, {"local", 1}}));
  EXPECT_TRUE(result.unsupported.empty());
  EXPECT_EQ(result.graph.inputs[1].name, "c");
  EXPECT_EQ(result.graph.outputs[0].name, "z");
  EXPECT_EQ(result.graph.initializers.at("v").strings()[0], "word");
  const Function& twice = result.functions.at({.domain = "local", .name = "Twice", .overload = ""});
  EXPECT_EQ(twice.nodes[0].opset_version, 18);
  EXPECT_EQ(twice.nodes[0].attributes[0].refers_to, "i");
  EXPECT_EQ(twice.attribute_defaults[0].name, "j");
}

TEST(OnnxModel, TypesOfValues) {
  Message parts = graph(relu());
  const Message symbolic = Message().message(1, Message()
                                                    .number(1, proto::float16)
                                                    .message(2, Message()
                                                                    .message(1, Message().text(2, "batch"))
                                                                    .message(1, Message().number(1, 3))
                                                                    .message(1, Message())));
  parts.message(13, value_info("symbolic", symbolic));
  parts.message(13, value_info("unranked", Message().message(1, Message().number(1, proto::int8))));
  parts.message(13, value_info("optional", Message().message(9, Message().message(1, symbolic))));
  parts.message(13, value_info("map", Message().message(5, Message().number(1, proto::string).message(2, symbolic))));
  parts.message(13, Message().text(1, "untyped"));
  const std::vector<ValueInfo> infos = read(model(parts)).graph.value_infos;
  const Type tensor{
      .kind = Type::Kind::tensor,
      .dtype = DType::float16,
      .shape = {{{.size = {}, .symbol = "batch"}, {.size = 3, .symbol = ""}, {.size = {}, .symbol = ""}}},
      .element = {}};
  EXPECT_EQ(infos[0].type, tensor);
  EXPECT_EQ(infos[1].type.shape, std::nullopt);
  EXPECT_EQ(infos[1].type.dtype, DType::int8);
  EXPECT_EQ(infos[2].type.kind, Type::Kind::optional);
  EXPECT_EQ(infos[2].type.element.front(), tensor);
  EXPECT_EQ(infos[3].type.kind, Type::Kind::map);
  EXPECT_EQ(infos[3].type.dtype, DType::string);
  EXPECT_EQ(infos[4].type.kind, Type::Kind::unknown);
}

TEST(OnnxModel, UnsupportedTypesAreListed) {
  Message parts = graph(relu());
  parts.message(13, value_info("c", tensor_type(proto::complex64, {2})));
  parts.message(13, value_info("o", Message().message(7, Message())));
  const Model result = read(model(parts));
  ASSERT_EQ(result.unsupported.size(), 2U);
  EXPECT_NE(result.unsupported[0].find("value 'c': element type complex64"), std::string::npos);
  EXPECT_NE(result.unsupported[1].find("value 'o': opaque"), std::string::npos);
}

TEST(OnnxModel, VersionsThatAreTooNewAreListed) {
  EXPECT_TRUE(read(model(graph(relu()), newest_opset_version)).unsupported.empty());
  const Model result = read(model(graph(relu()), 1000).number(1, 1000));
  ASSERT_EQ(result.unsupported.size(), 2U);
  EXPECT_NE(result.unsupported[0].find("IR version 1000"), std::string::npos);
  EXPECT_NE(result.unsupported[1].find("opset 1000"), std::string::npos);
}

TEST(OnnxModel, DomainsHaveOneName) {
  Message message;
  message.number(1, 8).message(8, Message().text(1, "ai.onnx").number(2, 13));
  message.message(8, Message().text(1, "com.microsoft").number(2, 1));
  message.message(7, graph({.nodes = {node("Relu", {"x"}, {"y"}, {}, "", "ai.onnx"), node("Relu", {"y"}, {"z"}),
                                      node("Gelu", {"z"}, {"w"}, {}, "", "com.microsoft")},
                            .inputs = {"x"},
                            .outputs = {"w"},
                            .initializers = {},
                            .sparse_initializers = {}}));
  const Model result = read(message);
  EXPECT_EQ(result.graph.nodes[0].domain, "");
  EXPECT_EQ(result.graph.nodes[0].opset_version, 13);
  EXPECT_EQ(result.graph.nodes[1].opset_version, 13);
  EXPECT_EQ(result.graph.nodes[2].domain, "com.microsoft");
  EXPECT_EQ(result.graph.nodes[2].opset_version, 1);
  EXPECT_EQ(node_text(result.graph.nodes[2]), "the node that makes 'w' (com.microsoft.Gelu)");
}

TEST(OnnxModel, DomainsAreImported) {
  GraphParts parts = relu();
  parts.nodes.push_back(node("Gelu", {"y"}, {"z"}, {}, "g", "com.microsoft"));
  EXPECT_NE(
      read_error(model(graph(parts))).find("node 'g' (com.microsoft.Gelu): the model does not say which version"),
      std::string::npos);
  EXPECT_NE(read_error(Message().number(1, 8).message(7, graph(relu()))).find("opset_import"), std::string::npos);
  EXPECT_EQ(read(Message().number(1, 2).message(7, graph(relu()))).graph.nodes[0].opset_version, 1);
  Message contradiction = model(graph(relu()));
  contradiction.message(8, Message().text(1, "ai.onnx").number(2, 3));
  EXPECT_NE(read_error(contradiction).find("versions 17 and 3"), std::string::npos);
}

TEST(OnnxModel, NodesInSubgraphsAndFunctionsAreVisited) {
  std::vector<std::string> operators;
  for_each_node(read(sample_model()), [&](const Node& visited) { operators.push_back(visited.op_type); });
  EXPECT_EQ(operators, (std::vector<std::string>{"If", "Neg", "Neg", "Twice", "Concat"}));
}

TEST(OnnxModel, CapturedValues) {
  const Message deepest = graph({.nodes = {node("Add", {"a", "p"}, {"q"})},
                                 .inputs = {},
                                 .outputs = {"q"},
                                 .initializers = {},
                                 .sparse_initializers = {}});
  const Message middle =
      graph({.nodes = {node("Neg", {"w"}, {"p"}),
                       node("Loop", {"c", ""}, {"r"}, {attribute("body", 5, Message().message(6, deepest))})},
             .inputs = {},
             .outputs = {"r", "o"},
             .initializers = {raw_tensor("w", proto::uint8, {1}, "a")},
             .sparse_initializers = {}});
  const Model result = read(model(
      graph({.nodes = {node("Loop", {"c", ""}, {"y", "z"}, {attribute("body", 5, Message().message(6, middle))})},
             .inputs = {"a", "c", "o", "w"},
             .outputs = {"y"},
             .initializers = {},
             .sparse_initializers = {}})));
  const Graph& inner = subgraphs(result.graph.nodes[0].attributes[0]).front();
  EXPECT_EQ(captured_values(inner), (std::set<std::string, std::less<>>{"a", "c", "o"}));
  EXPECT_TRUE(captured_values(result.graph).empty());
}

}  // namespace
}  // namespace lapilli::onnx
