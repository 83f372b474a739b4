#include "json.h"

#include <iostream>

#include "base/text.h"

namespace lapilli::program {

void print(const Json& document) {
  std::cout << document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
}

Json to_json(const std::vector<PortDescription>& ports) {
  Json array = Json::array();
  for (const PortDescription& port : ports) {
    array.push_back({{"name", port.name}, {"dtype", to_string(port.dtype)}, {"shape", port.shape}});
  }
  return array;
}

Json to_json(const Sizes& sizes) {
  Json object = Json::object();
  for (const auto& [name, size] : sizes) object[name] = size;
  return object;
}

std::string shape_of(const PortDescription& port) { return "[" + join(port.shape, ", ") + "]"; }

}  // namespace lapilli::program
