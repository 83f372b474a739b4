#include "support/plan_anything.h"

#include "base/failure.h"
#include "import/onnx/expand.h"
#include "import/onnx/graph/import.h"
#include "import/onnx/graph/part.h"
#include "import/onnx/inline_functions.h"
#include "import/onnx/reader.h"
#include "passes/rewrite.h"
#include "plan/build.h"
#include "plan/instantiate.h"
#include "program/verify.h"

namespace lapilli {
namespace {

SymbolValues all_sizes(const onnx::Model& model, std::int64_t size) {
  std::vector<std::string> symbols;
  for (const onnx::InputDescription& input : onnx::describe_inputs(model)) {
    for (const Dim& dim : input.shape) dim.collect_symbols(symbols);
    const auto elements = onnx::element_symbols(input).value_or(std::vector<std::string>{});
    symbols.insert(symbols.end(), elements.begin(), elements.end());
  }
  SymbolValues sizes;
  for (const std::string& symbol : symbols) sizes[symbol] = size;
  return sizes;
}

Reached plan(std::span<const std::byte> bytes, const DeviceTraits& traits, std::int64_t size, bool optimise) {
  onnx::ReadOptions options;
  options.sparse_bytes = std::size_t{1} << 20U;
  onnx::Model model = onnx::read_model(bytes, nullptr, options);
  onnx::inline_functions(model);
  onnx::expand_nodes(model);
  const auto runs = [](const onnx::Node& node) { return onnx::runs_on_device(node); };
  if (!onnx::find_unsupported(model, runs).empty()) return Reached::read;
  for (const onnx::InputDescription& input : onnx::describe_inputs(model)) {
    if (!input.ranked || input.kind != onnx::Type::Kind::tensor || input.dtype == DType::string) return Reached::read;
  }
  const SymbolValues sizes = all_sizes(model, size);
  Assumptions assumptions(sizes);
  try {
    onnx::Part part = onnx::build_model(model, assumptions);
    if (part.end != model.graph.nodes.size()) return Reached::read;
    if (optimise) (void)rewrite(part.graph, assumptions, {});
    const Structure structure = build_structure(part.graph, assumptions, traits, {});
    verify(instantiate(structure, sizes, traits).program, traits);
    return Reached::planned;
  } catch (const onnx::UnknownElements&) {
    return Reached::read;
  }
}

}  // namespace

Reached plan_anything(std::span<const std::byte> bytes, const DeviceTraits& traits, std::int64_t size,
                      bool optimise) {
  try {
    return plan(bytes, traits, size, optimise);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::internal) throw;
    return Reached::refused;
  }
}

}  // namespace lapilli
