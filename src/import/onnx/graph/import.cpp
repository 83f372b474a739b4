#include "import/onnx/graph/import.h"

#include <format>
#include <set>

#include "import/onnx/signature.h"
#include "import/onnx/walk.h"

namespace lapilli::onnx {
namespace {

Shape symbolic_shape(const ValueInfo& info) {
  Shape shape;
  for (std::size_t i = 0; i < info.type.shape->size(); ++i) {
    const Dimension& dimension = (*info.type.shape)[i];
    if (dimension.size) {
      shape.emplace_back(*dimension.size);
    } else {
      shape.push_back(Dim::symbol(dimension.symbol.empty() ? std::format("{}.{}", info.name, i) : dimension.symbol));
    }
  }
  return shape;
}

}  // namespace

std::optional<std::vector<std::string>> element_symbols(const InputDescription& input) {
  constexpr std::int64_t most_elements = 16;
  const auto count = element_count(input.shape).constant();
  const bool integers = input.dtype == DType::int64 || input.dtype == DType::int32;
  if (!integers || input.shape.size() > 1 || !count || *count > most_elements) return std::nullopt;
  std::vector<std::string> symbols;
  for (std::int64_t i = 0; i < *count; ++i) symbols.push_back(std::format("{}[{}]", input.name, i));
  return symbols;
}

std::vector<InputDescription> describe_inputs(const Model& model) {
  std::vector<InputDescription> inputs;
  for (const ValueInfo& info : model.graph.inputs) {
    if (model.graph.initializers.contains(info.name)) continue;
    const bool ranked = info.type.kind == Type::Kind::tensor && info.type.shape.has_value();
    inputs.push_back({info.name, info.type.dtype, ranked ? symbolic_shape(info) : Shape(), info.type.kind, ranked});
  }
  return inputs;
}

std::vector<std::string> find_unsupported(const Model& model, const std::function<bool(const Node&)>& runs) {
  std::vector<std::string> lines = model.unsupported;
  std::set<std::string> seen;
  for_each_node(model, [&](const Node& node) {
    if (runs(node)) return;
    const std::string what =
        std::format("operator {} of {}, version {}", node.op_type, domain_text(node.domain), node.opset_version);
    if (!seen.insert(what).second) return;
    const std::int64_t first = first_version(node).value_or(0);
    lines.push_back(std::format("{}{} (first at {})", what,
                                first > node.opset_version ? std::format(", which came with {}", first) : "",
                                node_text(node)));
  });
  return lines;
}

}  // namespace lapilli::onnx
