#include <chrono>
#include <format>
#include <iostream>

#include "command.h"
#include "inputs.h"
#include "json.h"
#include "options.h"
#include "terminal.h"
#include "vulkan/device.h"

namespace lapilli::program {
namespace {

int prewarm(const ModelArguments& arguments) {
  const Model model = load_model(arguments);
  Context context(model);
  const auto start = std::chrono::steady_clock::now();
  {
    const Progress progress("compiling");
    context.prepare(arguments.sizes);
    // What runs in parts is known once it has run.
    if (context.memory().plans == 0) {
      (void)run_once(model, context, complete_inputs({}, model, arguments.sizes, 0));
    }
    model.device().implementation().write_pipeline_cache();  // which is what this is for, so a failure counts
  }
  const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
  const std::size_t plans = context.memory().plans;
  if (arguments.json) {
    print(Json{{"device", model.device().name()}, {"plans", plans}, {"ms", elapsed.count()}});
  } else {
    std::cout << std::format("{} on {}: {} plan{} compiled in {:.0f} ms\n", arguments.model.filename().string(),
                             model.device().name(), plans, plans == 1 ? "" : "s", elapsed.count());
  }
  return success;
}

}  // namespace

void add_prewarm_command(CLI::App& program, Action& action) {
  CLI::App* command =
      program.add_subcommand("prewarm", "Compile what a model needs, so that the next start on this machine is fast");
  const auto arguments = std::make_shared<ModelArguments>();
  add_model_argument(*command, *arguments);
  add_device_options(*command, arguments->device);
  add_planning_options(*command, *arguments);
  add_json_option(*command, arguments->json);
  command->footer(R"(
Compiled kernels are kept in $XDG_CACHE_HOME/lapilli or ~/.cache/lapilli, one file for each device and driver. An
installer can call this once, or an application does the same with Context::prepare.

Example:
  lapilli prewarm model.onnx --size batch=1 --precision float16

JSON: device, plans, ms)");
  command->callback([arguments, &action] { action = [arguments] { return prewarm(*arguments); }; });
}

}  // namespace lapilli::program
