#include "import/onnx/model.h"

#include <algorithm>
#include <array>

#include "base/failure.h"

namespace lapilli::onnx {
namespace {

constexpr std::array<std::string_view, 15> attribute_type_names{
    "undefined", "float",   "int",    "string",        "tensor",         "graph", "floats", "ints",
    "strings",   "tensors", "graphs", "sparse tensor", "sparse tensors", "type",  "types",
};

// In the order of Attribute::Value.
constexpr std::array<std::string_view, std::variant_size_v<Attribute::Value>> value_names{
    "no value", "float", "int", "string", "tensor", "floats", "ints", "strings", "tensors", "graph", "type",
};

}  // namespace

std::string_view to_string(AttributeType type) noexcept {
  return attribute_type_names[static_cast<std::size_t>(type)];
}

const Attribute* Node::find_attribute(std::string_view attribute_name) const noexcept {
  const auto found = std::ranges::find(attributes, attribute_name, &Attribute::name);
  return found == attributes.end() ? nullptr : &*found;
}

void Node::fail_attribute_type(const Attribute& attribute, const Attribute::Value& wanted) const {
  fail(ErrorCode::invalid_model, "{}: attribute {} has type {}, but the operator takes {}", node_text(*this),
       name_text(attribute.name), to_string(attribute.type), value_names[wanted.index()]);
}

std::string node_text(const Node& node) {
  std::string subject = "a node";
  if (!node.name.empty()) {
    subject = "node " + name_text(node.name);
  } else if (const auto output = std::ranges::find_if(node.outputs, [](const auto& name) { return !name.empty(); });
             output != node.outputs.end()) {
    subject = "the node that makes " + name_text(*output);
  }
  const std::string domain = node.domain.empty() ? "" : printable(node.domain) + ".";
  return std::format("{} ({}{})", subject, domain, printable(node.op_type));
}

std::string printable(std::string_view name) {
  constexpr std::size_t longest = 120;
  std::string text;
  for (const char letter : name.substr(0, longest)) {
    const auto code = static_cast<unsigned char>(letter);
    text += code < 0x20 || code == 0x7F ? '?' : letter;
  }
  if (name.size() > longest) text += "...";
  return text;
}

std::string name_text(std::string_view name) { return "'" + printable(name) + "'"; }

std::string domain_text(std::string_view domain) {
  return domain.empty() ? "the default domain" : "domain " + name_text(domain);
}

std::string normalised_domain(std::string_view domain) {
  return domain == "ai.onnx" ? std::string() : std::string(domain);
}

std::string function_text(const FunctionKey& key) {
  return std::format("function {} of {}", name_text(key.name), domain_text(key.domain));
}

}  // namespace lapilli::onnx
