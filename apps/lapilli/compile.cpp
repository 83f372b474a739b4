#include <chrono>
#include <filesystem>
#include <format>
#include <iostream>
#include <optional>

#include "base/text.h"
#include "command.h"
#include "json.h"
#include "options.h"
#include "terminal.h"

namespace lapilli::program {
namespace {

struct CompileArguments : ModelArguments {
  std::filesystem::path output;
};

int compile(const CompileArguments& arguments) {
  require_other_file(arguments.output, arguments.model);
  const auto start = std::chrono::steady_clock::now();
  const Model model = load_model(arguments);
  {
    const Progress progress("compiling");
    model.compile(arguments.sizes, arguments.output);
  }
  const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
  // A pipe or a device has none.
  const std::optional<std::uintmax_t> bytes = std::filesystem::is_regular_file(arguments.output)
                                                  ? std::optional(std::filesystem::file_size(arguments.output))
                                                  : std::nullopt;
  const PlanSummary plan = model.plan(arguments.sizes);
  if (arguments.json) {
    print(Json{{"device", model.device().name()},
               {"precision", to_string(model.precision())},
               {"sizes", to_json(plan.sizes)},
               {"output", arguments.output.string()},
               {"bytes", bytes ? Json(*bytes) : Json(nullptr)},
               {"dispatches", plan.dispatches},
               {"ms", elapsed.count()}});
  } else {
    std::cout << std::format("{} for {}, {}: {} dispatches{} in {:.0f} ms\n", arguments.output.string(),
                             model.device().name(), to_string(model.precision()), plan.dispatches,
                             bytes ? ", " + byte_text(*bytes) : "", elapsed.count());
  }
  return success;
}

}  // namespace

void add_compile_command(CLI::App& program, Action& action) {
  CLI::App* command =
      program.add_subcommand("compile", "Write the plan for some sizes with its weights to a program file");
  const auto arguments = std::make_shared<CompileArguments>();
  add_model_argument(*command, *arguments);
  command->add_option("--output", arguments->output, "The program file to write")->required()->type_name("FILE");
  add_device_options(*command, arguments->device);
  add_planning_options(*command, *arguments);
  add_json_option(*command, arguments->json);
  command->footer(R"(
Whatever takes an ONNX file takes the program file too, without reading ONNX, planning and converting weights. It has
these sizes alone, and runs on this device and on those that have what it counts on; another version of lapilli
needs another file.

Example:
  lapilli compile model.onnx --size batch=8 --precision float16 --output model.lapilli
  lapilli run model.lapilli

JSON: device, precision, sizes, output, bytes (null: no regular file), dispatches, ms)");
  command->callback([arguments, &action] { action = [arguments] { return compile(*arguments); }; });
}

}  // namespace lapilli::program
