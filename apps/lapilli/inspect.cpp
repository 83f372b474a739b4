#include <format>
#include <iostream>
#include <map>

#include "base/text.h"
#include "command.h"
#include "json.h"
#include "options.h"
#include "terminal.h"

namespace lapilli::program {
namespace {

void print_json(const ModelDescription& description) {
  Json nodes = Json::array();
  for (const NodeDescription& node : description.nodes) {
    nodes.push_back({{"operation", node.operation},
                     {"origins", node.origins},
                     {"inputs", node.inputs},
                     {"outputs", node.outputs},
                     {"runs_on", node.runs_on},
                     {"reason", node.reason},
                     {"operations", node.operations}});
  }
  print(Json{{"format", description.format},
             {"inputs", to_json(description.inputs)},
             {"outputs", to_json(description.outputs)},
             {"nodes", std::move(nodes)},
             {"parameters", description.parameters},
             {"parameter_bytes", description.parameter_bytes},
             {"operations", description.operations},
             {"sizes", to_json(description.sizes)}});
}

void print_ports(std::string_view kind, const std::vector<PortDescription>& ports) {
  for (const PortDescription& port : ports) {
    std::cout << std::format("{:8}{}  {}\n", kind, one_line(port.name), one_line(type_of(port)));
  }
}

std::string sizes_text(const Sizes& sizes) {
  std::vector<std::string> parts;
  for (const auto& [name, size] : sizes) parts.push_back(std::format("{}={}", name, size));
  return parts.empty() ? "" : std::format(" for {}", join(parts, ", "));
}

void print_text(const ModelDescription& description) {
  std::cout << styled(one_line(description.format), Style::bold) << '\n';
  print_ports("input", description.inputs);
  print_ports("output", description.outputs);
  std::cout << '\n';
  Table table({"", "operation", "output", "runs on", "operations", "from"}, {0, 4});
  table.limit_width(60);
  std::map<std::string, std::size_t> places;
  std::size_t number = 0;
  for (const NodeDescription& node : description.nodes) {
    ++places[node.runs_on];
    table.add({std::to_string(number++), node.operation, join(node.outputs, ", "),
               node.reason.empty() ? node.runs_on : node.runs_on + ": " + node.reason,
               count_text(static_cast<double>(node.operations)), join(node.origins, ", ")});
  }
  std::vector<std::string> where;
  for (const auto& [place, nodes] : places) where.push_back(std::format("{} {}", nodes, place));
  std::cout << table.text()
            << std::format("\n{} nodes ({}), {} parameters in {}", description.nodes.size(), join(where, ", "),
                           count_text(static_cast<double>(description.parameters)),
                           byte_text(description.parameter_bytes));
  if (description.operations != 0) {
    std::cout << std::format(", {} operations a run", count_text(static_cast<double>(description.operations)));
  }
  std::cout << sizes_text(description.sizes) << '\n';
}

int inspect(const ModelArguments& arguments) {
  const ModelDescription description = describe_model(arguments.model, arguments.sizes, arguments.model_options());
  if (arguments.json) {
    print_json(description);
  } else {
    print_text(description);
  }
  return success;
}

}  // namespace

void add_inspect_command(CLI::App& program, Action& action) {
  CLI::App* command =
      program.add_subcommand("inspect", "Show what is in a model: nodes, shapes, parameters, operations");
  const auto arguments = std::make_shared<ModelArguments>();
  add_model_argument(*command, *arguments);
  add_planning_options(*command, *arguments);
  add_json_option(*command, arguments->json);
  command->footer(R"(
No device is needed. The graph is shown as it runs, after the rewrites; --unoptimised shows it as it was read.
Operations are multiplications and additions, for the sizes that are given.

Examples:
  lapilli inspect model.onnx
  lapilli inspect model.onnx --size batch=8 --unoptimised

JSON: format, inputs and outputs [name, dtype, shape], nodes [operation, origins, inputs, outputs, runs_on, reason, operations],
parameters, parameter_bytes, operations, sizes)");
  command->callback([arguments, &action] { action = [arguments] { return inspect(*arguments); }; });
}

}  // namespace lapilli::program
