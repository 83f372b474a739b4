// What is wanted is what the operators' documents say, and what onnx.checker and ONNX Runtime refuse too.
#include "import/onnx/signature.h"

#include <gtest/gtest.h>

#include <limits>

#include "sample_model.h"

namespace lapilli::onnx {
namespace {

constexpr std::uint32_t real_field = 2, integer_field = 3, text_field = 4;

Message integer(std::string_view name, std::int64_t value) {
  return attribute(name, 2, Message().number(integer_field, value));
}
Message real(std::string_view name, float value) { return attribute(name, 1, Message().real(real_field, value)); }
Message text(std::string_view name, std::string_view value) {
  return attribute(name, 3, Message().text(text_field, value));
}

// Without what it names the model.
std::string error_of_model(const Message& whole) {
  const std::string error = read_error(whole);
  return error.substr(error.starts_with("the model: ") ? 11 : 0);
}

std::string error_of(std::string_view op_type, const std::vector<std::string>& inputs,
                     const std::vector<Message>& attributes, std::int64_t opset = 17,
                     const std::vector<std::string>& outputs = {"y"}) {
  return error_of_model(model(graph({.nodes = {node(op_type, inputs, outputs, attributes, "n")},
                                     .inputs = {"x"},
                                     .outputs = {},
                                     .initializers = {},
                                     .sparse_initializers = {}}),
                              opset));
}

TEST(OnnxSignature, AttributesAreTheOperators) {
  EXPECT_EQ(error_of("Elu", {"x"}, {real("alpha", 2)}), "");
  EXPECT_EQ(error_of("Elu", {"x"}, {real("beta", 2)}),
            "node 'n' (Elu): there is no attribute 'beta' in opset 17; Elu has alpha");
  EXPECT_EQ(error_of("Relu", {"x"}, {real("alpha", 2)}),
            "node 'n' (Relu): there is no attribute 'alpha' in opset 17; Relu has none");
}

TEST(OnnxSignature, AttributesBelongToVersions) {
  const std::string before = error_of("ArgMax", {"x"}, {integer("select_last_index", 1)}, 11);
  EXPECT_EQ(before,
            "node 'n' (ArgMax): there is no attribute 'select_last_index' in opset 11; ArgMax has axis, keepdims; it "
            "came with opset 12, and the model says 11");
  EXPECT_EQ(error_of("ArgMax", {"x"}, {integer("select_last_index", 1)}, 12), "");
  // BatchNormalization lost `spatial` with opset 9.
  const std::vector<std::string> five(5, "x");
  EXPECT_EQ(error_of("BatchNormalization", five, {integer("spatial", 1)}, 8), "");
  EXPECT_NE(error_of("BatchNormalization", five, {integer("spatial", 1)}, 9), "");
}

TEST(OnnxSignature, AttributesHaveTheirTypes) {
  EXPECT_EQ(error_of("Elu", {"x"}, {integer("alpha", 2)}),
            "node 'n' (Elu): attribute 'alpha' has type int, but the operator takes float");
  EXPECT_EQ(error_of("Cast", {"x"}, {}), "node 'n' (Cast): attribute 'to' is missing");
  EXPECT_EQ(error_of("Cast", {"x"}, {text("to", "FLOAT")}, 5), "");
  EXPECT_NE(error_of("Cast", {"x"}, {text("to", "FLOAT")}, 6), "");
}

TEST(OnnxSignature, FlagsAreZeroOrOne) {
  for (const std::int64_t right : {0, 1}) EXPECT_EQ(error_of("ReduceMax", {"x"}, {integer("keepdims", right)}), "");
  EXPECT_EQ(error_of("ReduceMax", {"x"}, {integer("keepdims", 5)}),
            "node 'n' (ReduceMax): attribute 'keepdims' is 5, and has to be 0 or 1");
  EXPECT_NE(error_of("TopK", {"x", "x"}, {integer("largest", -1)}, 17, {"y", "z"}), "");
}

TEST(OnnxSignature, NumbersAreWhatTheyCountOrName) {
  EXPECT_EQ(error_of("Conv", {"x", "x"}, {integer("group", 0)}),
            "node 'n' (Conv): attribute 'group' is 0, and has to be a positive number");
  EXPECT_EQ(
      error_of("LayerNormalization", {"x", "x"}, {integer("stash_type", 99)}),
      "node 'n' (LayerNormalization): attribute 'stash_type' is 99, and has to be 1 (float32), 10 (float16), 11 "
      "(float64) or 16 (bfloat16)");
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(error_of("InstanceNormalization", {"x", "x", "x"}, {real("epsilon", nan)}),
            "node 'n' (InstanceNormalization): attribute 'epsilon' is nan, and has to be a finite number that is not "
            "negative");
  EXPECT_EQ(error_of("InstanceNormalization", {"x", "x", "x"}, {real("epsilon", 0)}), "");
}

TEST(OnnxSignature, InputsAndOutputsAreCounted) {
  EXPECT_EQ(error_of("Relu", {"x", "x"}, {}), "node 'n' (Relu) has 2 inputs; Relu takes 1 in opset 17");
  EXPECT_EQ(error_of("Add", {"x"}, {}), "node 'n' (Add) has 1 input; Add takes 2 in opset 17");
  EXPECT_EQ(error_of("Clip", {"x", "x", "x"}, {}, 10), "node 'n' (Clip) has 3 inputs; Clip takes 1 in opset 10");
  EXPECT_EQ(error_of("Clip", {"x", "x", "x"}, {}, 11), "");
  EXPECT_EQ(error_of("Relu", {"x", "", ""}, {}), "");
  EXPECT_EQ(error_of("Concat", std::vector<std::string>(300, "x"), {integer("axis", 0)}), "");
  EXPECT_EQ(error_of("Concat", {}, {integer("axis", 0)}),
            "node 'n' (Concat) has 0 inputs; Concat takes at least 1 in opset 17");
  EXPECT_EQ(error_of("Relu", {"x"}, {}, 17, {"y", "z"}), "node 'n' (Relu) has 2 outputs; Relu gives 1 in opset 17");
}

TEST(OnnxSignature, BranchesGiveWhatTheNodeGives) {
  const auto branch = [](std::string_view name, const std::vector<std::string>& outputs) {
    return attribute(name, 5,
                     Message().message(6, graph({.nodes = {node("Identity", {"x"}, {"a"}), node("Neg", {"x"}, {"b"})},
                                                 .inputs = {},
                                                 .outputs = outputs,
                                                 .initializers = {},
                                                 .sparse_initializers = {}})));
  };
  EXPECT_EQ(error_of("If", {"x"}, {branch("then_branch", {"a"}), branch("else_branch", {"b"})}), "");
  EXPECT_EQ(error_of("If", {"x"}, {branch("then_branch", {"a", "b"}), branch("else_branch", {"b"})}),
            "node 'n' (If): outputs of 'then_branch': 2, of the node: 1; they have to be as many");
}

TEST(OnnxSignature, FunctionsOfTheModelComeFirst) {
  const Message call = node("Relu", {"x", "x"}, {"y"}, {}, "n", "local");
  const Message body = node("Elu", {"a"}, {"c"}, {reference("alpha", 1, "slope")});
  const auto error = [&](const Message& inner) {
    return error_of_model(model(
        graph({.nodes = {call}, .inputs = {"x"}, .outputs = {}, .initializers = {}, .sparse_initializers = {}}), 17,
        {function({.name = "Relu",
                   .inputs = {"a", "b"},
                   .outputs = {"c"},
                   .nodes = {inner},
                   .attributes = {"slope"},
                   .defaults = {}})}));
  };
  EXPECT_EQ(error(body), "");
  EXPECT_EQ(
      error(node("Elu", {"a"}, {"c"}, {reference("beta", 1, "slope")})),
      "function 'Relu' of domain 'local': the node that makes 'c' (Elu): there is no attribute 'beta' in opset 17; "
      "Elu has alpha");
}

}  // namespace
}  // namespace lapilli::onnx
