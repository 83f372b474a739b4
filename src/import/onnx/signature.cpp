#include "import/onnx/signature.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <format>
#include <limits>
#include <map>

#include "base/failure.h"
#include "base/text.h"
#include "import/onnx/walk.h"

namespace lapilli::onnx {
namespace {

struct CountRange {
  std::size_t least = 0, most = std::numeric_limits<std::size_t>::max();
};

struct AttributeRule {
  std::string_view name;
  char kind = 'i';
  bool required = false;
};

struct Signature {
  std::int64_t since = 0;
  CountRange inputs, outputs;
  std::vector<AttributeRule> attributes;
};

// By domain and name; the versions of each in their order.
using Signatures = std::map<std::pair<std::string_view, std::string_view>, std::vector<Signature>>;

// Takes the next word off the front of `text`; empty where none is left.
std::string_view next_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(word.size());
  return word;
}

template <class Integer>
Integer to_integer(std::string_view text) {
  Integer value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

CountRange to_range(std::string_view text) {
  const std::size_t dash = text.find('-');
  CountRange range{.least = to_integer<std::size_t>(text.substr(0, dash))};
  if (dash + 1 < text.size()) range.most = to_integer<std::size_t>(text.substr(dash + 1));
  return range;
}

void add_attributes(std::vector<AttributeRule>& attributes, std::string_view line) {
  for (std::string_view word = next_word(line); !word.empty(); word = next_word(line)) {
    const std::size_t colon = word.find(':');
    attributes.push_back({.name = word.substr(0, colon), .kind = word[colon + 1], .required = word.ends_with('!')});
  }
}

Signatures parse(std::string_view table) {
  Signatures signatures;
  std::string_view domain;
  std::vector<AttributeRule>* attributes = nullptr;
  while (!table.empty()) {
    std::string_view line = table.substr(0, table.find('\n'));
    table.remove_prefix(std::min(line.size() + 1, table.size()));
    if (!line.starts_with(' ')) {
      const std::string_view name = next_word(line);
      if (name == "domain") {
        domain = next_word(line);
        continue;
      }
      Signature& signature = signatures[{domain, name}].emplace_back();
      signature.since = to_integer<std::int64_t>(next_word(line));
      signature.inputs = to_range(next_word(line));
      signature.outputs = to_range(next_word(line));
      attributes = &signature.attributes;
    }
    add_attributes(*attributes, line);
  }
  return signatures;
}

const std::vector<Signature>* find_versions(const Node& node) {
  static const Signatures signatures = parse(signature_table());
  const auto found = signatures.find({node.domain, node.op_type});
  return found == signatures.end() ? nullptr : &found->second;
}

AttributeType type_of(char kind) {
  using enum AttributeType;
  switch (kind) {
    case 'f':
    case 'e': return floating_point;
    case 's': return string;
    case 't': return tensor;
    case 'g': return graph;
    case 'p': return sparse_tensor;
    case 'y': return type;
    case 'F': return floating_points;
    case 'I': return integers;
    case 'S': return strings;
    case 'T': return tensors;
    default: return integer;
  }
}

// "0 or 1" where the value is not of this kind; empty where it is.
std::string_view wanted_number(char kind, const Attribute::Value& value) {
  if (const auto* real = std::get_if<float>(&value)) {
    return kind != 'e' || (std::isfinite(*real) && *real >= 0) ? "" : "a finite number that is not negative";
  }
  const auto* number = std::get_if<std::int64_t>(&value);
  if (number == nullptr) return "";
  const auto is_one_of = [&](std::initializer_list<std::int64_t> right) {
    return std::ranges::find(right, *number) != right.end();
  };
  switch (kind) {
    case 'b': return is_one_of({0, 1}) ? "" : "0 or 1";
    case 'n': return *number > 0 ? "" : "a positive number";
    case 'd': return is_one_of({1, 10, 11, 16}) ? "" : "1 (float32), 10 (float16), 11 (float64) or 16 (bfloat16)";
    default: return "";
  }
}

std::string number_text(const Attribute::Value& value) {
  const auto* real = std::get_if<float>(&value);
  return real != nullptr ? std::format("{}", *real) : std::format("{}", std::get<std::int64_t>(value));
}

std::string range_text(const CountRange& range) {
  if (range.most == std::numeric_limits<std::size_t>::max()) return std::format("at least {}", range.least);
  if (range.least == range.most) return std::format("{}", range.least);
  return std::format("{} to {}", range.least, range.most);
}

const AttributeRule* find_rule(const Signature& signature, std::string_view name) {
  const auto rule = std::ranges::find(signature.attributes, name, &AttributeRule::name);
  return rule == signature.attributes.end() ? nullptr : &*rule;
}

[[noreturn]] void fail_unknown(const Node& node, const Attribute& attribute, const Signature& signature,
                               const std::vector<Signature>& versions) {
  std::vector<std::string> names;
  for (const AttributeRule& rule : signature.attributes) names.emplace_back(rule.name);
  const auto later = std::ranges::find_if(versions, [&](const Signature& version) {
    return version.since > node.opset_version && find_rule(version, attribute.name) != nullptr;
  });
  const std::string hint = later == versions.end() ? ""
                                                   : std::format("; it came with opset {}, and the model says {}",
                                                                 later->since, node.opset_version);
  fail(ErrorCode::invalid_model, "{}: there is no attribute {} in opset {}; {} has {}{}", node_text(node),
       name_text(attribute.name), node.opset_version, node.op_type, names.empty() ? "none" : join(names, ", "), hint);
}

void check_attributes(const Node& node, const Signature& signature, const std::vector<Signature>& versions) {
  for (const Attribute& attribute : node.attributes) {
    const AttributeRule* rule = find_rule(signature, attribute.name);
    if (rule == nullptr) fail_unknown(node, attribute, signature, versions);
    if (const AttributeType type = type_of(rule->kind);
        attribute.type != type && attribute.type != AttributeType::undefined) {
      fail(ErrorCode::invalid_model, "{}: attribute {} has type {}, but the operator takes {}", node_text(node),
           name_text(attribute.name), to_string(attribute.type), to_string(type));
    }
    if (const std::string_view wanted = wanted_number(rule->kind, attribute.value); !wanted.empty()) {
      fail(ErrorCode::invalid_model, "{}: attribute {} is {}, and has to be {}", node_text(node),
           name_text(attribute.name), number_text(attribute.value), wanted);
    }
  }
  for (const AttributeRule& rule : signature.attributes) {
    if (rule.required && node.find_attribute(rule.name) == nullptr)
      fail(ErrorCode::invalid_model, "{}: attribute '{}' is missing", node_text(node), rule.name);
  }
}

// Names left out at the end say nothing.
void check_count(const Node& node, const std::vector<std::string>& names, const CountRange& range,
                 std::string_view what) {
  std::size_t count = names.size();
  while (count > range.least && names[count - 1].empty()) --count;
  if (count >= range.least && count <= range.most) return;
  fail(ErrorCode::invalid_model, "{} has {} {}{}; {} {} {} in opset {}", node_text(node), count, what,
       count == 1 ? "" : "s", node.op_type, what == "input" ? "takes" : "gives", range_text(range),
       node.opset_version);
}

// Branches give what the node gives.
void check_branches(const Node& node) {
  for (const Attribute& attribute : node.attributes) {
    for (const Graph& branch : subgraphs(attribute)) {
      if (branch.outputs.size() == node.outputs.size()) continue;
      fail(ErrorCode::invalid_model, "{}: outputs of {}: {}, of the node: {}; they have to be as many",
           node_text(node), name_text(attribute.name), branch.outputs.size(), node.outputs.size());
    }
  }
}

void check(const Node& node) {
  const std::vector<Signature>* versions = find_versions(node);
  if (versions == nullptr) return;
  const auto later =
      std::ranges::find_if(*versions, [&](const Signature& version) { return version.since > node.opset_version; });
  if (later == versions->begin()) return;
  const Signature& signature = *std::prev(later);
  check_count(node, node.inputs, signature.inputs, "input");
  check_count(node, node.outputs, signature.outputs, "output");
  check_attributes(node, signature, *versions);
  if (node.domain.empty() && node.op_type == "If") check_branches(node);
}

}  // namespace

void check_signatures(const Model& model) {
  const auto check_own = [&](const Node& node) {
    const FunctionKey key{.domain = node.domain, .name = node.op_type, .overload = node.overload};
    if (!model.functions.contains(key)) check(node);
  };
  for_each_node(model.graph.nodes, check_own);
  for (const auto& [key, function] : model.functions) {
    with_context(function_text(key), [&] { for_each_node(function.nodes, check_own); });
  }
}

std::optional<std::int64_t> first_version(const Node& node) {
  const std::vector<Signature>* versions = find_versions(node);
  return versions != nullptr ? std::optional(versions->front().since) : std::nullopt;
}

}  // namespace lapilli::onnx
