#include "import/onnx/reader.h"

#include <utility>

#include "import/onnx/graph_reader.h"
#include "import/onnx/signature.h"
#include "import/onnx/source.h"
#include "import/onnx/validate.h"
#include "import/onnx/walk.h"

namespace lapilli::onnx {
namespace {

namespace model_tag {
enum : std::uint32_t {
  ir_version = 1,
  producer_name = 2,
  producer_version = 3,
  graph = 7,
  opset_import = 8,
  metadata_props = 14,
  functions = 25,
};
}  // namespace model_tag

namespace function_tag {
enum : std::uint32_t {
  name = 1,
  input = 4,
  output = 5,
  attribute = 6,
  node = 7,
  opset_import = 9,
  domain = 10,
  attribute_proto = 11,
  overload = 13,
};
}  // namespace function_tag

void read_opset_import(MessageReader message, OpsetImports& imports) {
  std::string domain;
  std::int64_t version = 0;
  while (message.next()) {
    switch (message.field()) {
      case 1: domain = normalised_domain(message.read_text()); break;
      case 2: version = message.read_int64(); break;
      default: message.skip();
    }
  }
  if (version < 1)
    fail(ErrorCode::invalid_model, "version {} of {} is imported; versions begin at 1", version, domain_text(domain));
  const auto [known, added] = imports.emplace(domain, version);
  if (!added && known->second != version) {
    fail(ErrorCode::invalid_model, "versions {} and {} of {} are imported at once", known->second, version,
         domain_text(domain));
  }
}

void read_metadata(MessageReader message, std::map<std::string, std::string>& metadata) {
  std::string key;
  std::string value;
  while (message.next()) {
    switch (message.field()) {
      case 1: key = message.read_string(); break;
      case 2: value = message.read_string(); break;
      default: message.skip();
    }
  }
  metadata.insert_or_assign(std::move(key), std::move(value));
}

FunctionKey read_function_key(MessageReader message) {
  FunctionKey key;
  while (message.next()) {
    switch (message.field()) {
      case function_tag::name: key.name = message.read_string(); break;
      case function_tag::domain: key.domain = normalised_domain(message.read_text()); break;
      case function_tag::overload: key.overload = message.read_string(); break;
      default: message.skip();
    }
  }
  return key;
}

Function read_function_body(MessageReader message, const std::string& owner, GraphSource& source) {
  Function function;
  while (message.next()) {
    switch (message.field()) {
      case function_tag::input: function.inputs.push_back(message.read_string()); break;
      case function_tag::output: function.outputs.push_back(message.read_string()); break;
      case function_tag::attribute: function.attribute_names.push_back(message.read_string()); break;
      case function_tag::attribute_proto: {
        const MessageReader attribute = message.read_message("AttributeProto");
        source.note_unsupported(
            owner, [&] { function.attribute_defaults.push_back(read_attribute(attribute, owner, source)); });
        break;
      }
      case function_tag::node: function.nodes.push_back(read_node(message.read_message("NodeProto"), source)); break;
      case function_tag::opset_import:
        read_opset_import(message.read_message("OperatorSetIdProto"), function.opset_imports);
        break;
      default: message.skip();
    }
  }
  return function;
}

void read_function(const MessageReader& message, Model& model, GraphSource& source) {
  FunctionKey key = read_function_key(message);
  const std::string owner = function_text(key);
  with_context(owner, [&] {
    const auto [place, added] = model.functions.emplace(std::move(key), Function{});
    if (!added) fail(ErrorCode::invalid_model, "the model has it twice");
    place->second = read_function_body(message, owner, source);
  });
}

Model read_fields(MessageReader message, TensorSource& tensors) {
  Model model;
  GraphSource source{.tensors = tensors, .unsupported = model.unsupported};
  bool has_graph = false;
  while (message.next()) {
    switch (message.field()) {
      case model_tag::ir_version: model.ir_version = message.read_int64(); break;
      case model_tag::producer_name: model.producer_name = message.read_string(); break;
      case model_tag::producer_version: model.producer_version = message.read_string(); break;
      case model_tag::graph:
        if (std::exchange(has_graph, true)) fail(ErrorCode::invalid_model, "it has two graphs");
        model.graph = read_graph(message.read_message("GraphProto"), source);
        break;
      case model_tag::opset_import:
        read_opset_import(message.read_message("OperatorSetIdProto"), model.opset_imports);
        break;
      case model_tag::metadata_props:
        read_metadata(message.read_message("StringStringEntryProto"), model.metadata);
        break;
      case model_tag::functions: read_function(message.read_message("FunctionProto"), model, source); break;
      default: message.skip();
    }
  }
  if (!has_graph) fail(ErrorCode::invalid_model, "it has no graph; it is not an ONNX model, or its end is missing");
  return model;
}

void check_versions(Model& model) {
  if (model.ir_version < 1) fail(ErrorCode::invalid_model, "IR version {}; versions begin at 1", model.ir_version);
  if (model.ir_version > newest_ir_version) {
    model.unsupported.push_back(std::format("the model has IR version {}, and the newest that Lapilli knows is {}",
                                            model.ir_version, newest_ir_version));
  }
  // Before IR version 3 there was one operator set, whose version was not written down.
  if (model.ir_version < 3) model.opset_imports.emplace("", 1);
  if (model.opset_imports.empty())
    fail(ErrorCode::invalid_model, "it does not say which operator sets it uses (opset_import)");
  const auto check_opset = [&](const OpsetImports& imports, std::string_view user) {
    const auto opset = imports.find("");
    if (opset == imports.end() || opset->second <= newest_opset_version) return;
    model.unsupported.push_back(std::format(
        "{} uses opset {} of ONNX, and the newest that Lapilli knows is {}: export it with opset_version={}", user,
        opset->second, newest_opset_version, newest_opset_version));
  };
  check_opset(model.opset_imports, "the model");
  for (const auto& [key, function] : model.functions) check_opset(function.opset_imports, function_text(key));
}

class OpsetResolver {
 public:
  explicit OpsetResolver(const Model& model) : functions_(model.functions) {}

  void resolve(std::vector<Node>& nodes, const OpsetImports& imports) const {
    for (Node& node : nodes) {
      node.opset_version = version_of(node, imports);
      for (Attribute& attribute : node.attributes) {
        for (Graph& graph : subgraphs(attribute)) resolve(graph.nodes, imports);
      }
    }
  }

 private:
  [[nodiscard]] std::int64_t version_of(const Node& node, const OpsetImports& imports) const {
    if (const auto found = imports.find(node.domain); found != imports.end()) return found->second;
    // Exporters forget the domains of the model's own functions, which need no version.
    if (functions_.contains({.domain = node.domain, .name = node.op_type, .overload = node.overload})) return 0;
    fail(ErrorCode::invalid_model, "{}: the model does not say which version of {} it uses (opset_import)",
         node_text(node), domain_text(node.domain));
  }

  const std::map<FunctionKey, Function>& functions_;
};

Model read(Source& source) {
  if (source.bytes.empty()) fail(ErrorCode::invalid_model, "the file is empty");
  Model model = read_fields(MessageReader(source.bytes, "ModelProto", source.bytes.data()), source.tensors);
  check_versions(model);
  const OpsetResolver resolver(model);
  resolver.resolve(model.graph.nodes, model.opset_imports);
  for (auto& [key, function] : model.functions) {
    // A function that imports nothing uses what the model uses.
    if (function.opset_imports.empty()) function.opset_imports = model.opset_imports;
    resolver.resolve(function.nodes, function.opset_imports);
  }
  validate(model);
  check_signatures(model);
  return model;
}

}  // namespace

Model read_model(const std::filesystem::path& path, const ReadOptions& options) {
  Source source = open_source(path, options);
  Model model = reading(path.string(), [&] { return read(source); });
  model.files = source.tensors.external_files.opened();
  model.files.push_back(std::move(source.file));
  return model;
}

Model read_model(std::span<const std::byte> bytes, std::shared_ptr<const void> owner, const ReadOptions& options) {
  Source source = memory_source(bytes, std::move(owner), options);
  return reading(options.name, [&] { return read(source); });
}

}  // namespace lapilli::onnx
