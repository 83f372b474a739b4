#include "import/onnx/value.h"

#include <gtest/gtest.h>

#include "lapilli/error.h"
#include "sample_model.h"

namespace lapilli::onnx {
namespace {

Type type_of(Type::Kind kind) { return {.kind = kind, .dtype = DType::undefined, .shape = {}, .element = {}}; }

Value read_as(const Message& message, Type::Kind kind) {
  return read_value(message.span(), nullptr, type_of(kind), {});
}

const Message three = tensor_header("three", proto::float32, {1}).reals(4, {3});

TEST(OnnxValue, Tensors) {
  const Value value = read_as(three, Type::Kind::tensor);
  EXPECT_EQ(value.name, "three");
  EXPECT_EQ(std::get<Tensor>(value.content).elements<float>()[0], 3.0F);
  TemporaryFolder folder;
  const Value same = read_value(folder.write("input_0.pb", three.bytes()), type_of(Type::Kind::unknown));
  EXPECT_EQ(std::get<Tensor>(same.content).elements<float>()[0], 3.0F);
}

TEST(OnnxValue, Sequences) {
  const Message inner = Message().number(2, 1).message(3, three).message(3, three);
  const Value value = read_as(Message().text(1, "s").number(2, 3).message(5, inner), Type::Kind::sequence);
  EXPECT_EQ(value.name, "s");
  const auto& elements = std::get<Sequence>(value.content).elements;
  ASSERT_EQ(elements.size(), 1U);
  EXPECT_EQ(std::get<Sequence>(elements[0].content).elements.size(), 2U);
  EXPECT_TRUE(std::get<Sequence>(read_as(Message(), Type::Kind::sequence).content).elements.empty());
}

TEST(OnnxValue, Optionals) {
  const Value full = read_as(Message().number(2, 1).message(3, three), Type::Kind::optional);
  EXPECT_EQ(std::get<Optional>(full.content).element.size(), 1U);
  EXPECT_TRUE(std::get<Optional>(read_as(Message().text(1, "o"), Type::Kind::optional).content).element.empty());
}

TEST(OnnxValue, Maps) {
  const Message values = Message().number(2, 1).message(3, three).message(3, three);
  const Value numbered = read_as(Message().numbers(3, {5, 6}).message(5, values), Type::Kind::map);
  EXPECT_EQ(std::get<Map>(numbered.content).keys.elements<std::int64_t>()[1], 6);
  const Value named = read_as(Message().text(4, "a").text(4, "b").message(5, values), Type::Kind::map);
  EXPECT_EQ(std::get<Map>(named.content).keys.strings()[1], "b");
  EXPECT_EQ(std::get<Map>(named.content).values.size(), 2U);
  EXPECT_THROW((void)read_as(Message().numbers(3, {5}).message(5, values), Type::Kind::map), Error);
}

TEST(OnnxValue, ErrorsNameTheFile) {
  TemporaryFolder folder;
  const auto file = folder.write("bad.pb", tensor_header("t", proto::complex64, {1}).bytes());
  try {
    (void)read_value(file, type_of(Type::Kind::tensor));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    EXPECT_NE(std::string(error.what()).find("bad.pb: tensor 't': element type complex64"), std::string::npos);
  }
}

}  // namespace
}  // namespace lapilli::onnx
