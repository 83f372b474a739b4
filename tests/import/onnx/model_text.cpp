#include "model_text.h"

#include <array>
#include <bit>
#include <format>
#include <utility>

#include "base/text.h"

namespace lapilli::onnx {
namespace {

std::string list_text(const std::vector<std::string>& items) { return "[" + join(items, ", ") + "]"; }

std::string joined_strings(std::span<const std::string> strings) { return join(strings, std::string_view("\0", 1)); }

std::string tensor_text(const Tensor& tensor) {
  const std::uint32_t checksum =
      tensor.dtype() == DType::string ? crc32(joined_strings(tensor.strings())) : crc32(tensor.bytes());
  return std::format("{} {} {}", to_string(tensor.dtype()), shape_text(tensor.shape()), checksum);
}

std::string type_text(const Type& type) {
  switch (type.kind) {
    case Type::Kind::tensor:
    case Type::Kind::sparse_tensor: {
      std::string text = type.kind == Type::Kind::tensor ? "tensor " : "sparse_tensor ";
      text += std::string(to_string(type.dtype)) + " ";
      if (!type.shape) return text + "*";
      std::vector<std::string> dims;
      for (const Dimension& dimension : *type.shape) {
        dims.push_back(dimension.size             ? std::to_string(*dimension.size)
                       : dimension.symbol.empty() ? "?"
                                                  : dimension.symbol);
      }
      return text + list_text(dims);
    }
    case Type::Kind::sequence: return "sequence(" + type_text(type.element.front()) + ")";
    case Type::Kind::optional: return "optional(" + type_text(type.element.front()) + ")";
    case Type::Kind::map: return std::format("map({}, {})", to_string(type.dtype), type_text(type.element.front()));
    case Type::Kind::unknown: break;
  }
  return "unknown";
}

class Writer {
 public:
  ModelText write(const Model& model) {
    add(std::format("model {} {} {}", model.ir_version, model.producer_name, model.producer_version));
    add_opsets(model.opset_imports);
    add_graph(model.graph);
    for (const auto& [key, function] : model.functions) add_function(key, function);
    result_.text.pop_back();
    return std::move(result_);
  }

 private:
  void add(const std::string& line) { result_.text += line + "\n"; }

  void add_opsets(const OpsetImports& imports) {
    for (const auto& [domain, version] : imports) add(std::format("opset {} {}", domain, version));
  }

  void add_infos(std::string_view role, const std::vector<ValueInfo>& infos) {
    for (const ValueInfo& info : infos) add(std::format("{} {} {}", role, info.name, type_text(info.type)));
  }

  void add_graph(const Graph& graph) {
    add("graph " + graph.name);
    add_infos("input", graph.inputs);
    add_infos("output", graph.outputs);
    add_infos("value", graph.value_infos);
    for (const auto& [name, tensor] : graph.initializers) {
      add("initializer " + name + " " + tensor_text(tensor));
      ++result_.initializers;
    }
    for (const Node& node : graph.nodes) add_node(node);
  }

  void add_function(const FunctionKey& key, const Function& function) {
    add(std::format("function {} {}", key.domain, key.name));
    add_opsets(function.opset_imports);
    add("takes " + list_text(function.inputs) + " " + list_text(function.attribute_names));
    for (const Attribute& attribute : function.attribute_defaults) add_attribute(attribute);
    add("gives " + list_text(function.outputs));
    for (const Node& node : function.nodes) add_node(node);
  }

  void add_node(const Node& node) {
    ++result_.nodes;
    add(std::format("node {} {} {} {} {}", node.name, node.op_type, node.domain, list_text(node.inputs),
                    list_text(node.outputs)));
    for (const Attribute& attribute : node.attributes) add_attribute(attribute);
  }

  void add_attribute(const Attribute& attribute) {
    ++result_.attributes;
    const std::string line = std::format("attribute {} {} ", attribute.name, static_cast<int>(attribute.type));
    if (!attribute.refers_to.empty()) {
      add(line + "-> " + attribute.refers_to);
    } else if (const auto* graphs = std::get_if<std::vector<Graph>>(&attribute.value)) {
      add(line);
      for (const Graph& graph : *graphs) add_graph(graph);
    } else {
      add(line + value_of(attribute.value));
    }
  }

  static std::string value_of(const Attribute::Value& value) {
    const auto spaced = [](const auto& items, auto text) {
      std::vector<std::string> texts;
      for (const auto& item : items) texts.push_back(text(item));
      return join(texts, " ");
    };
    const auto bits = [](float number) { return std::to_string(std::bit_cast<std::uint32_t>(number)); };
    const auto digits = [](std::int64_t number) { return std::to_string(number); };
    if (const auto* number = std::get_if<float>(&value)) return bits(*number);
    if (const auto* numbers = std::get_if<std::vector<float>>(&value)) return spaced(*numbers, bits);
    if (const auto* number = std::get_if<std::int64_t>(&value)) return digits(*number);
    if (const auto* numbers = std::get_if<std::vector<std::int64_t>>(&value)) return spaced(*numbers, digits);
    if (const auto* text = std::get_if<std::string>(&value)) return digits(crc32(*text));
    if (const auto* texts = std::get_if<std::vector<std::string>>(&value))
      return digits(crc32(joined_strings(*texts)));
    if (const auto* tensor = std::get_if<Tensor>(&value)) return tensor_text(*tensor);
    if (const auto* tensors = std::get_if<std::vector<Tensor>>(&value)) return spaced(*tensors, tensor_text);
    if (const auto* types = std::get_if<std::vector<Type>>(&value)) return spaced(*types, type_text);
    return "nothing";
  }

  ModelText result_;
};

std::string values_text(const std::vector<Value>& values) {
  std::vector<std::string> texts;
  for (const Value& value : values) texts.push_back(value_text(value));
  return "[" + join(texts, "; ") + "]";
}

}  // namespace

std::uint32_t crc32(std::span<const std::byte> bytes) {
  static constexpr auto table = [] {
    std::array<std::uint32_t, 256> entries{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit) value = (value >> 1U) ^ ((value & 1U) != 0 ? 0xEDB88320U : 0U);
      entries[i] = value;
    }
    return entries;
  }();
  std::uint32_t result = ~0U;
  for (const std::byte byte : bytes)
    result = table[(result ^ std::to_integer<std::uint32_t>(byte)) & 0xFFU] ^ (result >> 8U);
  return ~result;
}

std::uint32_t crc32(std::string_view text) { return crc32(std::as_bytes(std::span(text.data(), text.size()))); }

ModelText model_text(const Model& model) { return Writer().write(model); }

std::string value_text(const Value& value) {
  if (const auto* tensor = std::get_if<Tensor>(&value.content)) return tensor_text(*tensor);
  if (const auto* sequence = std::get_if<Sequence>(&value.content))
    return "sequence " + values_text(sequence->elements);
  if (const auto* optional = std::get_if<Optional>(&value.content))
    return "optional " + values_text(optional->element);
  return "map";
}

}  // namespace lapilli::onnx
