#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "conformance/test_case.h"

namespace lapilli::conformance {

enum class Outcome : std::uint8_t { passed, failed, expected_failure, unexpected_pass };

const char* to_string(Outcome outcome) noexcept;

struct CaseResult {
  const TestCase* test = nullptr;
  Outcome outcome = Outcome::passed;
  std::string error;   ///< what the engine or the comparison said; empty when the test passed
  std::string reason;  ///< of the line that expects a failure
  double milliseconds = 0;
};

struct Counts {
  std::size_t run = 0, passed = 0, failed = 0, expected = 0;
};

/// Unexpected passes count as failed.
Counts count(const std::vector<CaseResult>& results);

/// "conformance: R run, P passed, F failed, X expected failures"
std::string final_line(const Counts& counts);

/// A line a suite with its counts.
std::string suite_table(const std::vector<CaseResult>& results);

/// What kind of failure it is, in one line: the error's text without what differs between tests of one defect.
std::string failure_class(const TestCase& test, const std::string& error);

/// Failures, expected or not, by their class, the most frequent first.
std::string failure_table(const std::vector<CaseResult>& results);

/// Throws Error (input_output).
void write_json(const std::filesystem::path& path, const std::vector<CaseResult>& results);

/// A list of expected failures for what failed, a line each, the kind of its failure as the reason. Those that were
/// expected keep their reason.
std::string expectation_lines(const std::vector<CaseResult>& results, const std::string& modes);

}  // namespace lapilli::conformance
