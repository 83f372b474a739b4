#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>

namespace lapilli::program {

/// How the program ends; `lapilli --help` lists them.
enum ExitCode : int {
  success = 0,
  check_failed = 1,
  wrong_usage = 2,
  unusable_input = 3,
  device_error = 4,
  internal_error = 5,
};

/// What the parsed command line asks for; returns the exit code.
using Action = std::function<int()>;

// Each adds its command to the program: its options, help and examples. When the command line asks for it, `action`
// is set once the line is parsed.
void add_devices_command(CLI::App& program, Action& action);
void add_inspect_command(CLI::App& program, Action& action);
void add_plan_command(CLI::App& program, Action& action);
void add_run_command(CLI::App& program, Action& action);
void add_classify_command(CLI::App& program, Action& action);
void add_verify_command(CLI::App& program, Action& action);
void add_bench_command(CLI::App& program, Action& action);
void add_compile_command(CLI::App& program, Action& action);
void add_prewarm_command(CLI::App& program, Action& action);
void add_operators_command(CLI::App& program, Action& action);

}  // namespace lapilli::program
