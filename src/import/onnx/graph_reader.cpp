#include "import/onnx/graph_reader.h"

#include <utility>

#include "import/onnx/type_reader.h"

namespace lapilli::onnx {
namespace {

namespace node_tag {
enum : std::uint32_t { input = 1, output = 2, name = 3, op_type = 4, attribute = 5, domain = 7, overload = 8 };
}  // namespace node_tag

namespace graph_tag {
enum : std::uint32_t {
  node = 1,
  name = 2,
  initializer = 5,
  input = 11,
  output = 12,
  value_info = 13,
  sparse_initializer = 15,
};
}  // namespace graph_tag

ValueInfo read_value_info(MessageReader message, std::string_view role, GraphSource& source) {
  ValueInfo info;
  std::optional<MessageReader> type;
  while (message.next()) {
    switch (message.field()) {
      case 1: info.name = message.read_string(); break;
      case 2: type = message.read_message("TypeProto"); break;
      default: message.skip();
    }
  }
  if (!type) return info;
  const std::string subject = std::format("{} {}", role, name_text(info.name));
  with_context(subject, [&] { source.note_unsupported(subject, [&] { info.type = read_type(*type); }); });
  return info;
}

void add_initializer(NamedTensor initializer, Graph& graph) {
  if (initializer.name.empty()) fail(ErrorCode::invalid_model, "an initializer has no name");
  const auto [place, added] = graph.initializers.emplace(std::move(initializer.name), std::move(initializer.tensor));
  if (!added) fail(ErrorCode::invalid_model, "two initializers are called {}", name_text(place->first));
}

/// The name of a TensorProto, or of the values of a SparseTensorProto.
std::string name_of_tensor(MessageReader message, std::uint32_t name_field) {
  std::string name;
  while (message.next()) {
    if (message.field() == name_field) {
      name = message.read_string();
    } else {
      message.skip();
    }
  }
  return name;
}

void read_initializer(const MessageReader& tensor, Graph& graph, GraphSource& source) {
  bool is_read = false;
  source.note_unsupported("initializer", [&] {
    add_initializer(read_tensor(tensor, source.tensors), graph);
    is_read = true;
  });
  // It keeps its place, so that the nodes that read it are still valid.
  if (!is_read) add_initializer({.name = name_of_tensor(tensor, 8), .tensor = {}}, graph);
}

void read_sparse_initializer(MessageReader sparse, Graph& graph, GraphSource& source) {
  bool is_read = false;
  source.note_unsupported("sparse initializer", [&] {
    add_initializer(read_sparse_tensor(sparse, source.tensors), graph);
    is_read = true;
  });
  if (is_read) return;
  while (sparse.next()) {
    if (sparse.field() == 1) {
      add_initializer({.name = name_of_tensor(sparse.read_message("TensorProto"), 8), .tensor = {}}, graph);
    } else {
      sparse.skip();
    }
  }
}

void read_graph_field(MessageReader& message, Graph& graph, GraphSource& source, int depth) {
  switch (message.field()) {
    case graph_tag::node: graph.nodes.push_back(read_node(message.read_message("NodeProto"), source, depth)); break;
    case graph_tag::name: graph.name = message.read_string(); break;
    case graph_tag::initializer: read_initializer(message.read_message("TensorProto"), graph, source); break;
    case graph_tag::sparse_initializer:
      read_sparse_initializer(message.read_message("SparseTensorProto"), graph, source);
      break;
    case graph_tag::input:
      graph.inputs.push_back(read_value_info(message.read_message("ValueInfoProto"), "input", source));
      break;
    case graph_tag::output:
      graph.outputs.push_back(read_value_info(message.read_message("ValueInfoProto"), "output", source));
      break;
    case graph_tag::value_info:
      graph.value_infos.push_back(read_value_info(message.read_message("ValueInfoProto"), "value", source));
      break;
    default: message.skip();
  }
}

void read_attributes(MessageReader message, Node& node, GraphSource& source, int depth) {
  const std::string owner = node_text(node);
  with_context(owner, [&] {
    while (message.next()) {
      if (message.field() != node_tag::attribute) {
        message.skip();
        continue;
      }
      const MessageReader attribute = message.read_message("AttributeProto");
      source.note_unsupported(owner,
                              [&] { node.attributes.push_back(read_attribute(attribute, owner, source, depth)); });
    }
  });
}

}  // namespace

Graph read_graph(MessageReader message, GraphSource& source, int depth) {
  check_nesting(depth, "graphs");
  Graph graph;
  while (message.next()) read_graph_field(message, graph, source, depth);
  return graph;
}

Node read_node(const MessageReader& message, GraphSource& source, int depth) {
  Node node;
  MessageReader fields = message;
  bool has_attributes = false;
  while (fields.next()) {
    switch (fields.field()) {
      case node_tag::input: node.inputs.push_back(fields.read_string()); break;
      case node_tag::output: node.outputs.push_back(fields.read_string()); break;
      case node_tag::name: node.name = fields.read_string(); break;
      case node_tag::op_type: node.op_type = fields.read_string(); break;
      case node_tag::domain: node.domain = normalised_domain(fields.read_text()); break;
      case node_tag::overload: node.overload = fields.read_string(); break;
      case node_tag::attribute: has_attributes = true; [[fallthrough]];
      default: fields.skip();
    }
  }
  if (node.op_type.empty()) fail(ErrorCode::invalid_model, "{} has no operator", node_text(node));
  if (has_attributes) read_attributes(message, node, source, depth);
  return node;
}

}  // namespace lapilli::onnx
