#include "conformance/report.h"

#include <algorithm>
#include <cctype>
#include <format>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "base/failure.h"
#include "base/text.h"

namespace lapilli::conformance {
namespace {

// "operators A, B are not supported yet", from the engine's list of all that it lacks for a model.
std::string missing_operators(const std::string& error) {
  static const std::regex pattern(R"(operator (\S+) of ([^,\n]+), version)");
  std::set<std::string> names;
  for (std::sregex_iterator match(error.begin(), error.end(), pattern), end; match != end; ++match) {
    const std::string domain = (*match)[2].str();
    names.insert((*match)[1].str() + (domain == "the default domain" ? "" : " of " + domain));
  }
  if (names.empty()) return {};
  return std::format("operator{} {} {} not supported yet", names.size() == 1 ? "" : "s",
                     join(std::vector<std::string>(names.begin(), names.end()), ", "),
                     names.size() == 1 ? "is" : "are");
}

std::string replace_all(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

bool is_failure(const CaseResult& result) { return !result.error.empty(); }

}  // namespace

const char* to_string(Outcome outcome) noexcept {
  switch (outcome) {
    case Outcome::passed: return "passed";
    case Outcome::failed: return "failed";
    case Outcome::expected_failure: return "expected_failure";
    case Outcome::unexpected_pass: return "unexpected_pass";
  }
  return "";
}

Counts count(const std::vector<CaseResult>& results) {
  Counts counts;
  for (const CaseResult& result : results) {
    ++counts.run;
    counts.passed += result.outcome == Outcome::passed ? 1 : 0;
    counts.expected += result.outcome == Outcome::expected_failure ? 1 : 0;
    counts.failed += result.outcome == Outcome::failed || result.outcome == Outcome::unexpected_pass ? 1 : 0;
  }
  return counts;
}

std::string final_line(const Counts& counts) {
  return std::format("conformance: {} run, {} passed, {} failed, {} expected failures", counts.run, counts.passed,
                     counts.failed, counts.expected);
}

std::string suite_table(const std::vector<CaseResult>& results) {
  std::map<std::string, std::vector<CaseResult>> suites;
  for (const CaseResult& result : results) suites[result.test->suite].push_back(result);
  std::string table;
  for (const auto& [suite, members] : suites) {
    const Counts counts = count(members);
    table += std::format("{:18}{:5} run, {:5} passed, {:5} failed, {:5} expected failures\n", suite, counts.run,
                         counts.passed, counts.failed, counts.expected);
  }
  return table;
}

std::string failure_class(const TestCase& test, const std::string& error) {
  if (std::string missing = missing_operators(error); !missing.empty()) return missing;
  std::string text = replace_all(error, test.model.string() + ": ", "");
  text = replace_all(std::move(text), test.model.parent_path().string(), "FOLDER");
  text = std::regex_replace(text, std::regex(R"((the )?node (that makes )?'[^']*')"), "node");
  text = std::regex_replace(text, std::regex(R"('[^']*')"), "'...'");
  text = std::regex_replace(text, std::regex(R"(\[[^\]]*\])"), "[...]");
  text = std::regex_replace(text, std::regex(R"(-?\b\d+(\.\d+)?(e[-+]?\d+)?\b)"), "N");
  text = std::regex_replace(text, std::regex(R"(\s+)"), " ");
  return text;
}

std::string failure_table(const std::vector<CaseResult>& results) {
  std::map<std::string, std::vector<std::string>> classes;
  for (const CaseResult& result : results) {
    if (is_failure(result)) classes[failure_class(*result.test, result.error)].push_back(result.test->full_name());
  }
  std::vector<std::pair<std::string, std::vector<std::string>>> sorted(classes.begin(), classes.end());
  std::ranges::stable_sort(sorted, std::greater{}, [](const auto& entry) { return entry.second.size(); });
  std::string table;
  for (const auto& [text, names] : sorted) {
    table +=
        std::format("{:5}  {}\n       {}{}\n", names.size(), text, names.front(), names.size() > 1 ? ", ..." : "");
  }
  return table;
}

void write_json(const std::filesystem::path& path, const std::vector<CaseResult>& results) {
  nlohmann::json cases = nlohmann::json::array();
  for (const CaseResult& result : results) {
    nlohmann::json entry{{"suite", result.test->suite},
                         {"name", result.test->name},
                         {"outcome", to_string(result.outcome)},
                         {"milliseconds", result.milliseconds}};
    if (is_failure(result)) {
      entry["error"] = result.error;
      entry["class"] = failure_class(*result.test, result.error);
    }
    cases.push_back(std::move(entry));
  }
  const Counts counts = count(results);
  const nlohmann::json document{{"run", counts.run},
                                {"passed", counts.passed},
                                {"failed", counts.failed},
                                {"expected_failures", counts.expected},
                                {"cases", std::move(cases)}};
  std::ofstream file(path);
  file << document.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
  if (!file.flush()) fail(ErrorCode::input_output, "{} cannot be written", path.string());
}

std::string expectation_lines(const std::vector<CaseResult>& results, const std::string& modes) {
  std::string lines;
  for (const CaseResult& result : results) {
    if (!is_failure(result)) continue;
    const std::string reason = result.reason.empty() ? failure_class(*result.test, result.error) : result.reason;
    lines += std::format("{}  {}{}{}\n", result.test->full_name(), modes, modes.empty() ? "" : "  ", reason);
  }
  return lines;
}

}  // namespace lapilli::conformance
