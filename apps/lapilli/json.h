#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "lapilli/model.h"

namespace lapilli::program {

/// Keys stay in the order in which they are set.
using Json = nlohmann::ordered_json;

/// Prints a document on stdout. Text that is not UTF-8 is replaced, numbers that are not finite become null.
void print(const Json& document);

Json to_json(const std::vector<PortDescription>& ports);
Json to_json(const Sizes& sizes);

/// "[batch, 3, 224, 224]"
std::string shape_of(const PortDescription& port);

std::string_view to_string(PortKind kind) noexcept;
/// "float32[batch, 3]", "sequence", "map from int64".
std::string type_of(const PortDescription& port);

}  // namespace lapilli::program
