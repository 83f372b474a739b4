#include "import/onnx/operators/types.h"

#include "base/failure.h"
#include "base/text.h"
#include "import/onnx/model.h"

namespace lapilli::onnx {

std::vector<DType> TypeSet::list() const {
  std::vector<DType> types;
  for (std::uint8_t code = 0; code < 32; ++code) {
    const auto type = static_cast<DType>(code);
    if (contains(type)) types.push_back(type);
  }
  return types;
}

std::string TypeSet::to_string() const {
  std::vector<std::string> names;
  for (const DType type : list()) names.emplace_back(lapilli::to_string(type));
  return join(names, ", ");
}

void require_type(const InputTypes& types, const Node& node, std::size_t input, DType type) {
  const TypeSet allowed = types.of(input);
  if (allowed.empty() || allowed.contains(type)) return;
  fail(ErrorCode::invalid_model, "input {} ({}) is {}; {} takes {} there", input, name_text(node.inputs[input]),
       to_string(type), node.op_type, allowed.to_string());
}

std::span<const NamedTypeSet> named_type_sets() {
  static constexpr std::array sets{
      NamedTypeSet{"floats", types::floats},          NamedTypeSet{"integers", types::integers},
      NamedTypeSet{"numbers", types::numbers},        NamedTypeSet{"wide numbers", types::wide_numbers},
      NamedTypeSet{"numbers and bool", types::plain}, NamedTypeSet{"plain types", types::tensors},
      NamedTypeSet{"float8", types::float8},          NamedTypeSet{"all types", types::all},
      NamedTypeSet{"every type", types::every},       NamedTypeSet{"quantized types", types::quantized},
  };
  return sets;
}

}  // namespace lapilli::onnx
