#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <protozero/pbf_writer.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "import/onnx/reader.h"

/// ONNX files for tests, written field by field with the numbers of onnx.proto.
namespace lapilli::onnx {

/// The bytes of a message.
class Message {
 public:
  Message& number(std::uint32_t field, std::int64_t value);
  Message& numbers(std::uint32_t field, const std::vector<std::int64_t>& values);  ///< packed
  Message& real(std::uint32_t field, float value);
  Message& reals(std::uint32_t field, const std::vector<float>& values);     ///< packed
  Message& doubles(std::uint32_t field, const std::vector<double>& values);  ///< packed
  Message& text(std::uint32_t field, std::string_view value);
  Message& texts(std::uint32_t field, const std::vector<std::string>& values);
  Message& message(std::uint32_t field, const Message& value) { return text(field, value.bytes()); }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  [[nodiscard]] std::span<const std::byte> span() const { return std::as_bytes(std::span(bytes_)); }

 private:
  std::string bytes_;
};

/// TensorProto.DataType and AttributeProto.AttributeType, as numbers of onnx.proto.
namespace proto {
constexpr int float32 = 1, uint8 = 2, int8 = 3, uint16 = 4, int16 = 5, int32 = 6, int64 = 7, string = 8, boolean = 9,
              float16 = 10, float64 = 11, uint32 = 12, uint64 = 13, complex64 = 14, bfloat16 = 16, float8e4m3fn = 17,
              uint4 = 21, int4 = 22, float4e2m1 = 23, float8e8m0 = 24, uint2 = 25, int2 = 26, float6e2m3 = 27;
}  // namespace proto

Message tensor_header(std::string_view name, int data_type, const std::vector<std::int64_t>& dims);
Message raw_tensor(std::string_view name, int data_type, const std::vector<std::int64_t>& dims, std::string_view raw);
Message external_tensor(std::string_view name, int data_type, const std::vector<std::int64_t>& dims,
                        const std::vector<std::pair<std::string, std::string>>& entries);
Message tensor_type(int data_type, const std::vector<std::int64_t>& dims);
Message value_info(std::string_view name, const Message& type = tensor_type(proto::float32, {2}));

/// `type` is the number of AttributeProto.AttributeType, and `value` has the field with the value.
Message attribute(std::string_view name, int type, Message value);
Message reference(std::string_view name, int type, std::string_view refers_to);
Message node(std::string_view op_type, const std::vector<std::string>& inputs,
             const std::vector<std::string>& outputs, const std::vector<Message>& attributes = {},
             std::string_view name = {}, std::string_view domain = {});

struct GraphParts {
  std::vector<Message> nodes;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<Message> initializers;
  std::vector<Message> sparse_initializers;
};
Message graph(const GraphParts& parts);

struct FunctionParts {
  std::string name;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<Message> nodes;
  std::vector<std::string> attributes;
  std::vector<Message> defaults;
  std::int64_t opset = 0;  ///< 0 imports nothing
};
/// In domain "local".
Message function(const FunctionParts& parts);

/// A model of IR version 10 that imports `opset`, and version 1 of domain "local" when it has functions.
Message model(const Message& graph, std::int64_t opset = 17, const std::vector<Message>& functions = {});

/// A model with every kind of part that a reader can meet, small enough to break it at each of its bytes.
Message sample_model();

Model read(const Message& message, const ReadOptions& options = {});

/// The text of the Error that reading gives, or "" when it gives none.
std::string read_error(const Message& message, const ReadOptions& options = {});

/// A new empty folder, removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Writes a file in it and returns its path.
  std::filesystem::path write(const std::filesystem::path& name, std::string_view content);

 private:
  std::filesystem::path path_;
};

}  // namespace lapilli::onnx
