#include "import/onnx/expand.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/failure.h"
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
    add_of("lapilli", 1, op_type, std::move(inputs), std::move(outputs), std::move(attributes));
  }
  void add_of(std::string_view domain, std::int64_t version, std::string_view op_type, Names inputs, Names outputs,
              std::vector<Attribute> attributes) {
    Node node;
    node.name = source_.name;
    node.op_type = op_type;
    node.domain = domain;
    node.opset_version = version;
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
  // The source's attribute, where it has it.
  [[nodiscard]] std::vector<Attribute> attributes(std::initializer_list<std::string_view> names) const {
    std::vector<Attribute> found;
    for (const std::string_view name : names) {
      if (const Attribute* attribute = source_.find_attribute(name)) found.push_back(*attribute);
    }
    return found;
  }
  // The nodes of a graph that the source has as an attribute, over one value; that value where it has none.
  std::string apply(std::string_view graph_name, const std::string& value);
  [[nodiscard]] const Node& source() const { return source_; }
  [[nodiscard]] std::vector<Node> nodes() { return std::move(nodes_); }

 private:
  const Node& source_;
  ValueNames& names_;
  std::vector<Node> nodes_;
};

std::string Expansion::apply(std::string_view graph_name, const std::string& value) {
  constexpr std::int64_t version = 13;  // of Constant and Identity
  const auto* graphs = source_.find<std::vector<Graph>>(graph_name);
  if (graphs == nullptr) return value;
  if (graphs->size() != 1)
    fail(ErrorCode::invalid_model, "{}: {} is {} graphs", node_text(source_), graph_name, graphs->size());
  const Graph& graph = graphs->front();
  if (graph.inputs.size() != 1 || graph.outputs.size() != 1) {
    fail(ErrorCode::invalid_model, "{}: {} has {} inputs and {} outputs where one of each is needed",
         node_text(source_), graph_name, graph.inputs.size(), graph.outputs.size());
  }
  Function function;
  function.inputs = {graph.inputs[0].name};
  function.outputs = {graph.outputs[0].name};
  for (const auto& [name, tensor] : graph.initializers) {
    Node constant;
    constant.op_type = "Constant";
    constant.opset_version = version;
    constant.outputs = {name};
    constant.attributes = {{"value", AttributeType::tensor, tensor, {}}};
    function.nodes.push_back(std::move(constant));
  }
  function.nodes.insert(function.nodes.end(), graph.nodes.begin(), graph.nodes.end());
  Node call;
  call.name = name_prefix(source_) + std::string(graph_name);
  call.op_type = graph_name;
  call.inputs = {value};
  call.outputs = {new_value(graph_name)};
  std::ranges::move(function_body(call, function, version, names_), std::back_inserter(nodes_));
  return call.outputs[0];
}

void expand_flex_attention(Expansion& into) {
  const std::string scores = into.new_value("scores"), weights = into.new_value("weights");
  into.add("AttentionScores", {into.input(0), into.input(1)}, {scores},
           into.attributes({"scale", "softmax_precision"}));
  const std::string changed = into.apply("score_mod", scores);
  into.add_of("", 13, "Softmax", {changed}, {weights}, {integer_attribute("axis", -1)});
  into.add("AttentionValues", {into.apply("prob_mod", weights), into.input(2)}, {into.output(0)}, {});
}

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
  ExpandedOperator source;
  bool (*applies)(const Node&);
  void (*expand)(Expansion&);
};

constexpr std::string_view machine_learning = "ai.onnx.ml";
constexpr TypeSet features = types::single_or_double | types::indices;

constexpr std::array rules{
    Rule{{"Compress", 9, {types::tensors, types::condition}, ""}, always, expand_compress},
    Rule{{"FlexAttention", 1, {types::floats}, "ai.onnx.preview"}, always, expand_flex_attention},
    Rule{{"NonMaxSuppression", 10, {types::single, types::single, types::sizes, types::single}, ""},
         always,
         expand_non_max_suppression},
    Rule{{"NonZero", 9, {types::plain}, ""}, always, expand_non_zero},
    Rule{{"Unique", 11, {types::tensors}, ""}, always, expand_unique},
    Rule{{"LinearClassifier", 1, {features}, machine_learning}, names_classes, expand_classifier},
    Rule{{"SVMClassifier", 1, {features}, machine_learning}, names_classes, expand_classifier},
    Rule{{"TreeEnsembleClassifier", 1, {features}, machine_learning}, names_classes, expand_classifier},
};

const Rule* find_rule(const Node& node) {
  for (const Rule& rule : rules) {
    if (node.domain == rule.source.domain && node.op_type == rule.source.name && rule.applies(node)) return &rule;
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

std::vector<ExpandedOperator> expanded_operators() {
  std::vector<ExpandedOperator> operators;
  for (const Rule& rule : rules) operators.push_back(rule.source);
  return operators;
}

void expand_nodes(Model& model) {
  bool needed = false;
  for_each_node(model, [&](const Node& node) { needed = needed || find_rule(node) != nullptr; });
  if (!needed) return;
  ValueNames names(model);
  expand_all(model.graph.nodes, names);
}

}  // namespace lapilli::onnx
