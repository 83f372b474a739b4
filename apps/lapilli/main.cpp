#include <exception>
#include <iostream>
#include <new>

#include "command.h"
#include "lapilli/error.h"

namespace lapilli::program {
namespace {

constexpr const char* footer = R"(
Examples:
  lapilli devices                                       what this machine has
  lapilli inspect model.onnx                            what is in a model
  lapilli run model.onnx --input image=photo.npy        run it on an array
  lapilli classify model.onnx photo.jpg                 name what a photo shows
  lapilli verify model.onnx --against reference.npz     compare with another runtime's results
  lapilli bench model.onnx --batch 8 --precision float16
  lapilli compile model.onnx --output model.lapilli     a file that needs no planning
  lapilli ops                                           the operators that models may have
  lapilli COMMAND --help                                options and examples of a command

Exit codes:
  0  success
  1  a check failed: verify found an error past the tolerance, or run --repeat outputs that differ
  2  the command line is wrong
  3  the model or an input cannot be used
  4  there is no device, or it failed
  5  a defect of lapilli itself)";

int exit_code(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::no_device:
    case ErrorCode::device_lost: return device_error;
    case ErrorCode::internal: return internal_error;
    default: return unusable_input;
  }
}

int complain(const char* text, int code) {
  std::cerr << "lapilli: " << text << '\n';
  return code;
}

int run(int argument_count, char** arguments) {
  CLI::App program{"Runs trained neural networks on any GPU that has Vulkan", "lapilli"};
  program.footer(footer);
  program.require_subcommand(1);
  program.get_formatter()->column_width(36);
  Action action;
  add_devices_command(program, action);
  add_inspect_command(program, action);
  add_plan_command(program, action);
  add_run_command(program, action);
#ifdef LAPILLI_VISION
  add_classify_command(program, action);
#endif
  add_verify_command(program, action);
  add_bench_command(program, action);
  add_compile_command(program, action);
  add_prewarm_command(program, action);
  add_operators_command(program, action);
  try {
    program.parse(argument_count, arguments);
  } catch (const CLI::Success& help) {
    return program.exit(help);
  } catch (const CLI::ParseError& error) {
    complain(error.what(), wrong_usage);
    std::cerr << "lapilli: --help tells how it is used\n";
    return wrong_usage;
  }
  return action();
}

}  // namespace
}  // namespace lapilli::program

int main(int argument_count, char** arguments) {
  using namespace lapilli::program;
  try {
    return run(argument_count, arguments);
  } catch (const lapilli::Error& error) {
    return complain(error.what(), exit_code(error.code()));
  } catch (const std::bad_alloc&) {
    return complain("there is not enough memory", unusable_input);
  } catch (const std::exception& error) {
    return complain(error.what(), internal_error);
  }
}
