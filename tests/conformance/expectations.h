#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "conformance/test_case.h"

namespace lapilli::conformance {

/// One line of the list of expected failures.
struct ExpectedFailure {
  std::size_t line = 0;
  std::string pattern;             ///< "suite/test_name", where * and ? stand for any text and any character
  std::vector<std::string> modes;  ///< all of them hold when the line does; empty: always
  std::string reason;
};

/// The list: a line is "PATTERN [MODE ...] REASON", where the modes in brackets ("optimised", "unoptimised",
/// "float32", "float16", or a limit of the device as restrict_device takes it) may be left out; empty lines and those
/// that begin with # are skipped.
class Expectations {
 public:
  /// Throws Error that names the line which is not one.
  static Expectations read(const std::filesystem::path& path);

  /// Throws Error that names the line which no test matches.
  void check_against(std::span<const TestCase> cases) const;

  /// The first line that holds for the test in these modes, or nullptr.
  [[nodiscard]] const ExpectedFailure* find(const TestCase& test, std::span<const std::string> modes) const;

 private:
  std::string path_;
  std::vector<ExpectedFailure> failures_;
};

/// Whether `text` is `pattern`, where * and ? stand for any text and any character.
bool matches(const std::string& pattern, const std::string& text);

}  // namespace lapilli::conformance
