#include "json.h"

#include <format>
#include <iostream>

#include "base/text.h"

namespace lapilli::program {

void print(const Json& document) {
  std::cout << document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
}

Json to_json(const std::vector<PortDescription>& ports) {
  Json array = Json::array();
  for (const PortDescription& port : ports) {
    Json entry{{"name", port.name}, {"dtype", to_string(port.dtype)}, {"shape", port.shape}};
    if (port.kind != PortKind::tensor) entry["kind"] = to_string(port.kind);
    array.push_back(std::move(entry));
  }
  return array;
}

Json to_json(const Sizes& sizes) {
  Json object = Json::object();
  for (const auto& [name, size] : sizes) object[name] = size;
  return object;
}

std::string_view to_string(PortKind kind) noexcept {
  switch (kind) {
    case PortKind::tensor: return "tensor";
    case PortKind::sequence: return "sequence";
    case PortKind::optional: return "optional";
    case PortKind::map: return "map";
  }
  return "";
}

std::string type_of(const PortDescription& port) {
  if (port.kind == PortKind::tensor) return std::format("{}{}", to_string(port.dtype), shape_of(port));
  if (port.kind == PortKind::map) return std::format("map from {}", to_string(port.dtype));
  return std::string(to_string(port.kind));
}

std::string shape_of(const PortDescription& port) { return "[" + join(port.shape, ", ") + "]"; }

}  // namespace lapilli::program
