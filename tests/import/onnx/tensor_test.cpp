#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstring>
#include <functional>
#include <limits>

#include "lapilli/error.h"
#include "sample_model.h"

namespace lapilli::onnx {
namespace {

Tensor read_one(const Message& tensor, const ReadOptions& options = {}) {
  return read(model(graph(
                  {.nodes = {}, .inputs = {}, .outputs = {}, .initializers = {tensor}, .sparse_initializers = {}})),
              options)
      .graph.initializers.at("w");
}

std::string error_of(const Message& tensor) {
  return read_error(
      model(graph({.nodes = {}, .inputs = {}, .outputs = {}, .initializers = {tensor}, .sparse_initializers = {}})));
}

template <class T>
std::vector<T> values_of(const Tensor& tensor) {
  const Tensor aligned = tensor.aligned();
  const std::span<const T> elements = aligned.elements<T>();
  return {elements.begin(), elements.end()};
}

template <class T>
void expect_typed(int data_type, DType dtype, std::uint32_t field, const std::vector<std::int64_t>& stored,
                  const std::vector<T>& expected) {
  const auto count = static_cast<std::int64_t>(expected.size());
  const Tensor tensor = read_one(tensor_header("w", data_type, {count}).numbers(field, stored));
  EXPECT_EQ(tensor.dtype(), dtype);
  EXPECT_EQ(values_of<T>(tensor), expected);
}

TEST(OnnxTensor, TypedFieldsOfIntegers) {
  constexpr std::uint32_t int32_data = 5;
  constexpr std::uint32_t int64_data = 7;
  constexpr std::uint32_t uint64_data = 11;
  expect_typed<std::int8_t>(proto::int8, DType::int8, int32_data, {-128, 127}, {-128, 127});
  expect_typed<std::int16_t>(proto::int16, DType::int16, int32_data, {-32768, 5}, {-32768, 5});
  expect_typed<std::int32_t>(proto::int32, DType::int32, int32_data, {-2147483648LL, 9}, {INT32_MIN, 9});
  expect_typed<std::int64_t>(proto::int64, DType::int64, int64_data, {INT64_MIN, 3}, {INT64_MIN, 3});
  expect_typed<std::uint8_t>(proto::uint8, DType::uint8, int32_data, {0, 255}, {0, 255});
  expect_typed<std::uint16_t>(proto::uint16, DType::uint16, int32_data, {65535, 1}, {65535, 1});
  expect_typed<std::uint32_t>(proto::uint32, DType::uint32, uint64_data, {4294967295LL}, {4294967295U});
  expect_typed<std::uint64_t>(proto::uint64, DType::uint64, uint64_data, {-1, 2}, {UINT64_MAX, 2});
  expect_typed<std::uint8_t>(proto::boolean, DType::boolean, int32_data, {1, 0, 1}, {1, 0, 1});
}

TEST(OnnxTensor, TypedFieldsOfNarrowFloats) {
  constexpr std::uint32_t int32_data = 5;
  // 1.0 in float16, bfloat16 and float8e4m3fn.
  expect_typed<std::uint16_t>(proto::float16, DType::float16, int32_data, {0x3C00}, {0x3C00});
  expect_typed<std::uint16_t>(proto::bfloat16, DType::bfloat16, int32_data, {0x3F80}, {0x3F80});
  expect_typed<std::uint8_t>(proto::float8e4m3fn, DType::float8e4m3fn, int32_data, {0x38}, {0x38});
}

TEST(OnnxTensor, TypedFieldsOfFloats) {
  const std::vector<float> floats{1.5F, -2, std::numeric_limits<float>::infinity()};
  EXPECT_EQ(values_of<float>(read_one(tensor_header("w", proto::float32, {3}).reals(4, floats))), floats);
  const std::vector<double> doubles{1e300, -0.5};
  EXPECT_EQ(values_of<double>(read_one(tensor_header("w", proto::float64, {2}).doubles(10, doubles))), doubles);
}

TEST(OnnxTensor, UnpackedNumbersCountToo) {
  const Tensor tensor = read_one(tensor_header("w", proto::float32, {4}).real(4, 1).reals(4, {2, 3}).real(4, 4));
  EXPECT_EQ(values_of<float>(tensor), (std::vector<float>{1, 2, 3, 4}));
  const Tensor integers = read_one(tensor_header("w", proto::int64, {3}).number(7, 1).numbers(7, {2, 3}));
  EXPECT_EQ(values_of<std::int64_t>(integers), (std::vector<std::int64_t>{1, 2, 3}));
}

TEST(OnnxTensor, FourBitTypesArePairs) {
  // Three elements take two bytes, the first element in the low half.
  for (const auto& [type, dtype] : {std::pair{proto::uint4, DType::uint4}, std::pair{proto::int4, DType::int4},
                                    std::pair{proto::float4e2m1, DType::float4e2m1}}) {
    const Tensor typed = read_one(tensor_header("w", type, {3}).numbers(5, {0x21, 0x0F}));
    EXPECT_EQ(typed.dtype(), dtype);
    const Tensor raw = read_one(raw_tensor("w", type, {3}, "\x21\x0F"));
    EXPECT_TRUE(std::ranges::equal(typed.bytes(), raw.bytes()));
    EXPECT_EQ(typed.bytes()[0], std::byte{0x21});
  }
}

// As onnx.proto says: four elements of 2 bits share a value of int32_data, one of 6 bits has a value of its own, and
// raw_data has the bits of all, one element after the other.
TEST(OnnxTensor, TypesOfTwoAndSixBits) {
  for (const auto& [type, dtype] : {std::pair{proto::uint2, DType::uint2}, std::pair{proto::int2, DType::int2}}) {
    const Tensor typed = read_one(tensor_header("w", type, {5}).numbers(5, {0xE4, 0x01}));
    EXPECT_EQ(typed.dtype(), dtype);
    EXPECT_TRUE(std::ranges::equal(typed.bytes(), read_one(raw_tensor("w", type, {5}, "\xE4\x01")).bytes()));
  }
  const Tensor typed = read_one(tensor_header("w", proto::float6e2m3, {3}).numbers(5, {0x3F, 0x01, 0x20}));
  EXPECT_EQ(typed.dtype(), DType::float6e2m3);
  const Tensor raw = read_one(raw_tensor("w", proto::float6e2m3, {3}, std::string_view("\x7F\x00\x02", 3)));
  EXPECT_TRUE(std::ranges::equal(typed.bytes(), raw.bytes()));
  expect_typed<std::uint8_t>(proto::float8e8m0, DType::float8e8m0, 5, {0x7F}, {0x7F});
}

TEST(OnnxTensor, Strings) {
  const Tensor tensor =
      read_one(tensor_header("w", proto::string, {1, 2}).text(6, "a").text(6, std::string("\0b", 2)));
  EXPECT_EQ(tensor.shape(), (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(tensor.strings()[1], std::string("\0b", 2));
}

TEST(OnnxTensor, ScalarsAndEmptyTensors) {
  EXPECT_EQ(values_of<float>(read_one(tensor_header("w", proto::float32, {}).reals(4, {7}))), std::vector<float>{7});
  EXPECT_EQ(read_one(tensor_header("w", proto::float32, {3, 0})).element_count(), 0);
  EXPECT_EQ(read_one(raw_tensor("w", proto::float32, {0}, "")).element_count(), 0);
}

TEST(OnnxTensor, WrongSizesAreNamed) {
  EXPECT_NE(error_of(raw_tensor("w", proto::float32, {2}, "abcd"))
                .find("tensor 'w': float32 of shape [2] takes 8 bytes, but its raw data has 4"),
            std::string::npos);
  EXPECT_NE(error_of(tensor_header("w", proto::float32, {2}).reals(4, {1, 2, 3})).find("needs 2 values, but 3"),
            std::string::npos);
  EXPECT_NE(error_of(tensor_header("w", proto::int64, {1}).reals(4, {1})).find("field 4"), std::string::npos);
  EXPECT_NE(error_of(tensor_header("w", proto::int8, {1}).numbers(5, {128})).find("outside -128 to 127"),
            std::string::npos);
  EXPECT_NE(error_of(tensor_header("w", 0, {1}).reals(4, {1})).find("no element type"), std::string::npos);
}

TEST(OnnxTensor, UnknownTypesAreListedTogether) {
  const Message message = model(
      graph({.nodes = {node("Constant", {}, {"c"},
                            {attribute("value", 4, Message().message(5, raw_tensor("k", 15, {1}, "")))}, "n")},
             .inputs = {},
             .outputs = {},
             .initializers = {raw_tensor("w", proto::complex64, {1}, "12345678"), raw_tensor("v", 99, {1}, "a")},
             .sparse_initializers = {}}));
  const Model result = read(message);
  ASSERT_EQ(result.unsupported.size(), 3U);
  EXPECT_NE(result.unsupported[0].find("node 'n' (Constant): attribute 'value': tensor 'k'"), std::string::npos);
  EXPECT_NE(result.unsupported[1].find("tensor 'w': element type complex64"), std::string::npos);
  EXPECT_NE(result.unsupported[2].find("element type 99"), std::string::npos);
  EXPECT_FALSE(result.graph.initializers.at("w").defined());
}

TEST(OnnxTensor, RawDataIsNotCopied) {
  const Message message = model(graph({.nodes = {},
                                       .inputs = {},
                                       .outputs = {},
                                       .initializers = {raw_tensor("w", proto::float32, {4}, "0123456789abcdef")},
                                       .sparse_initializers = {}}));
  const std::size_t place = message.bytes().find("0123456789abcdef");
  for (std::size_t shift = 0; shift < 4; ++shift) {
    auto storage = std::make_shared<std::vector<std::byte>>(message.bytes().size() + 8);
    // The file begins so that the elements lie `shift` bytes past an aligned address.
    const std::size_t begin = (8 - place % 4 + shift) % 4;
    std::ranges::copy(message.span(), storage->begin() + static_cast<std::ptrdiff_t>(begin));
    const std::span<const std::byte> bytes(storage->data() + begin, message.bytes().size());
    ReadOptions options;
    options.copy_unaligned_below = 0;
    const Tensor view = read_model(bytes, storage, options).graph.initializers.at("w");
    EXPECT_EQ(view.bytes().data(), bytes.data() + place);
    options.copy_unaligned_below = 17;
    const Tensor tensor = read_model(bytes, storage, options).graph.initializers.at("w");
    EXPECT_EQ(tensor.bytes().data() == bytes.data() + place, shift == 0);
    EXPECT_TRUE(std::ranges::equal(tensor.bytes(), view.bytes()));
  }
}

TEST(OnnxTensor, ViewsKeepTheFileAlive) {
  TemporaryFolder folder;
  const auto file =
      folder.write("model.onnx", model(graph({.nodes = {},
                                              .inputs = {},
                                              .outputs = {},
                                              .initializers = {raw_tensor("w", proto::uint8, {3}, "abc")},
                                              .sparse_initializers = {}}))
                                     .bytes());
  const Tensor tensor = read_model(file).graph.initializers.at("w");
  EXPECT_EQ(values_of<std::uint8_t>(tensor), (std::vector<std::uint8_t>{'a', 'b', 'c'}));
}

Message sparse(const Message& values, const std::vector<std::int64_t>& index_shape,
               const std::vector<std::int64_t>& indices, const std::vector<std::int64_t>& dims) {
  return Message()
      .message(1, values)
      .message(2, tensor_header("", proto::int64, index_shape).numbers(7, indices))
      .numbers(3, dims);
}

Message with_sparse(const Message& tensor) {
  return model(
      graph({.nodes = {}, .inputs = {}, .outputs = {}, .initializers = {}, .sparse_initializers = {tensor}}));
}

TEST(OnnxTensor, SparseTensorsBecomeDense) {
  const Message values = tensor_header("w", proto::float32, {2}).reals(4, {5, 6});
  const std::vector<float> expected{0, 5, 0, 0, 0, 6};
  const Tensor linear = read(with_sparse(sparse(values, {2}, {1, 5}, {2, 3}))).graph.initializers.at("w");
  EXPECT_EQ(values_of<float>(linear), expected);
  const Tensor coordinates =
      read(with_sparse(sparse(values, {2, 2}, {0, 1, 1, 2}, {2, 3}))).graph.initializers.at("w");
  EXPECT_EQ(coordinates.shape(), (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(values_of<float>(coordinates), expected);
  const Message nibbles = raw_tensor("w", proto::int4, {2}, "\x7A");
  const Tensor narrow = read(with_sparse(sparse(nibbles, {2}, {1, 2}, {3}))).graph.initializers.at("w");
  EXPECT_EQ(narrow.bytes()[0], std::byte{0xA0});
  EXPECT_EQ(narrow.bytes()[1], std::byte{0x07});
}

TEST(OnnxTensor, SparseIndicesAreChecked) {
  const Message values = tensor_header("w", proto::float32, {1}).reals(4, {5});
  EXPECT_NE(read_error(with_sparse(sparse(values, {1}, {6}, {2, 3}))).find("tensor 'w': sparse index 6"),
            std::string::npos);
  EXPECT_NE(read_error(with_sparse(sparse(values, {1}, {-1}, {2, 3}))), "");
  EXPECT_NE(read_error(with_sparse(sparse(values, {1, 2}, {0, 3}, {2, 3}))).find("dimension 1"), std::string::npos);
  EXPECT_NE(read_error(with_sparse(sparse(values, {2}, {0, 1}, {2, 3}))).find("do not fit"), std::string::npos);
  EXPECT_NE(read_error(with_sparse(sparse(values, {1}, {0}, {-2, -3}))), "");
}

}  // namespace
}  // namespace lapilli::onnx
