#include <array>
#include <utility>

#include "import/onnx/graph_reader.h"
#include "import/onnx/type_reader.h"

namespace lapilli::onnx {
namespace {

namespace tag {
enum : std::uint32_t {
  name = 1,
  f = 2,
  i = 3,
  s = 4,
  t = 5,
  g = 6,
  floats = 7,
  ints = 8,
  strings = 9,
  tensors = 10,
  graphs = 11,
  tp = 14,
  type_protos = 15,
  type = 20,
  ref_attr_name = 21,
  sparse_tensor = 22,
  sparse_tensors = 23,
};
}  // namespace tag

/// The type that a value in this field has; undefined for fields that hold no value.
AttributeType type_of_field(std::uint32_t field) {
  switch (field) {
    case tag::f: return AttributeType::floating_point;
    case tag::i: return AttributeType::integer;
    case tag::s: return AttributeType::string;
    case tag::t: return AttributeType::tensor;
    case tag::g: return AttributeType::graph;
    case tag::floats: return AttributeType::floating_points;
    case tag::ints: return AttributeType::integers;
    case tag::strings: return AttributeType::strings;
    case tag::tensors: return AttributeType::tensors;
    case tag::graphs: return AttributeType::graphs;
    case tag::tp: return AttributeType::type;
    case tag::type_protos: return AttributeType::types;
    case tag::sparse_tensor: return AttributeType::sparse_tensor;
    case tag::sparse_tensors: return AttributeType::sparse_tensors;
    default: return AttributeType::undefined;
  }
}

struct Description {
  std::string name;
  std::string refers_to;
  AttributeType declared = AttributeType::undefined;
  AttributeType found = AttributeType::undefined;
};

AttributeType read_attribute_type(MessageReader& message) {
  const std::int32_t number = message.read_int32();
  if (number < 0 || number > static_cast<std::int32_t>(AttributeType::types))
    fail(ErrorCode::unsupported, "attribute type {}, which is newer than this version of Lapilli", number);
  return static_cast<AttributeType>(number);
}

/// Everything but the value, which may come before the type that it should have.
Description describe(MessageReader message) {
  Description result;
  while (message.next()) {
    switch (const std::uint32_t field = message.field()) {
      case tag::name: result.name = message.read_string(); break;
      case tag::ref_attr_name: result.refers_to = message.read_string(); break;
      case tag::type: result.declared = read_attribute_type(message); break;
      default:
        if (const AttributeType type = type_of_field(field); type != AttributeType::undefined) {
          if (result.found != AttributeType::undefined && result.found != type) {
            fail(ErrorCode::invalid_model, "attribute {} has two values, a {} and a {}", name_text(result.name),
                 to_string(result.found), to_string(type));
          }
          result.found = type;
        }
        message.skip();
    }
  }
  return result;
}

/// The value of a type when no field gives one: what protobuf takes as default.
Attribute::Value default_value(const Description& description) {
  switch (description.declared) {
    case AttributeType::floating_point: return 0.0F;
    case AttributeType::integer: return std::int64_t{0};
    case AttributeType::string: return std::string();
    case AttributeType::floating_points: return std::vector<float>();
    case AttributeType::integers: return std::vector<std::int64_t>();
    case AttributeType::strings: return std::vector<std::string>();
    case AttributeType::tensors:
    case AttributeType::sparse_tensors: return std::vector<Tensor>();
    case AttributeType::graphs: return std::vector<Graph>();
    case AttributeType::types: return std::vector<Type>();
    default: fail(ErrorCode::invalid_model, "attribute {} has no value", name_text(description.name));
  }
}

/// The vector in `value`, which is made one if it is something else.
template <class T>
std::vector<T>& list_in(Attribute::Value& value) {
  if (auto* list = std::get_if<std::vector<T>>(&value)) return *list;
  return value.emplace<std::vector<T>>();
}

void read_value_field(MessageReader& message, Attribute::Value& value, GraphSource& source, int depth) {
  switch (message.field()) {
    case tag::f: value = message.read_float(); break;
    case tag::i: value = message.read_int64(); break;
    case tag::s: value = message.read_string(); break;
    case tag::t: value = read_tensor(message.read_message("TensorProto"), source.tensors).tensor; break;
    case tag::sparse_tensor:
      value = read_sparse_tensor(message.read_message("SparseTensorProto"), source.tensors).tensor;
      break;
    case tag::g:
      list_in<Graph>(value).assign(1, read_graph(message.read_message("GraphProto"), source, depth + 1));
      break;
    case tag::tp: list_in<Type>(value).assign(1, read_type(message.read_message("TypeProto"))); break;
    case tag::floats:
      message.for_each_fixed<float>([&list = list_in<float>(value)](float item) { list.push_back(item); });
      break;
    case tag::ints:
      message.for_each_varint([&list = list_in<std::int64_t>(value)](std::int64_t item) { list.push_back(item); });
      break;
    case tag::strings: list_in<std::string>(value).push_back(message.read_string()); break;
    case tag::tensors:
      list_in<Tensor>(value).push_back(read_tensor(message.read_message("TensorProto"), source.tensors).tensor);
      break;
    case tag::sparse_tensors:
      list_in<Tensor>(value).push_back(
          read_sparse_tensor(message.read_message("SparseTensorProto"), source.tensors).tensor);
      break;
    case tag::graphs:
      list_in<Graph>(value).push_back(read_graph(message.read_message("GraphProto"), source, depth + 1));
      break;
    case tag::type_protos: list_in<Type>(value).push_back(read_type(message.read_message("TypeProto"))); break;
    default: message.skip();
  }
}

}  // namespace

Attribute read_attribute(const MessageReader& message, std::string_view owner, GraphSource& source, int depth) {
  Description description = describe(message);
  if (description.name.empty()) message.fail_here("an attribute without a name");
  if (!description.refers_to.empty() && description.found != AttributeType::undefined) {
    fail(ErrorCode::invalid_model, "attribute {} has a value and refers to one, {}", name_text(description.name),
         name_text(description.refers_to));
  }
  // Files of the first IR version do not say the type.
  if (description.declared == AttributeType::undefined) description.declared = description.found;
  if (description.found != AttributeType::undefined && description.found != description.declared) {
    fail(ErrorCode::invalid_model, "attribute {} is said to be a {}, but its value is a {}",
         name_text(description.name), to_string(description.declared), to_string(description.found));
  }
  Attribute result{.name = std::move(description.name),
                   .type = description.declared,
                   .value = {},
                   .refers_to = std::move(description.refers_to)};
  if (!result.refers_to.empty()) return result;
  if (description.found == AttributeType::undefined) {
    description.name = result.name;
    result.value = default_value(description);
    return result;
  }
  source.note_unsupported(std::format("{}: attribute {}", owner, name_text(result.name)), [&] {
    MessageReader values = message;
    Attribute::Value value;
    while (values.next()) read_value_field(values, value, source, depth);
    result.value = std::move(value);
  });
  return result;
}

}  // namespace lapilli::onnx
