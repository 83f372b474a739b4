#include <filesystem>
#include <format>
#include <iostream>
#include <span>

#include "base/atomic_file.h"
#include "base/text.h"
#include "command.h"
#include "inputs.h"
#include "json.h"
#include "memory_page.h"
#include "options.h"
#include "terminal.h"

namespace lapilli::program {
namespace {

struct PlanArguments : ModelArguments {
  bool steps = false;
  std::filesystem::path page;
};

void print_json(const PlanSummary& plan, const PlanArguments& arguments, const Model& model) {
  Json document{{"device", model.device().name()},
                {"precision", to_string(model.precision())},
                {"sizes", to_json(plan.sizes)},
                {"parts", plan.parts},
                {"dispatches", plan.dispatches},
                {"barriers", plan.barriers},
                {"levels", plan.levels},
                {"pipelines", plan.pipelines},
                {"new_pipelines", plan.new_pipelines},
                {"arena_bytes", plan.arena_bytes},
                {"lower_bound_bytes", plan.lower_bound_bytes},
                {"unshared_bytes", plan.unshared_bytes},
                {"weight_bytes", plan.weight_bytes},
                {"structure_ms", plan.structure_ms},
                {"plan_ms", plan.plan_ms}};
  if (arguments.steps) document["steps"] = plan.steps;
  print(document);
}

// "model.onnx on NVIDIA H200, float16"
std::string title_of(const PlanArguments& arguments, const Model& model) {
  return std::format("{} on {}, {}", arguments.model.filename().string(), model.device().name(),
                     to_string(model.precision()));
}

void print_text(const PlanSummary& plan, const PlanArguments& arguments, const Model& model) {
  const auto line = [](std::string_view name, const std::string& value, std::string_view meaning) {
    std::cout << std::format("{:14}{:>12}  {}\n", name, value, styled(meaning, Style::dim));
  };
  std::cout << styled(title_of(arguments, model), Style::bold) << '\n';
  for (const auto& [name, size] : plan.sizes)
    line(one_line(name), std::to_string(size), "given by --size, else 1 or as compiled");
  if (plan.parts != 1) {
    line("parts", std::to_string(plan.parts), "with the host's work between them, in a run on made-up inputs");
  }
  line("dispatches", std::to_string(plan.dispatches), "kernels that a run starts");
  line("barriers", std::to_string(plan.barriers), "waits between them");
  line("levels", std::to_string(plan.levels), "groups of dispatches that run side by side");
  line("pipelines", std::to_string(plan.pipelines), "different kernels");
  line("arena", byte_text(plan.arena_bytes), "memory of intermediate results");
  line("lower bound", byte_text(plan.lower_bound_bytes), "the most that is alive at once");
  line("without reuse", byte_text(plan.unshared_bytes), "a buffer for each result");
  line("weights", byte_text(plan.weight_bytes), "on the device");
  line("structure", std::format("{:.2f} ms", plan.structure_ms), "rewrites, fusion, choice of kernels; once a model");
  line("plan", std::format("{:.2f} ms", plan.plan_ms), "offsets and counts for these sizes");
  if (!arguments.steps) return;
  std::cout << '\n';
  for (const std::string& step : plan.steps) std::cout << one_line(step) << '\n';
}

// What runs in parts is known once it has run, on inputs that are made up.
PlanSummary summary_of(const Model& model, const PlanArguments& arguments) {
  try {
    return model.plan(arguments.sizes);
  } catch (const Error&) {
    if (!model.runs_in_parts(arguments.sizes)) throw;
  }
  Context context(model);
  (void)run_once(model, context, complete_inputs({}, model, arguments.sizes, 0));
  return context.last_plan();
}

void write_page(const PlanSummary& plan, const PlanArguments& arguments, const Model& model) {
  const std::string page = memory_page(plan, title_of(arguments, model));
  write_atomically(arguments.page, std::as_bytes(std::span(page)));
}

int plan(const PlanArguments& arguments) {
  require_other_file(arguments.page, arguments.model);
  const Model model = load_model(arguments);
  const PlanSummary summary = summary_of(model, arguments);
  if (!arguments.page.empty()) write_page(summary, arguments, model);
  if (arguments.json) {
    print_json(summary, arguments, model);
  } else {
    print_text(summary, arguments, model);
  }
  return success;
}

}  // namespace

void add_plan_command(CLI::App& program, Action& action) {
  CLI::App* command = program.add_subcommand("plan", "Show what a run costs: dispatches, barriers, memory");
  const auto arguments = std::make_shared<PlanArguments>();
  add_model_argument(*command, *arguments);
  add_device_options(*command, arguments->device);
  add_planning_options(*command, *arguments);
  command->add_flag("--steps", arguments->steps, "List all dispatches and barriers");
  command->add_option("--html", arguments->page, "Draw the memory of intermediate results into this file")
      ->type_name("FILE");
  add_json_option(*command, arguments->json);
  command->footer(R"(
Examples:
  lapilli plan model.onnx --size batch=32 --precision float16
  lapilli plan model.onnx --steps | less
  lapilli plan model.onnx --html memory.html

JSON: device, precision, sizes, parts, dispatches, barriers, levels, pipelines, new_pipelines, arena_bytes,
lower_bound_bytes, unshared_bytes, weight_bytes, structure_ms, plan_ms; steps with --steps)");
  command->callback([arguments, &action] { action = [arguments] { return plan(*arguments); }; });
}

}  // namespace lapilli::program
