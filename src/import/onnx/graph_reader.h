#pragma once

#include "import/onnx/model.h"
#include "import/onnx/tensor_reader.h"

namespace lapilli::onnx {

/// What the messages of one model share while they are read.
struct GraphSource {
  TensorSource& tensors;
  std::vector<std::string>& unsupported;  ///< see Model::unsupported

  /// Runs `action`; when what it reads is not supported, notes that, with `subject` in front, and goes on.
  template <class Action>
  void note_unsupported(std::string_view subject, Action&& action);
};

/// Reads a GraphProto that is nested `depth` deep in others.
Graph read_graph(MessageReader message, GraphSource& source, int depth = 0);

/// Reads a NodeProto of a graph nested `depth` deep. Its opset version is still unknown.
Node read_node(const MessageReader& message, GraphSource& source, int depth = 0);

/// Reads an AttributeProto of a node in a graph nested `depth` deep. `owner` is how Model::unsupported names the
/// node.
Attribute read_attribute(const MessageReader& message, std::string_view owner, GraphSource& source, int depth = 0);

template <class Action>
void GraphSource::note_unsupported(std::string_view subject, Action&& action) {
  constexpr std::size_t most = 1000;
  try {
    std::forward<Action>(action)();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unsupported) throw;
    if (unsupported.size() < most) unsupported.push_back(std::format("{}: {}", subject, error.what()));
  }
}

}  // namespace lapilli::onnx
