#include "import/onnx/expand.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "import/onnx/function_body.h"
#include "import/onnx/walk.h"

namespace lapilli::onnx {
namespace {

using Names = std::vector<std::string>;

Attribute integer_attribute(std::string name, std::int64_t value) {
  return {std::move(name), AttributeType::integer, value, {}};
}

// What one node becomes.
class Expansion {
 public:
  Expansion(const Node& source, ValueNames& names) : source_(source), names_(names) {}

  [[nodiscard]] std::string input(std::size_t i) const { return i < source_.inputs.size() ? source_.inputs[i] : ""; }
  [[nodiscard]] std::string output(std::size_t i) const {
    return i < source_.outputs.size() ? source_.outputs[i] : "";
  }
  std::string new_value(std::string_view what) { return names_.make_new(name_prefix(source_) + std::string(what)); }
  [[nodiscard]] const Attribute* axis() const { return source_.find_attribute("axis"); }

  void add(std::string_view op_type, Names inputs, Names outputs, std::vector<Attribute> attributes) {
    Node node;
    node.name = source_.name;
    node.op_type = op_type;
    node.domain = "lapilli";
    node.opset_version = 1;
    node.inputs = std::move(inputs);
    node.outputs = std::move(outputs);
    node.attributes = std::move(attributes);
    nodes_.push_back(std::move(node));
  }
  void add(Node node) { nodes_.push_back(std::move(node)); }
  // The first `count` elements along an axis.
  void take(const std::string& padded, const std::string& count, const std::string& result, std::int64_t axis) {
    if (!result.empty()) add("Take", {padded, count}, {result}, {integer_attribute("axis", axis)});
  }
  // Whole slices along the source's axis, or elements in row-major order where it has none.
  void gather(const std::string& indices, const std::string& result) {
    if (result.empty()) return;
    std::vector<Attribute> attributes;
    if (axis() != nullptr) attributes.push_back(*axis());
    add("GatherSlices", {input(0), indices}, {result}, std::move(attributes));
  }
  [[nodiscard]] const Node& source() const { return source_; }
  [[nodiscard]] std::vector<Node> nodes() { return std::move(nodes_); }

 private:
  const Node& source_;
  ValueNames& names_;
  std::vector<Node> nodes_;
};

void expand_non_zero(Expansion& into) {
  const std::string padded = into.new_value("padded"), count = into.new_value("count");
  into.add("NonZeroPadded", {into.input(0)}, {padded, count}, {});
  into.take(padded, count, into.output(0), 1);
}

void expand_compress(Expansion& into) {
  const std::string padded = into.new_value("padded"), count = into.new_value("count");
  const std::string places = into.new_value("places");
  into.add("SelectedPadded", {into.input(1)}, {padded, count}, {});
  into.take(padded, count, places, 0);
  into.gather(places, into.output(0));
}

void expand_unique(Expansion& into) {
  const std::string firsts = into.new_value("firsts"), counts = into.new_value("counts");
  const std::string count = into.new_value("count");
  const std::string places = into.output(1).empty() ? into.new_value("places") : into.output(1);
  into.add("UniquePadded", {into.input(0)}, {firsts, into.output(2), counts, count}, into.source().attributes);
  into.take(firsts, count, places, 0);
  into.take(counts, count, into.output(3), 0);
  into.gather(places, into.output(0));
}

void expand_non_max_suppression(Expansion& into) {
  const std::string padded = into.new_value("padded"), count = into.new_value("count");
  into.add("NonMaxSuppressionPadded", into.source().inputs, {padded, count}, into.source().attributes);
  into.take(padded, count, into.output(0), 0);
}

constexpr std::string_view label_prefix = "classlabels_";

const Names* class_names(const Node& node) {
  const Attribute* attribute = node.find_attribute("classlabels_strings");
  const auto* names = attribute == nullptr ? nullptr : std::get_if<Names>(&attribute->value);
  return names == nullptr || names->empty() ? nullptr : names;
}

bool always(const Node& /*node*/) { return true; }

// Labels of both kinds are an error, which the node's own build function finds.
bool names_classes(const Node& node) {
  const auto is_labels = [](const Attribute& attribute) {
    const auto* numbers = std::get_if<std::vector<std::int64_t>>(&attribute.value);
    return attribute.name.starts_with(label_prefix) && numbers != nullptr && !numbers->empty();
  };
  return class_names(node) != nullptr && std::ranges::none_of(node.attributes, is_labels);
}

// A classifier whose labels are strings: one that numbers its classes from 1, and a table with their names. 0 is what
// a single class gives that does not hold; it has no name.
void expand_classifier(Expansion& into) {
  const Node& source = into.source();
  const Names names = *class_names(source);
  std::vector<std::int64_t> numbers;
  for (std::size_t i = 0; i < names.size(); ++i) numbers.push_back(static_cast<std::int64_t>(i) + 1);
  Node classifier = source;
  std::erase_if(classifier.attributes,
                [](const Attribute& attribute) { return attribute.name.starts_with(label_prefix); });
  const bool of_trees = source.op_type == "TreeEnsembleClassifier";
  classifier.attributes.push_back(
      {of_trees ? "classlabels_int64s" : "classlabels_ints", AttributeType::integers, numbers, {}});
  Node table;
  table.name = source.name;
  table.op_type = "LabelEncoder";
  table.domain = source.domain;
  table.opset_version = 2;
  table.outputs = {into.output(0)};
  table.attributes = {{"keys_int64s", AttributeType::integers, numbers, {}},
                      {"values_strings", AttributeType::strings, names, {}},
                      {"default_string", AttributeType::string, std::string(), {}}};
  const bool wanted = !into.output(0).empty();
  if (wanted) classifier.outputs[0] = into.new_value("places");
  table.inputs = classifier.outputs;
  table.inputs.resize(1);
  into.add(std::move(classifier));
  if (wanted) into.add(std::move(table));
}

struct Rule {
  std::string_view domain, name;
  bool (*applies)(const Node&);
  void (*expand)(Expansion&);
};

constexpr std::string_view machine_learning = "ai.onnx.ml";

constexpr std::array rules{
    Rule{"", "Compress", always, expand_compress},
    Rule{"", "NonMaxSuppression", always, expand_non_max_suppression},
    Rule{"", "NonZero", always, expand_non_zero},
    Rule{"", "Unique", always, expand_unique},
    Rule{machine_learning, "LinearClassifier", names_classes, expand_classifier},
    Rule{machine_learning, "SVMClassifier", names_classes, expand_classifier},
    Rule{machine_learning, "TreeEnsembleClassifier", names_classes, expand_classifier},
};

const Rule* find_rule(const Node& node) {
  for (const Rule& rule : rules) {
    if (node.domain == rule.domain && node.op_type == rule.name && rule.applies(node)) return &rule;
  }
  return nullptr;
}

void expand_all(std::vector<Node>& nodes, ValueNames& names) {
  std::vector<Node> result;
  result.reserve(nodes.size());
  for (Node& node : nodes) {
    for (Attribute& attribute : node.attributes) {
      for (Graph& graph : subgraphs(attribute)) expand_all(graph.nodes, names);
    }
    const Rule* rule = find_rule(node);
    if (rule == nullptr) {
      result.push_back(std::move(node));
      continue;
    }
    Expansion expansion(node, names);
    rule->expand(expansion);
    for (Node& inside : expansion.nodes()) result.push_back(std::move(inside));
  }
  nodes = std::move(result);
}

}  // namespace

void expand_nodes(Model& model) {
  bool needed = false;
  for_each_node(model, [&](const Node& node) { needed = needed || find_rule(node) != nullptr; });
  if (!needed) return;
  ValueNames names(model);
  expand_all(model.graph.nodes, names);
}

}  // namespace lapilli::onnx
