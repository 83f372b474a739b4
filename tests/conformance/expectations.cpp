#include "conformance/expectations.h"

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>
#include <string_view>

#include "base/failure.h"
#include "support/restrictions.h"

namespace lapilli::conformance {
namespace {

constexpr std::array<std::string_view, 4> known_modes{"optimised", "unoptimised", "float32", "float16"};

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

// What stands between the brackets that `rest` begins with, which are cut off.
std::vector<std::string> take_modes(std::string& rest) {
  if (!rest.starts_with('[')) return {};
  const std::size_t end = rest.find(']');
  if (end == std::string::npos) fail(ErrorCode::invalid_argument, "a bracket is not closed");
  std::vector<std::string> modes = words_of(rest.substr(1, end - 1));
  for (const std::string& mode : modes) {
    if (std::ranges::contains(known_modes, mode)) continue;
    DeviceRestrictions restrictions;
    with_context("a mode, or a limit", [&] { restrict_device(restrictions, mode); });
  }
  rest.erase(0, end + 1);
  rest.erase(0, rest.find_first_not_of(' '));
  return modes;
}

ExpectedFailure parse(const std::string& text, std::size_t line) {
  ExpectedFailure failure{.line = line, .pattern = words_of(text).front(), .modes = {}, .reason = {}};
  std::string rest = text.substr(text.find(failure.pattern) + failure.pattern.size());
  rest.erase(0, rest.find_first_not_of(' '));
  failure.modes = take_modes(rest);
  failure.reason = rest;
  if (failure.reason.empty()) fail(ErrorCode::invalid_argument, "there is no reason");
  return failure;
}

}  // namespace

bool matches(const std::string& pattern, const std::string& text) {
  return fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

Expectations Expectations::read(const std::filesystem::path& path) {
  Expectations result;
  result.path_ = path.string();
  std::ifstream file(path);
  if (!file) fail(ErrorCode::input_output, "{} cannot be read", path.string());
  std::size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (words_of(line).empty() || line.starts_with('#')) continue;
    with_context(std::format("{}:{}", path.string(), number),
                 [&] { result.failures_.push_back(parse(line, number)); });
  }
  return result;
}

void Expectations::check_against(std::span<const TestCase> cases) const {
  for (const ExpectedFailure& failure : failures_) {
    if (std::ranges::none_of(cases,
                             [&](const TestCase& test) { return matches(failure.pattern, test.full_name()); })) {
      fail(ErrorCode::invalid_argument, "{}:{}: no test is called '{}'", path_, failure.line, failure.pattern);
    }
  }
}

const ExpectedFailure* Expectations::find(const TestCase& test, std::span<const std::string> modes) const {
  const auto holds = [&](const ExpectedFailure& failure) {
    return matches(failure.pattern, test.full_name()) &&
           std::ranges::all_of(failure.modes,
                               [&](const std::string& mode) { return std::ranges::contains(modes, mode); });
  };
  const auto found = std::ranges::find_if(failures_, holds);
  return found == failures_.end() ? nullptr : &*found;
}

}  // namespace lapilli::conformance
