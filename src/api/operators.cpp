#include "lapilli/operators.h"

#include <algorithm>
#include <map>
#include <utility>

#include "flow/host_call.h"
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

std::vector<OperatorDescription> list_operators() {
  Operators operators;
  for (const auto& family : onnx::operator_families()) {
    for (const onnx::OperatorRecord& record : family) {
      if (record.domain == internal_domain) continue;
      OperatorDescription& description = entry(operators, record.domain, record.name);
      description.versions.push_back(record.since);
      description.runs_on = "device";
    }
  }
  for (const auto& family : host_operator_families()) {
    for (const HostOperator& record : family) {
      OperatorDescription& description = entry(operators, record.domain, record.name);
      // Where the device runs it too, the host has what is no tensor of numbers.
      if (description.runs_on == "device") continue;
      description.versions.push_back(record.since);
      description.runs_on = "host";
      description.reason = record.reason;
    }
  }
  std::vector<OperatorDescription> list;
  for (auto& [name, description] : operators) {
    std::ranges::sort(description.versions);
    list.push_back(std::move(description));
  }
  return list;
}

}  // namespace lapilli
