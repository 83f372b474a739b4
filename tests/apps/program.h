#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace lapilli::testing {

struct ProgramResult {
  int exit_code = -1;  ///< negative when a signal ended it
  std::string output, errors;

  [[nodiscard]] nlohmann::json json() const { return nlohmann::json::parse(output); }
};

/// Runs the program `lapilli` with these arguments and waits for its end. Its output is no terminal.
ProgramResult run_program(const std::vector<std::string>& arguments,
                          const std::vector<std::string>& environment = {});

/// The same for a line of shell, in which $lapilli is the program.
ProgramResult run_shell(const std::string& line);

std::string content_of(const std::string& path);

/// A path in tests/apps/data.
std::string data_file(const std::string& name);

/// A path for a file of this test, which does not exist yet.
std::string scratch_file(const std::string& name);

}  // namespace lapilli::testing
