#include "lapilli/operators.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/rethrow.h"
#include "flow/host_call.h"
#include "import/onnx/expand.h"
#include "import/onnx/operators/node_builder.h"

namespace lapilli {
namespace {

constexpr std::string_view internal_domain = "lapilli";

using Operators = std::map<std::pair<std::string, std::string>, OperatorDescription>;

OperatorDescription& entry(Operators& operators, std::string_view domain, std::string_view name) {
  OperatorDescription& found = operators[{std::string(domain), std::string(name)}];
  found.domain = domain;
  found.name = name;
  return found;
}

}  // namespace

std::vector<TypeGroup> list_type_groups() try {
  std::vector<TypeGroup> groups;
  for (const onnx::NamedTypeSet& named : onnx::named_type_sets())
    groups.push_back({std::string(named.name), named.set.list()});
  return groups;
} catch (...) {
  rethrow_as_error();
}

std::vector<OperatorDescription> list_operators() try {
  Operators operators;
  std::map<const OperatorDescription*, onnx::InputTypes> types;
  for (const auto& family : onnx::operator_families()) {
    for (const onnx::OperatorRecord& record : family) {
      if (record.domain == internal_domain) continue;
      OperatorDescription& description = entry(operators, record.domain, record.name);
      description.versions.push_back(record.since);
      description.runs_on = "device";
      types[&description] = types[&description] | record.types;
    }
  }
  for (const onnx::ExpandedOperator& expanded : onnx::expanded_operators()) {
    if (onnx::find_operator(expanded.domain, expanded.name, expanded.since) != nullptr) continue;
    OperatorDescription& description = entry(operators, expanded.domain, expanded.name);
    description.versions.push_back(expanded.since);
    description.runs_on = "device";
    types[&description] = expanded.types;
  }
  for (const auto& family : host_operator_families()) {
    for (const HostOperator& record : family) {
      if (record.domain == internal_domain) continue;
      OperatorDescription& description = entry(operators, record.domain, record.name);
      // Where the device runs it too, the host has what is no tensor of numbers.
      if (description.runs_on == "device") continue;
      description.versions.push_back(record.since);
      description.runs_on = "host";
      description.reason = record.reason;
      types[&description] = types[&description] | record.types;
    }
  }
  std::vector<OperatorDescription> list;
  for (auto& [name, description] : operators) {
    std::ranges::sort(description.versions);
    for (const onnx::TypeSet set : types[&description].sets()) description.input_types.push_back(set.list());
    list.push_back(std::move(description));
  }
  return list;
} catch (...) {
  rethrow_as_error();
}

}  // namespace lapilli
