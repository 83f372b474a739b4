#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <format>
#include <iostream>
#include <new>
#include <numeric>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/text.h"
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
  3  the model or an input cannot be used, or what comes out cannot be written
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

int complain(std::string_view text, int code) {
  std::cerr << "lapilli: " << text << '\n';
  return code;
}

// How many characters are changed, left out or put in.
std::size_t distance(std::string_view left, std::string_view right) {
  std::vector<std::size_t> row(right.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < left.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < right.size(); ++j) {
      const std::size_t changed = diagonal + (left[i] == right[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

// Empty when there is a command, or no word that could be meant as one.
std::string unknown_command(const CLI::App& program) {
  const std::vector<std::string> words = program.remaining();
  const auto word = std::ranges::find_if(words, [](const std::string& each) { return !each.starts_with('-'); });
  if (word == words.end() || !program.get_subcommands().empty()) return "";
  std::vector<std::string> names, similar;
  for (const CLI::App* command : program.get_subcommands(nullptr)) {
    const std::string& name = names.emplace_back(command->get_name());
    if (name.starts_with(*word) || distance(name, *word) <= 2) similar.push_back(name);
  }
  return std::format("there is no command '{}'; {} {}", *word,
                     similar.empty() ? "the commands are" : "a similar one is",
                     join(similar.empty() ? names : similar, ", "));
}

// An empty text names no file, device or number; it is most often a shell's variable that is not set.
void refuse_empty_texts(CLI::App& program) {
  const CLI::Validator some_text(
      [](const std::string& text) { return text.empty() ? std::string("the text is empty") : std::string(); }, "");
  for (CLI::App* command : program.get_subcommands(nullptr)) {
    for (CLI::Option* option : command->get_options()) {
      if (option->get_items_expected_min() > 0) option->check(some_text);
    }
  }
}

// A descriptor that the caller has closed would be that of the next file, and what is printed would be written there.
void occupy_closed_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    // The lowest one that is free is taken. It cannot be written to, so that a lack of stdout is found.
    if (::fcntl(descriptor, F_GETFD) < 0) (void)!::open("/dev/null", O_RDONLY);
  }
}

// The exit code when all that was printed is where it belongs.
int finish(int code) {
  errno = 0;
  if (std::cout.flush() && std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  // The reason of a failure before this has been lost; the next write tells it.
  if (errno == 0) (void)!::write(STDOUT_FILENO, "\n", 1);
  const int error = errno;
  if (error != EPIPE) {  // the reader has what it wanted
    complain(std::format("stdout cannot be written{}{}", error == 0 ? "" : ": ",
                         error == 0 ? "" : std::generic_category().message(error)),
             unusable_input);
  }
  return code == success ? unusable_input : code;
}

int run(int argument_count, char** arguments) {
  CLI::App program{"Runs trained neural networks on any GPU that has Vulkan", "lapilli"};
  program.footer(footer);
  program.set_version_flag("--version", "lapilli " LAPILLI_VERSION, "Print the version and exit");
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
  refuse_empty_texts(program);
  try {
    program.parse(argument_count, arguments);
  } catch (const CLI::Success& help) {
    return program.exit(help);
  } catch (const CLI::ParseError& error) {
    const std::string command = unknown_command(program);
    complain(command.empty() ? error.what() : command, wrong_usage);
    std::cerr << "lapilli: --help tells how it is used\n";
    return wrong_usage;
  }
  return action();
}

int run_or_complain(int argument_count, char** arguments) {
  try {
    return run(argument_count, arguments);
  } catch (const Error& error) {
    return complain(error.what(), exit_code(error.code()));
  } catch (const std::filesystem::filesystem_error& error) {
    return complain(std::format("{}: {}", error.path1().string(), error.code().message()), unusable_input);
  } catch (const std::bad_alloc&) {
    return complain("there is not enough memory", unusable_input);
  } catch (const std::exception& error) {
    return complain(error.what(), internal_error);
  }
}

}  // namespace
}  // namespace lapilli::program

int main(int argument_count, char** arguments) {
  using namespace lapilli::program;
  occupy_closed_descriptors();
  return finish(run_or_complain(argument_count, arguments));
}
