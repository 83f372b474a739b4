#include "arrays.h"

#include <algorithm>
#include <format>

#include "base/failure.h"
#include "flow/host_tensors.h"

namespace lapilli::program {
namespace {

// Maps with the same keys, and values of the same type and shape.
bool are_alike(const std::vector<Value>& maps) {
  return !maps.empty() && std::ranges::all_of(maps, [&](const Value& value) {
    return value.is_map() && same_elements(value.map().keys, maps.front().map().keys) &&
           value.map().values.dtype() == maps.front().map().values.dtype() &&
           value.map().values.shape() == maps.front().map().values.shape();
  });
}

void add_map(const std::string& name, const Tensor& keys, Tensor values, ArrayList& arrays) {
  arrays.emplace_back(name + ".keys", keys);
  arrays.emplace_back(name + ".values", std::move(values));
}

}  // namespace

bool same_elements(const Tensor& left, const Tensor& right) {
  if (left.dtype() != right.dtype() || left.shape() != right.shape()) return false;
  return left.dtype() == DType::string ? std::ranges::equal(left.strings(), right.strings())
                                       : std::ranges::equal(left.bytes(), right.bytes());
}

void add_arrays(const std::string& name, const Value& value, ArrayList& arrays) {
  if (value.empty()) return;
  if (value.is_tensor()) {
    arrays.emplace_back(name, value.tensor());
  } else if (value.is_map()) {
    add_map(name, value.map().keys, value.map().values, arrays);
  } else if (are_alike(value.elements())) {
    std::vector<Tensor> rows;
    for (const Value& element : value.elements()) rows.push_back(element.map().values);
    add_map(name, value.elements().front().map().keys, join_tensors(rows, 0, true), arrays);
  } else {
    for (std::size_t i = 0; i < value.elements().size(); ++i) {
      add_arrays(std::format("{}[{}]", name, i), value.elements()[i], arrays);
    }
  }
}

std::vector<std::string> array_names(const PortDescription& port) {
  if (port.kind == PortKind::map) return {port.name + ".keys", port.name + ".values"};
  return {port.name};
}

Value value_of(const PortDescription& port, const NamedTensors& arrays) {
  std::vector<Tensor> found;
  for (const std::string& name : array_names(port)) {
    const auto array = arrays.find(name);
    if (array == arrays.end()) fail(ErrorCode::invalid_argument, "array '{}' is not given", name);
    found.push_back(array->second);
  }
  return port.kind == PortKind::map ? Value::map(found[0], found[1]) : Value(found[0]);
}

}  // namespace lapilli::program
