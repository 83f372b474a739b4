#include "lapilli/operators.h"

#include <algorithm>
#include <format>
#include <iostream>

#include "base/text.h"
#include "command.h"
#include "json.h"
#include "options.h"
#include "terminal.h"

namespace lapilli::program {
namespace {

struct OperatorArguments {
  bool json = false, markdown = false;
};

std::string versions_text(const OperatorDescription& description) {
  std::vector<std::string> texts;
  for (const std::int64_t version : description.versions) texts.push_back(std::to_string(version));
  return join(texts, ", ");
}

std::string place_text(const OperatorDescription& description) {
  return description.reason.empty() ? description.runs_on : description.runs_on + ": " + description.reason;
}

std::string full_name(const OperatorDescription& description) {
  return description.domain.empty() ? description.name : description.domain + "." + description.name;
}

std::string list_text(const std::vector<DType>& types) {
  std::vector<std::string> names;
  for (const DType type : types) names.emplace_back(to_string(type));
  return join(names, ", ");
}

// By the largest groups that the types have, then one by one.
std::string group_text(std::vector<DType> types, const std::vector<TypeGroup>& groups) {
  std::vector<std::string> names;
  while (!types.empty()) {
    const TypeGroup* largest = nullptr;
    for (const TypeGroup& group : groups) {
      const bool inside =
          std::ranges::all_of(group.types, [&](DType type) { return std::ranges::contains(types, type); });
      if (inside && (largest == nullptr || group.types.size() > largest->types.size())) largest = &group;
    }
    if (largest == nullptr) break;
    names.push_back(largest->name);
    std::erase_if(types, [&](DType type) { return std::ranges::contains(largest->types, type); });
  }
  if (!types.empty()) names.push_back(list_text(types));
  return join(names, ", ");
}

// One text where it is the same for all inputs, else one for each, the last one for all that follow.
std::string types_text(const OperatorDescription& description, const std::vector<TypeGroup>& groups) {
  if (description.input_types.empty()) return "";
  std::vector<std::string> texts;
  for (const std::vector<DType>& types : description.input_types) texts.push_back(group_text(types, groups));
  return join(texts, "; ");
}

void print_json(const std::vector<OperatorDescription>& operators) {
  Json array = Json::array();
  for (const OperatorDescription& description : operators) {
    Json types = Json::array();
    for (const std::vector<DType>& input : description.input_types) {
      types.push_back(Json::array());
      for (const DType type : input) types.back().push_back(std::string(to_string(type)));
    }
    array.push_back({{"domain", description.domain},
                     {"name", description.name},
                     {"versions", description.versions},
                     {"runs_on", description.runs_on},
                     {"reason", description.reason},
                     {"input_types", std::move(types)}});
  }
  print(Json{{"operators", std::move(array)}});
}

void print_markdown(const std::vector<OperatorDescription>& operators) {
  const std::vector<TypeGroup> groups = list_type_groups();
  std::cout << "| operator | since opset | types of its inputs | runs on |\n|---|---|---|---|\n";
  for (const OperatorDescription& description : operators) {
    std::cout << std::format("| {} | {} | {} | {} |\n", full_name(description), versions_text(description),
                             types_text(description, groups), place_text(description));
  }
  std::cout << "\n| types | are |\n|---|---|\n";
  for (const TypeGroup& group : groups) std::cout << std::format("| {} | {} |\n", group.name, list_text(group.types));
}

int list(const OperatorArguments& arguments) {
  const std::vector<OperatorDescription> operators = list_operators();
  if (arguments.json) {
    print_json(operators);
  } else if (arguments.markdown) {
    print_markdown(operators);
  } else {
    Table table({"operator", "since opset", "runs on"});
    for (const OperatorDescription& description : operators) {
      table.add({full_name(description), versions_text(description), place_text(description)});
    }
    std::cout << table.text() << operators.size() << " operators\n";
  }
  return success;
}

}  // namespace

void add_operators_command(CLI::App& program, Action& action) {
  CLI::App* command = program.add_subcommand("ops", "List the operators of ONNX that models may have");
  const auto arguments = std::make_shared<OperatorArguments>();
  add_json_option(*command, arguments->json);
  command->add_flag("--markdown", arguments->markdown, "Print a table for a document");
  command->footer(R"(
A version is the first opset from which on an operator is read in one way; it serves until the next one. `lapilli inspect
MODEL` says where each node of a model runs.

JSON: operators [domain, name, versions, runs_on, reason, input_types [of each input, the last ones of all that follow]])");
  command->callback([arguments, &action] { action = [arguments] { return list(*arguments); }; });
}

}  // namespace lapilli::program
