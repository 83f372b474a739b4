#include "api/network.h"

#include <algorithm>
#include <format>
#include <utility>

#include "base/failure.h"
#include "base/text.h"
#include "import/onnx/inline_functions.h"
#include "import/onnx/reader.h"

namespace lapilli {
namespace {

std::string format_text(const onnx::Model& model) {
  const auto opset = model.opset_imports.find("");
  std::string text = "ONNX";
  if (opset != model.opset_imports.end()) text += std::format(", opset {}", opset->second);
  if (!model.producer_name.empty()) text += std::format(", from {} {}", model.producer_name, model.producer_version);
  return text;
}

// Solves for a symbol that a dimension consists of; other expressions are checked once all symbols are known.
void learn_size(const Dim& dim, std::int64_t size, SymbolValues& sizes) {
  std::vector<std::string> symbols;
  dim.collect_symbols(symbols);
  if (symbols.size() == 1 && dim == Dim::symbol(symbols.front())) sizes.try_emplace(symbols.front(), size);
}

void learn_elements(const onnx::InputDescription& input, const Tensor& tensor, SymbolValues& sizes) {
  const auto symbols = onnx::element_symbols(input).value_or(std::vector<std::string>{});
  const bool wide = input.dtype == DType::int64;
  for (std::size_t i = 0; i < symbols.size() && std::cmp_less(i, tensor.element_count()); ++i) {
    sizes[symbols[i]] = wide ? tensor.elements<std::int64_t>()[i] : tensor.elements<std::int32_t>()[i];
  }
}

}  // namespace

Network::Network(const std::filesystem::path& path) : path_(path.string()) {
  with_context(path_, [&] {
    model_ = onnx::read_model(path);
    onnx::inline_functions(model_);
    const std::vector<std::string> problems = onnx::find_unsupported(model_);
    if (!problems.empty()) {
      fail(ErrorCode::unsupported, "this version cannot run the model:\n  {}", join(problems, "\n  "));
    }
    format_ = format_text(model_);
    inputs_ = onnx::describe_inputs(model_);
    for (const onnx::ValueInfo& output : model_.graph.outputs) output_names_.push_back(output.name);
  });
}

SymbolValues Network::complete_sizes(const Sizes& given) const {
  std::vector<std::string> symbols;
  for (const auto& input : inputs_) {
    for (const Dim& dim : input.shape) dim.collect_symbols(symbols);
    const auto elements = onnx::element_symbols(input).value_or(std::vector<std::string>{});
    symbols.insert(symbols.end(), elements.begin(), elements.end());
  }
  SymbolValues sizes;
  for (const std::string& symbol : symbols) sizes[symbol] = 1;
  for (const auto& [name, size] : given) {
    if (!sizes.contains(name)) {
      fail(ErrorCode::invalid_argument, "{}: no input has a size named '{}'; there {} {}", path_, name,
           symbols.size() == 1 ? "is" : "are", symbols.empty() ? "none" : join(symbols, ", "));
    }
    if (size < 0) fail(ErrorCode::invalid_argument, "the size {}={} is negative", name, size);
    sizes[name] = size;
  }
  return sizes;
}

SymbolValues Network::sizes_of(std::span<const Tensor> inputs) const {
  if (inputs.size() != inputs_.size()) {
    fail(ErrorCode::invalid_argument, "{}: {} inputs are given, but the model has {}", path_, inputs.size(),
         inputs_.size());
  }
  SymbolValues sizes;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto& wanted = inputs_[i];
    if (inputs[i].dtype() != wanted.dtype || inputs[i].shape().size() != wanted.shape.size()) {
      fail(ErrorCode::invalid_argument, "{}: input '{}' is {}{}, but the model takes {}{}", path_, wanted.name,
           to_string(inputs[i].dtype()), shape_text(inputs[i].shape()), to_string(wanted.dtype),
           shape_text(wanted.shape));
    }
    learn_elements(wanted, inputs[i], sizes);
    for (std::size_t axis = 0; axis < wanted.shape.size(); ++axis)
      learn_size(wanted.shape[axis], inputs[i].shape()[axis], sizes);
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (evaluate(inputs_[i].shape, sizes) != inputs[i].shape()) {
      fail(ErrorCode::invalid_argument, "{}: input '{}' has shape {}, which does not fit {}{}", path_,
           inputs_[i].name, shape_text(inputs[i].shape()), shape_text(inputs_[i].shape),
           sizes.empty() ? "" : " with the sizes of the other inputs");
    }
  }
  return sizes;
}

Network::Built Network::build(Assumptions& assumptions, const ModelOptions& options) const {
  return with_context(path_, [&] {
    Built built{onnx::build_graph(model_, assumptions), {}};
    if (options.optimise) built.rewrites = rewrite(built.graph, assumptions, options.disabled_rules);
    return built;
  });
}

}  // namespace lapilli
