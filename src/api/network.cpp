#include "api/network.h"

#include <algorithm>
#include <format>
#include <set>
#include <utility>

#include "base/failure.h"
#include "base/integers.h"
#include "base/text.h"
#include "flow/host_call.h"
#include "import/onnx/expand.h"
#include "import/onnx/graph/part.h"
#include "import/onnx/inline_functions.h"
#include "import/onnx/reader.h"
#include "import/onnx/walk.h"

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

void learn_elements(std::span<const std::string> symbols, const Tensor& tensor, SymbolValues& sizes) {
  for (std::size_t i = 0; i < symbols.size() && std::cmp_less(i, tensor.element_count()); ++i) {
    sizes[symbols[i]] = integer_at(tensor, i);
  }
}

bool runs(const onnx::Node& node) {
  return onnx::runs_on_device(node) || find_host_operator(node.domain, node.op_type, node.opset_version) != nullptr;
}

// A tensor of numbers whose rank is known.
bool is_plain(const onnx::InputDescription& input) { return input.ranked && input.dtype != DType::string; }

// A branch is where its condition is known before.
bool may_be_in_graph(const onnx::Node& node) {
  return onnx::runs_on_device(node) || (node.domain.empty() && node.op_type == "If");
}

std::string_view kind_text(onnx::Type::Kind kind) {
  switch (kind) {
    case onnx::Type::Kind::tensor:
    case onnx::Type::Kind::sparse_tensor: return "a tensor";
    case onnx::Type::Kind::sequence: return "a sequence";
    case onnx::Type::Kind::optional: return "an optional";
    case onnx::Type::Kind::map: return "a map";
    default: return "another kind of value";
  }
}

std::string taken_text(const onnx::InputDescription& input) {
  if (input.kind == onnx::Type::Kind::tensor && input.dtype != DType::undefined && input.ranked) {
    return std::string(to_string(input.dtype)) + shape_text(input.shape);
  }
  return std::format("{}{}{}", kind_text(input.kind), input.dtype == DType::undefined ? "" : " of ",
                     input.dtype == DType::undefined ? "" : to_string(input.dtype));
}

std::string given_text(const Value& value) {
  if (value.is_tensor()) return std::string(to_string(value.tensor().dtype())) + shape_text(value.tensor().shape());
  if (value.is_map()) return std::format("a map from {}", to_string(value.map().keys.dtype()));
  return value.empty() ? "nothing" : "a sequence";
}

bool fits(const onnx::InputDescription& input, const Value& value) {
  if (input.kind == onnx::Type::Kind::optional) return true;
  if (input.kind == onnx::Type::Kind::sequence) return value.is_sequence();
  if (input.kind == onnx::Type::Kind::map) return value.is_map() && value.map().keys.dtype() == input.dtype;
  return value.is_tensor() && (input.dtype == DType::undefined || value.tensor().dtype() == input.dtype) &&
         (!input.ranked || value.tensor().shape().size() == input.shape.size());
}

std::string sizes_text(const SymbolValues& sizes) {
  std::vector<std::string> parts;
  for (const auto& [name, size] : sizes) parts.push_back(std::format("{}={}", name, size));
  return join(parts, ", ");
}

// Names that a user may have meant.
std::string similar_names(const std::set<std::string, std::less<>>& names, std::string_view wanted) {
  constexpr std::size_t most = 8;
  std::vector<std::string> similar;
  for (const std::string& name : names) {
    if (similar.size() < most && name.contains(wanted)) similar.push_back(name);
  }
  return similar.empty() ? "'lapilli inspect' lists them" : std::format("there are {}", join(similar, ", "));
}

// Of each input.
std::vector<std::vector<std::string>> element_symbols(std::span<const onnx::InputDescription> inputs) {
  std::vector<std::vector<std::string>> symbols;
  for (const onnx::InputDescription& input : inputs) {
    symbols.push_back(onnx::element_symbols(input).value_or(std::vector<std::string>{}));
  }
  return symbols;
}

void keep_value(onnx::Graph& graph, const std::string& name) {
  if (std::ranges::contains(graph.outputs, name, &onnx::ValueInfo::name)) return;
  std::set<std::string, std::less<>> names;
  for (const onnx::ValueInfo& input : graph.inputs) names.insert(input.name);
  for (const onnx::Node& node : graph.nodes) names.insert(node.outputs.begin(), node.outputs.end());
  if (name.empty() || (!names.contains(name) && !graph.initializers.contains(name))) {
    fail(ErrorCode::invalid_argument, "the graph has no value '{}' to keep; {}", name, similar_names(names, name));
  }
  onnx::ValueInfo output;
  output.name = name;
  graph.outputs.push_back(std::move(output));
}

}  // namespace

Network::Network(const std::filesystem::path& path, std::span<const std::string> keep) : path_(path.string()) {
  model_ = onnx::read_model(path);  // its errors name the file
  with_context(path_, [&] {
    onnx::inline_functions(model_);
    onnx::expand_nodes(model_);
    const std::vector<std::string> problems = onnx::find_unsupported(model_, runs);
    if (!problems.empty()) {
      fail(ErrorCode::unsupported, "this version cannot run the model:\n  {}", join(problems, "\n  "));
    }
    format_ = format_text(model_);
    for (const std::string& name : keep) keep_value(model_.graph, name);
    inputs_ = onnx::describe_inputs(model_);
    element_symbols_ = element_symbols(inputs_);
    for (const onnx::ValueInfo& output : model_.graph.outputs) output_names_.push_back(output.name);
    may_be_one_graph_ =
        std::ranges::all_of(inputs_, is_plain) && std::ranges::all_of(model_.graph.nodes, may_be_in_graph);
  });
}

Network::Network(const std::filesystem::path& path, const CompiledProgram& compiled)
    : path_(path.string()),
      format_(std::format("Lapilli program for {}, made from {}", compiled.traits.name, compiled.model)),
      compiled_sizes_(compiled.sizes) {
  for (const Port& port : compiled.program.inputs) {
    inputs_.push_back({port.name, port.dtype, Shape(port.shape.begin(), port.shape.end())});
  }
  element_symbols_ = element_symbols(inputs_);
  for (const Port& port : compiled.program.outputs) output_names_.push_back(port.name);
}

void Network::require_compiled_sizes(const SymbolValues& sizes) const {
  for (const auto& [name, size] : compiled_sizes_) {
    const auto found = sizes.find(name);
    if (found == sizes.end() || found->second == size) continue;
    fail(ErrorCode::invalid_argument,
         "{}: it was compiled for {}={}, but {}={} is wanted: compile the model for that", path_, name, size, name,
         found->second);
  }
}

SymbolValues Network::complete_sizes(const Sizes& given) const {
  std::vector<std::string> dimensions;
  for (const onnx::InputDescription& input : inputs_) {
    for (const Dim& dim : input.shape) dim.collect_symbols(dimensions);
  }
  std::vector<std::string> symbols = dimensions;
  for (const auto& elements : element_symbols_) symbols.insert(symbols.end(), elements.begin(), elements.end());
  SymbolValues sizes = compiled_sizes_;
  for (const auto& [name, size] : compiled_sizes_) {
    if (!std::ranges::contains(symbols, name)) symbols.push_back(name);
  }
  for (const std::string& symbol : symbols) sizes.try_emplace(symbol, 1);
  for (const auto& [name, size] : given) {
    if (!sizes.contains(name)) {
      fail(ErrorCode::invalid_argument, "{}: no input has a size named '{}'; there {} {}", path_, name,
           symbols.size() == 1 ? "is" : "are", symbols.empty() ? "none" : join(symbols, ", "));
    }
    // Elements may be: an axis counted from the end.
    if (size < 0 && std::ranges::contains(dimensions, name)) {
      fail(ErrorCode::invalid_argument, "the size {}={} is negative", name, size);
    }
    sizes[name] = size;
  }
  require_compiled_sizes(sizes);
  return sizes;
}

SymbolValues Network::sizes_of(std::span<const Tensor> inputs) const {
  if (inputs.size() != inputs_.size()) {
    fail(ErrorCode::invalid_argument, "{}: {} inputs are given, but the model has {}", path_, inputs.size(),
         inputs_.size());
  }
  SymbolValues sizes = compiled_sizes_;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto& wanted = inputs_[i];
    if (inputs[i].dtype() != wanted.dtype || inputs[i].shape().size() != wanted.shape.size()) {
      fail(ErrorCode::invalid_argument, "{}: input '{}' is {}{}, but the model takes {}{}", path_, wanted.name,
           to_string(inputs[i].dtype()), shape_text(inputs[i].shape()), to_string(wanted.dtype),
           shape_text(wanted.shape));
    }
    learn_elements(element_symbols_[i], inputs[i], sizes);
    for (std::size_t axis = 0; axis < wanted.shape.size(); ++axis)
      learn_size(wanted.shape[axis], inputs[i].shape()[axis], sizes);
  }
  const std::string reason = !compiled_sizes_.empty()
                                 ? std::format(", as compiled for {}", sizes_text(compiled_sizes_))
                             : sizes.empty() || inputs.size() == 1 ? ""
                                                                   : " with the sizes of the other inputs";
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (evaluate(inputs_[i].shape, sizes) != inputs[i].shape()) {
      fail(ErrorCode::invalid_argument, "{}: input '{}' has shape {}, which does not fit {}{}", path_,
           inputs_[i].name, shape_text(inputs[i].shape()), shape_text(inputs_[i].shape), reason);
    }
  }
  require_compiled_sizes(sizes);
  return sizes;
}

bool Network::elements_agree(std::span<const Tensor> inputs, const SymbolValues& sizes) const {
  for (std::size_t input = 0; input < inputs.size(); ++input) {
    const std::vector<std::string>& symbols = element_symbols_[input];
    for (std::size_t i = 0; i < symbols.size(); ++i) {
      const auto size = sizes.find(symbols[i]);
      if (size != sizes.end() && size->second != integer_at(inputs[input], i)) return false;
    }
  }
  return true;
}

bool Network::names_elements(const SymbolValues& sizes) const {
  return std::ranges::any_of(element_symbols_, [&](const std::vector<std::string>& symbols) {
    return std::ranges::any_of(symbols, [&](const std::string& symbol) { return sizes.contains(symbol); });
  });
}

void Network::check_inputs(std::span<const Value> inputs) const {
  if (inputs.size() != inputs_.size()) {
    fail(ErrorCode::invalid_argument, "{}: {} inputs are given, but the model has {}", path_, inputs.size(),
         inputs_.size());
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (fits(inputs_[i], inputs[i])) continue;
    fail(ErrorCode::invalid_argument, "{}: input '{}' takes {}, but {} is given", path_, inputs_[i].name,
         taken_text(inputs_[i]), given_text(inputs[i]));
  }
}

void Network::require_device_only() const {
  std::vector<std::string> lines;
  onnx::for_each_node(model_, [&](const onnx::Node& node) {
    if (onnx::runs_on_device(node)) return;
    const HostOperator* host = find_host_operator(node.domain, node.op_type, node.opset_version);
    lines.push_back(std::format("{}: {}", onnx::node_text(node),
                                host != nullptr ? host->reason : "only the host has it for these types"));
  });
  if (lines.empty()) return;
  fail(ErrorCode::unsupported,
       "{}: the host would run {} of the nodes, and the model is to run on the device alone:\n  {}", path_,
       lines.size(), join(lines, "\n  "));
}

std::optional<Network::Built> Network::build(Assumptions& assumptions, const ModelOptions& options) const {
  if (!may_be_one_graph_) return std::nullopt;
  return with_context(path_, [&]() -> std::optional<Built> {
    try {
      onnx::Part part = onnx::build_model(model_, assumptions);
      if (part.end != model_.graph.nodes.size()) return std::nullopt;
      Built built{std::move(part.graph), {}};
      if (options.optimise) built.rewrites = rewrite(built.graph, assumptions, options.disabled_rules);
      return built;
    } catch (const onnx::UnknownElements&) {
      return std::nullopt;
    }
  });
}

}  // namespace lapilli
