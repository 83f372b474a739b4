#include "sample_model.h"

#include <cstdlib>
#include <fstream>

#include "lapilli/error.h"

namespace lapilli::onnx {
namespace {

constexpr int floating_point = 1, integer = 2, string = 3, tensor = 4, subgraph = 5, integers = 7, sparse_tensor = 11,
              type = 13;

protozero::pbf_writer writer_to(std::string& bytes) { return protozero::pbf_writer(bytes); }

}  // namespace

Message& Message::number(std::uint32_t field, std::int64_t value) {
  writer_to(bytes_).add_int64(field, value);
  return *this;
}

Message& Message::numbers(std::uint32_t field, const std::vector<std::int64_t>& values) {
  writer_to(bytes_).add_packed_int64(field, values.begin(), values.end());
  return *this;
}

Message& Message::real(std::uint32_t field, float value) {
  writer_to(bytes_).add_float(field, value);
  return *this;
}

Message& Message::reals(std::uint32_t field, const std::vector<float>& values) {
  writer_to(bytes_).add_packed_float(field, values.begin(), values.end());
  return *this;
}

Message& Message::doubles(std::uint32_t field, const std::vector<double>& values) {
  writer_to(bytes_).add_packed_double(field, values.begin(), values.end());
  return *this;
}

Message& Message::text(std::uint32_t field, std::string_view value) {
  writer_to(bytes_).add_bytes(field, value.data(), value.size());
  return *this;
}

Message& Message::texts(std::uint32_t field, const std::vector<std::string>& values) {
  for (const std::string& value : values) text(field, value);
  return *this;
}

Message tensor_header(std::string_view name, int data_type, const std::vector<std::int64_t>& dims) {
  Message result;
  for (const std::int64_t size : dims) result.number(1, size);
  return result.number(2, data_type).text(8, name);
}

Message raw_tensor(std::string_view name, int data_type, const std::vector<std::int64_t>& dims,
                   std::string_view raw) {
  return tensor_header(name, data_type, dims).text(9, raw);
}

Message external_tensor(std::string_view name, int data_type, const std::vector<std::int64_t>& dims,
                        const std::vector<std::pair<std::string, std::string>>& entries) {
  Message result = tensor_header(name, data_type, dims);
  for (const auto& [key, value] : entries) result.message(13, Message().text(1, key).text(2, value));
  return result.number(14, 1);
}

Message tensor_type(int data_type, const std::vector<std::int64_t>& dims) {
  Message shape;
  for (const std::int64_t size : dims) shape.message(1, Message().number(1, size));
  return Message().message(1, Message().number(1, data_type).message(2, shape));
}

Message value_info(std::string_view name, const Message& value_type) {
  return Message().text(1, name).message(2, value_type);
}

Message attribute(std::string_view name, int attribute_type, Message value) {
  return value.text(1, name).number(20, attribute_type);
}

Message reference(std::string_view name, int attribute_type, std::string_view refers_to) {
  return Message().text(1, name).number(20, attribute_type).text(21, refers_to);
}

Message node(std::string_view op_type, const std::vector<std::string>& inputs,
             const std::vector<std::string>& outputs, const std::vector<Message>& attributes, std::string_view name,
             std::string_view domain) {
  Message result;
  result.texts(1, inputs).texts(2, outputs).text(3, name).text(4, op_type).text(7, domain);
  for (const Message& item : attributes) result.message(5, item);
  return result;
}

Message graph(const GraphParts& parts) {
  Message result;
  for (const Message& item : parts.nodes) result.message(1, item);
  result.text(2, "g");
  for (const Message& item : parts.initializers) result.message(5, item);
  for (const std::string& name : parts.inputs) result.message(11, value_info(name));
  for (const std::string& name : parts.outputs) result.message(12, value_info(name));
  for (const Message& item : parts.sparse_initializers) result.message(15, item);
  return result;
}

Message function(const FunctionParts& parts) {
  Message result;
  result.text(1, parts.name).texts(4, parts.inputs).texts(5, parts.outputs).texts(6, parts.attributes);
  for (const Message& item : parts.nodes) result.message(7, item);
  if (parts.opset != 0) {
    result.message(9, Message().text(1, "").number(2, parts.opset));
    result.message(9, Message().text(1, "local").number(2, 1));
  }
  result.text(10, "local");
  for (const Message& item : parts.defaults) result.message(11, item);
  return result;
}

Message model(const Message& graph_message, std::int64_t opset, const std::vector<Message>& functions) {
  Message result;
  result.number(1, 10).text(2, "test").text(3, "1").message(7, graph_message);
  result.message(8, Message().text(1, "").number(2, opset));
  if (!functions.empty()) result.message(8, Message().text(1, "local").number(2, 1));
  result.message(14, Message().text(1, "license").text(2, "none"));
  for (const Message& item : functions) result.message(25, item);
  return result;
}

Message sample_model() {
  const Message branch = graph({.nodes = {node("Neg", {"x"}, {"n"})},
                                .inputs = {},
                                .outputs = {"n"},
                                .initializers = {},
                                .sparse_initializers = {}});
  const Message sparse = Message()
                             .message(1, raw_tensor("s", proto::float32, {1}, std::string(4, '\1')))
                             .message(2, tensor_header("", proto::int64, {1}).numbers(7, {1}))
                             .numbers(3, {2});
  const std::vector<Message> attributes{
      attribute("f", floating_point, Message().real(2, 1.5F)),
      attribute("i", integer, Message().number(3, -7)),
      attribute("s", string, Message().text(4, "text")),
      attribute("t", tensor, Message().message(5, raw_tensor("", proto::uint8, {2}, "ab"))),
      attribute("is", integers, Message().numbers(8, {1, -2})),
      attribute("sp", sparse_tensor, Message().message(22, sparse)),
      attribute("tp", type, Message().message(14, Message().message(4, Message().message(1, tensor_type(1, {1}))))),
  };
  return model(graph({.nodes = {node("If", {"c"}, {"y"},
                                     {attribute("then_branch", subgraph, Message().message(6, branch)),
                                      attribute("else_branch", subgraph, Message().message(6, branch))}),
                                node("Twice", {"y"}, {"z"}, attributes, "call", "local")},
                      .inputs = {"x", "c"},
                      .outputs = {"z"},
                      .initializers = {tensor_header("w", proto::float32, {2}).reals(4, {1, 2}),
                                       tensor_header("v", proto::string, {1}).text(6, "word")},
                      .sparse_initializers = {sparse}}),
               17,
               {function({.name = "Twice",
                          .inputs = {"a"},
                          .outputs = {"b"},
                          .nodes = {node("Concat", {"a", "a"}, {"b"}, {reference("axis", integer, "i")})},
                          .attributes = {"i"},
                          .defaults = {attribute("j", integer, Message().number(3, 2))},
                          .opset = 18})});
}

Model read(const Message& message, const ReadOptions& options) {
  return read_model(message.span(), nullptr, options);
}

std::string read_error(const Message& message, const ReadOptions& options) {
  try {
    (void)read(message, options);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "lapilli-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) throw Error(ErrorCode::input_output, "no temporary folder");
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::filesystem::path TemporaryFolder::write(const std::filesystem::path& name, std::string_view content) {
  const std::filesystem::path file = path_ / name;
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << content;
  return file;
}

}  // namespace lapilli::onnx
