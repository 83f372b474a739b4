#include <gtest/gtest.h>

#include "import/onnx/walk.h"
#include "lapilli/error.h"
#include "sample_model.h"

namespace lapilli::onnx {
namespace {

Message with_attribute(const Message& item) {
  return model(graph({.nodes = {node("Op", {}, {"y"}, {item}, "n")},
                      .inputs = {},
                      .outputs = {"y"},
                      .initializers = {},
                      .sparse_initializers = {}}));
}

Node node_with(const Message& item) { return read(with_attribute(item)).graph.nodes.front(); }

TEST(OnnxAttribute, Numbers) {
  EXPECT_EQ(*node_with(attribute("a", 1, Message().real(2, 1.5F))).find<float>("a"), 1.5F);
  EXPECT_EQ(*node_with(attribute("a", 2, Message().number(3, -5))).find<std::int64_t>("a"), -5);
  EXPECT_EQ(*node_with(attribute("a", 6, Message().reals(7, {1, 2}))).find<std::vector<float>>("a"),
            (std::vector<float>{1, 2}));
  EXPECT_EQ(*node_with(attribute("a", 7, Message().number(8, 3).number(8, -1))).find<std::vector<std::int64_t>>("a"),
            (std::vector<std::int64_t>{3, -1}));
}

TEST(OnnxAttribute, Strings) {
  EXPECT_EQ(*node_with(attribute("a", 3, Message().text(4, "same_upper"))).find<std::string>("a"), "same_upper");
  EXPECT_EQ(*node_with(attribute("a", 8, Message().text(9, "b").text(9, ""))).find<std::vector<std::string>>("a"),
            (std::vector<std::string>{"b", ""}));
}

TEST(OnnxAttribute, Tensors) {
  const Message tensor = raw_tensor("", proto::uint8, {2}, "ab");
  EXPECT_EQ(node_with(attribute("a", 4, Message().message(5, tensor))).find<Tensor>("a")->bytes()[1], std::byte{'b'});
  const Node several = node_with(attribute("a", 9, Message().message(10, tensor).message(10, tensor)));
  EXPECT_EQ(several.find<std::vector<Tensor>>("a")->size(), 2U);
  const Message sparse = Message()
                             .message(1, tensor_header("", proto::float32, {1}).reals(4, {8}))
                             .message(2, tensor_header("", proto::int64, {1}).numbers(7, {1}))
                             .numbers(3, {3});
  const Tensor dense = *node_with(attribute("a", 11, Message().message(22, sparse))).find<Tensor>("a");
  EXPECT_EQ(dense.elements<float>()[1], 8.0F);
  EXPECT_EQ(dense.shape(), std::vector<std::int64_t>{3});
  const Node sparse_list = node_with(attribute("a", 12, Message().message(23, sparse)));
  EXPECT_EQ(sparse_list.find<std::vector<Tensor>>("a")->front().element_count(), 3);
}

TEST(OnnxAttribute, GraphsAndTypes) {
  const Message inner = graph({.nodes = {node("Constant", {}, {"z"})},
                               .inputs = {},
                               .outputs = {"z"},
                               .initializers = {},
                               .sparse_initializers = {}});
  const Node one = node_with(attribute("a", 5, Message().message(6, inner)));
  EXPECT_EQ(one.find<std::vector<Graph>>("a")->front().nodes.front().op_type, "Constant");
  EXPECT_EQ(one.find<std::vector<Graph>>("a")->front().nodes.front().opset_version, 17);
  const Node two = node_with(attribute("a", 10, Message().message(11, inner).message(11, inner)));
  EXPECT_EQ(two.find<std::vector<Graph>>("a")->size(), 2U);

  const Message type = Message().message(4, Message().message(1, tensor_type(proto::int64, {2, -1})));
  const Node typed = node_with(attribute("a", 13, Message().message(14, type)));
  const Type& sequence = typed.find<std::vector<Type>>("a")->front();
  EXPECT_EQ(sequence.kind, Type::Kind::sequence);
  EXPECT_EQ(sequence.element.front().dtype, DType::int64);
  EXPECT_EQ((*sequence.element.front().shape)[0].size, 2);
  EXPECT_EQ((*sequence.element.front().shape)[1].size, std::nullopt);
  EXPECT_EQ(node_with(attribute("a", 14, Message().message(15, type))).find<std::vector<Type>>("a")->size(), 1U);
}

TEST(OnnxAttribute, TypesMayBeLeftOutOrDefaulted) {
  EXPECT_EQ(*node_with(Message().text(1, "a").number(3, 4)).find<std::int64_t>("a"), 4);
  EXPECT_EQ(*node_with(attribute("a", 2, {})).find<std::int64_t>("a"), 0);
  EXPECT_EQ(*node_with(attribute("a", 3, {})).find<std::string>("a"), "");
  EXPECT_TRUE(node_with(attribute("a", 7, {})).find<std::vector<std::int64_t>>("a")->empty());
}

TEST(OnnxAttribute, ContradictionsAreErrors) {
  EXPECT_NE(read_error(with_attribute(attribute("a", 4, {}))).find("node 'n' (Op): attribute 'a' has no value"),
            std::string::npos);
  EXPECT_NE(read_error(with_attribute(attribute("a", 1, Message().number(3, 1)))).find("said to be a float"),
            std::string::npos);
  EXPECT_NE(read_error(with_attribute(attribute("a", 1, Message().real(2, 1).number(3, 1)))).find("two values"),
            std::string::npos);
  EXPECT_NE(read_error(with_attribute(Message().number(3, 1))).find("without a name"), std::string::npos);
  EXPECT_NE(read_error(with_attribute(reference("a", 2, "b"))).find("only attributes inside functions"),
            std::string::npos);
  const Message twice = model(graph({.nodes = {node("Op", {}, {"y"}, {attribute("a", 2, {}), attribute("a", 2, {})})},
                                     .inputs = {},
                                     .outputs = {},
                                     .initializers = {},
                                     .sparse_initializers = {}}));
  EXPECT_NE(read_error(twice).find("'a' twice"), std::string::npos);
}

TEST(OnnxAttribute, WrongTypesAreNamedWhenAskedFor) {
  const Node one = node_with(attribute("axis", 1, Message().real(2, 1)));
  EXPECT_EQ(one.find<std::int64_t>("absent"), nullptr);
  try {
    (void)one.find<std::int64_t>("axis");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "node 'n' (Op): attribute 'axis' has type float, but the operator takes int");
  }
}

TEST(OnnxAttribute, NewerKindsAreListed) {
  const Model result = read(with_attribute(attribute("a", 77, Message().number(3, 1))));
  ASSERT_EQ(result.unsupported.size(), 1U);
  EXPECT_NE(result.unsupported[0].find("node 'n' (Op): attribute type 77"), std::string::npos);
}

}  // namespace
}  // namespace lapilli::onnx
