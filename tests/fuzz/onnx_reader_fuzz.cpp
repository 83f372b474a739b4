// Any bytes as an ONNX model and as the values that data sets hold: an Error or a result, never anything else.

#include <array>
#include <cstdint>
#include <cstdlib>

#include "import/onnx/inline_functions.h"
#include "import/onnx/reader.h"
#include "import/onnx/validate.h"
#include "import/onnx/value.h"
#include "import/onnx/walk.h"
#include "lapilli/error.h"

namespace lapilli::onnx {
namespace {

ReadOptions small_limits() {
  ReadOptions options;
  options.sparse_bytes = std::size_t{1} << 20U;
  return options;
}

/// A model that could be read stays valid, and everything that walks it works.
void use(Model model) {
  inline_functions(model);
  try {
    validate(model);
  } catch (const Error&) {
    std::abort();
  }
  for_each_node(model, [](const Node& node) {
    for (const Attribute& attribute : node.attributes) {
      for (const Graph& graph : subgraphs(attribute)) (void)captured_values(graph);
    }
  });
}

void read_all(std::span<const std::byte> bytes) {
  try {
    use(read_model(bytes, nullptr, small_limits()));
  } catch (const Error& error) {
    if (error.code() == ErrorCode::internal) std::abort();
  }
  for (const Type::Kind kind : {Type::Kind::tensor, Type::Kind::sequence, Type::Kind::optional, Type::Kind::map}) {
    try {
      (void)read_value(bytes, nullptr, {.kind = kind, .dtype = {}, .shape = {}, .element = {}}, small_limits());
    } catch (const Error& error) {
      if (error.code() == ErrorCode::internal) std::abort();
    }
  }
}

}  // namespace
}  // namespace lapilli::onnx

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  lapilli::onnx::read_all(std::as_bytes(std::span(data, size)));
  return 0;
}
