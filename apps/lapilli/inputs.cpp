#include "inputs.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/failure.h"
#include "base/text.h"
#include "import/onnx/value.h"
#include "io/npy.h"
#include "terminal.h"

namespace lapilli::program {
namespace {

namespace fs = std::filesystem;

Tensor read_protobuf(const fs::path& path) {
  onnx::Type type;
  type.kind = onnx::Type::Kind::tensor;
  return std::get<Tensor>(onnx::read_value(path, type).content);
}

Tensor read_array(const fs::path& path) {
  if (path.extension() == ".npy") return read_npy(path);
  if (path.extension() == ".pb") return read_protobuf(path);
  if (path.extension() != ".npz") {
    fail(ErrorCode::invalid_argument, "{}: arrays are read from .npy, .npz and .pb files", path.string());
  }
  NamedTensors arrays = read_npz(path);
  if (arrays.size() != 1) {
    fail(ErrorCode::invalid_argument, "{}: it holds {} arrays; leave NAME= out to take them by their names",
         path.string(), arrays.size());
  }
  return arrays.begin()->second;
}

std::string port_names(const std::vector<PortDescription>& ports) {
  std::vector<std::string> names;
  for (const PortDescription& port : ports) names.push_back("'" + port.name + "'");
  return join(names, ", ");
}

// A name may hold '=', as a path may, so the input's name decides.
const PortDescription* port_before_equals(std::string_view text, const std::vector<PortDescription>& ports) {
  for (const PortDescription& port : ports) {
    if (text.starts_with(port.name) && text.substr(port.name.size()).starts_with('=')) return &port;
  }
  return nullptr;
}

void add_once(const std::string& name, Tensor tensor, NamedTensors& inputs) {
  if (!inputs.emplace(name, std::move(tensor)).second) {
    fail(ErrorCode::invalid_argument, "input '{}' is given twice", name);
  }
}

void add_archive(const fs::path& path, const std::vector<PortDescription>& ports, NamedTensors& inputs) {
  std::size_t used = 0;
  for (auto& [key, tensor] : read_npz(path)) {
    const std::string name = key.starts_with("in:") ? key.substr(3) : key;
    const auto port = std::ranges::find_if(
        ports, [&](const PortDescription& each) { return std::ranges::contains(array_names(each), name); });
    if (port == ports.end()) continue;
    add_once(name, restored_from_numpy(tensor, port->dtype), inputs);
    ++used;
  }
  if (used == 0) {
    fail(ErrorCode::invalid_argument, "{}: it has no array for an input of the model: {}", path.string(),
         port_names(ports));
  }
}

// Sizes that the shapes of given inputs tell. What does not fit is said by the run, but for what `sizes` said before.
void learn_sizes(const NamedTensors& given, const std::vector<PortDescription>& ports, Sizes& sizes) {
  const Sizes said = sizes;
  for (const PortDescription& port : ports) {
    const auto found = given.find(port.name);
    if (found == given.end() || found->second.shape().size() != port.shape.size()) continue;
    for (std::size_t axis = 0; axis < port.shape.size(); ++axis) {
      const std::int64_t size = found->second.shape()[axis];
      if (const auto other = said.find(port.shape[axis]); other != said.end() && other->second != size) {
        fail(ErrorCode::invalid_argument, "--size {}={} contradicts input '{}', which has {}: leave --size out",
             other->first, other->second, port.name, size);
      }
      sizes[port.shape[axis]] = size;
    }
  }
}

}  // namespace

NamedTensors read_inputs(const std::vector<std::string>& texts, const std::vector<PortDescription>& ports) {
  NamedTensors inputs;
  for (const std::string& text : texts) {
    if (const PortDescription* port = port_before_equals(text, ports)) {
      const Tensor array = read_array(text.substr(port->name.size() + 1));
      add_once(port->name, restored_from_numpy(array, port->dtype), inputs);
    } else if (fs::path(text).extension() == ".npz") {
      add_archive(text, ports, inputs);
    } else if (text.contains('=') && !fs::exists(text)) {
      fail(ErrorCode::invalid_argument, "the model has no input '{}'; its inputs are {}",
           text.substr(0, text.find('=')), port_names(ports));
    } else if (ports.size() == 1) {
      add_once(ports.front().name, restored_from_numpy(read_array(text), ports.front().dtype), inputs);
    } else {
      fail(ErrorCode::invalid_argument, "{}: the model has {} inputs, so say which one it is: {}={}", text,
           ports.size(), ports.empty() ? "NAME" : ports.front().name, text);
    }
  }
  return inputs;
}

NamedTensors complete_inputs(NamedTensors given, const Model& model, Sizes sizes, std::uint64_t seed) {
  learn_sizes(given, model.inputs(), sizes);
  for (const PortDescription& port : model.inputs()) {
    if (port.kind == PortKind::map) continue;  // which has to be given
    if (!given.contains(port.name)) given.emplace(port.name, random_tensor(port, sizes, seed));
  }
  return given;
}

ArrayList run_once(const Model& model, Context& context, const NamedTensors& inputs) {
  std::vector<Value> given;
  for (const PortDescription& port : model.inputs()) given.push_back(value_of(port, inputs));
  const std::vector<Value> results = [&] {
    const Progress progress("running");
    return context.run(given);
  }();
  ArrayList arrays;
  for (std::size_t i = 0; i < results.size(); ++i) add_arrays(model.output_names()[i], results[i], arrays);
  return arrays;
}

}  // namespace lapilli::program
