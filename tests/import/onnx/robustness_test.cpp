// What damaged and hostile files do: an Error, and nothing else.

#include <gtest/gtest.h>

#include "import/onnx/inline_functions.h"
#include "import/onnx/value.h"
#include "lapilli/error.h"
#include "sample_model.h"

namespace lapilli::onnx {
namespace {

/// Reads what may not be a model; everything but Error escapes. True when it could be read.
bool read_anything(std::span<const std::byte> bytes) {
  try {
    Model model = read_model(bytes, nullptr, {});
    inline_functions(model);
    return true;
  } catch (const Error& error) {
    EXPECT_STRNE(error.what(), "");
    EXPECT_NE(error.code(), ErrorCode::internal) << error.what();
    return false;
  }
}

TEST(OnnxRobustness, SampleIsAModel) {
  const Message sample = sample_model();
  EXPECT_TRUE(read_anything(sample.span())) << read_error(sample);
}

TEST(OnnxRobustness, TruncationAtEveryByte) {
  const Message sample = sample_model();
  for (std::size_t size = 0; size < sample.bytes().size(); ++size) {
    // A buffer of its own, so that the address sanitizer sees reads past its end.
    const std::vector<std::byte> part(sample.span().begin(),
                                      sample.span().begin() + static_cast<std::ptrdiff_t>(size));
    (void)read_anything(part);
  }
}

TEST(OnnxRobustness, EveryByteChanged) {
  const Message sample = sample_model();
  std::vector<std::byte> bytes(sample.span().begin(), sample.span().end());
  for (std::byte& byte : bytes) {
    const std::byte before = byte;
    for (const unsigned change : {0x01U, 0x02U, 0x04U, 0x08U, 0x10U, 0x20U, 0x40U, 0x80U, 0xFFU}) {
      byte = before ^ std::byte{static_cast<unsigned char>(change)};
      (void)read_anything(bytes);
    }
    byte = before;
  }
}

TEST(OnnxRobustness, HugeShapesAllocateNothing) {
  const std::vector<std::int64_t> huge{std::int64_t{1} << 40};
  const auto with_initializer = [](const Message& tensor) {
    return read_error(model(
        graph({.nodes = {}, .inputs = {}, .outputs = {}, .initializers = {tensor}, .sparse_initializers = {}})));
  };
  EXPECT_NE(with_initializer(tensor_header("w", proto::float32, huge)).find("1099511627776 values, but 0"),
            std::string::npos);
  EXPECT_NE(with_initializer(raw_tensor("w", proto::float32, huge, "abcd")).find("raw data has 4"),
            std::string::npos);
  EXPECT_NE(with_initializer(tensor_header("w", proto::string, huge)), "");
  EXPECT_NE(with_initializer(tensor_header("w", proto::float32, {1LL << 40, 1LL << 40}))
                .find("1099511627776 * 1099511627776 does not fit in 64 bits"),
            std::string::npos);
  EXPECT_NE(with_initializer(tensor_header("w", proto::float32, {-1})).find("negative"), std::string::npos);
}

TEST(OnnxRobustness, SparseTensorsHaveALimit) {
  const Message sparse = Message()
                             .message(1, tensor_header("s", proto::float32, {1}).reals(4, {1}))
                             .message(2, tensor_header("", proto::int64, {1}).numbers(7, {1}))
                             .numbers(3, {1LL << 40});
  const Message message =
      model(graph({.nodes = {}, .inputs = {}, .outputs = {}, .initializers = {}, .sparse_initializers = {sparse}}));
  EXPECT_NE(read_error(message).find("4.0 TiB when dense"), std::string::npos) << read_error(message);
}

TEST(OnnxRobustness, NestingHasALimit) {
  Message inner = graph({.nodes = {node("Relu", {"x"}, {"y"})},
                         .inputs = {},
                         .outputs = {"y"},
                         .initializers = {},
                         .sparse_initializers = {}});
  for (int depth = 0; depth < 1000; ++depth) {
    inner = graph({.nodes = {node("If", {"x"}, {"y"}, {attribute("then_branch", 5, Message().message(6, inner))})},
                   .inputs = {},
                   .outputs = {"y"},
                   .initializers = {},
                   .sparse_initializers = {}});
  }
  EXPECT_NE(read_error(model(inner)).find("graphs are nested more than 64 deep"), std::string::npos);

  Message type = tensor_type(proto::float32, {1});
  for (int depth = 0; depth < 1000; ++depth) type = Message().message(4, Message().message(1, type));
  Message graph_message = graph({});
  graph_message.message(13, value_info("v", type));
  EXPECT_NE(read_error(model(graph_message)).find("types are nested"), std::string::npos);

  Message sequence;
  for (int depth = 0; depth < 1000; ++depth) sequence = Message().message(5, sequence);
  const Type sequence_type{.kind = Type::Kind::sequence, .dtype = {}, .shape = {}, .element = {}};
  EXPECT_THROW((void)read_value(sequence.span(), nullptr, sequence_type, {}), Error);
}

TEST(OnnxRobustness, FunctionsCannotExplode) {
  // Each function calls the one before twice: 2^60 nodes from 60 functions.
  std::vector<Message> functions{function({.name = "f0",
                                           .inputs = {"a"},
                                           .outputs = {"b"},
                                           .nodes = {node("Relu", {"a"}, {"b"})},
                                           .attributes = {},
                                           .defaults = {},
                                           .opset = 17})};
  for (int i = 1; i < 60; ++i) {
    const std::string before = "f" + std::to_string(i - 1);
    functions.push_back(
        function({.name = "f" + std::to_string(i),
                  .inputs = {"a"},
                  .outputs = {"c"},
                  .nodes = {node(before, {"a"}, {"b"}, {}, "", "local"), node(before, {"b"}, {"c"}, {}, "", "local")},
                  .attributes = {},
                  .defaults = {},
                  .opset = 17}));
  }
  Model bomb = read(model(graph({.nodes = {node("f59", {"x"}, {"y"}, {}, "", "local")},
                                 .inputs = {"x"},
                                 .outputs = {"y"},
                                 .initializers = {},
                                 .sparse_initializers = {}}),
                          17, functions));
  EXPECT_THROW(inline_functions(bomb), Error);
}

TEST(OnnxRobustness, CallsCostWhatTheirFunctionTakes) {
  // Many calls of a function with many inputs and no nodes: the product of the two is work, though nothing is copied.
  constexpr int many = 4000;
  std::vector<std::string> inputs;
  std::vector<Message> calls;
  for (int i = 0; i < many; ++i) {
    inputs.push_back("input_with_a_long_name_" + std::to_string(i));
    calls.push_back(node("F", {"x"}, {}, {}, "", "local"));
  }
  const FunctionParts parts{
      .name = "F", .inputs = inputs, .outputs = {}, .nodes = {}, .attributes = {}, .defaults = {}, .opset = 17};
  Model result = read(
      model(graph({.nodes = calls, .inputs = {"x"}, .outputs = {}, .initializers = {}, .sparse_initializers = {}}),
            17, {function(parts)}));
  EXPECT_THROW(inline_functions(result), Error);
}

TEST(OnnxRobustness, ForeignFilesSayWhatTheyAre) {
  const std::string text = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n";
  try {
    (void)read_model(std::as_bytes(std::span(text)), nullptr, {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("git lfs pull"), std::string::npos);
  }
  EXPECT_NE(read_error(Message()).find("empty"), std::string::npos);
  EXPECT_NE(read_error(Message().number(1, 8)).find("no graph"), std::string::npos);
}

}  // namespace
}  // namespace lapilli::onnx
