// Runs the conformance suite of ONNX through the whole engine.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <format>
#include <iostream>
#include <memory>
#include <ranges>
#include <regex>
#include <thread>

#include "base/failure.h"
#include "base/text.h"
#include "conformance/expectations.h"
#include "conformance/report.h"
#include "conformance/run_case.h"
#include "conformance/worker_pool.h"
#include "support/restrictions.h"
#ifdef LAPILLI_VISION
#include "vision/model_decoder.h"
#endif

namespace lapilli::conformance {
namespace {

struct Options {
  std::string data = "/usr/share/libonnx-testdata/data";
  std::string expected_failures = CONFORMANCE_EXPECTED_FAILURES;
  std::string mode = "optimised", precision = "float32", filter, json, device;
  std::vector<std::string> suites, limits;
  std::size_t jobs = 0;
  double time_limit_s = 60;
  bool list = false, compiled = false, summary = false, validation = false, propose = false;

  [[nodiscard]] bool selects(const TestCase& test) const {
    return (suites.empty() || std::ranges::contains(suites, test.suite)) &&
           (filter.empty() || std::regex_search(test.full_name(), std::regex(filter)));
  }
};

void define(CLI::App& app, Options& options) {
  app.add_option("--mode", options.mode, "With or without the rewrites of the graph")
      ->check(CLI::IsMember({"optimised", "unoptimised"}))
      ->capture_default_str();
  app.add_option("--precision", options.precision, "Type of intermediate results")
      ->check(CLI::IsMember({"float32", "float16"}))
      ->capture_default_str();
  app.add_option("--suite", options.suites,
                 "Only this suite (repeatable): node, simple, pytorch-converted, "
                 "pytorch-operator, light");
  app.add_option("--filter", options.filter, "Only tests whose SUITE/NAME this regular expression finds");
  app.add_option("--jobs", options.jobs, "Tests at a time [one for each processor]");
  app.add_option("--time-limit", options.time_limit_s, "Seconds for one test")->capture_default_str();
  app.add_option("--device", options.device, "Index, UUID or a part of the name");
  app.add_option("--limit", options.limits,
                 "What to take from the device (repeatable): a field of DeviceRestrictions, such as no_int64 or "
                 "max_groups=64");
  app.add_flag("--validation", options.validation, "Turn on the validation layer; a message fails its test");
  app.add_flag("--compiled", options.compiled, "Run each test from a program file as well, and compare the bits");
  app.add_flag("--list", options.list, "List the tests and stop");
  app.add_flag("--summary", options.summary, "Group failures, expected ones too, by what went wrong");
  app.add_option("--json", options.json, "Write all results to this file");
  app.add_flag("--propose", options.propose, "Print the failures as lines for the list of expected failures");
  app.add_option("--expected-failures", options.expected_failures, "The list")->capture_default_str();
  app.add_option("--data", options.data, "Folder of the suite")->capture_default_str();
}

Worker make_worker(const std::vector<TestCase>& cases, const Options& options) {
  DeviceOptions device_options;
  device_options.selector = options.device;
  device_options.validation = options.validation;
  for (const std::string& limit : options.limits) restrict_device(device_options.restrictions, limit);
  device_options.pipeline_cache = false;  // so that a run does not depend on those before it
  ModelOptions model_options;
  model_options.optimise = options.mode == "optimised";
  model_options.precision = options.precision == "float16" ? Precision::float16 : Precision::float32;
#ifdef LAPILLI_VISION
  model_options.decode_image = model_image_decoder();
#endif
  const Device device = Device::open(device_options);
  return
      [&cases, device, model_options, compiled = options.compiled, heard = std::size_t{0}](std::size_t task) mutable {
        std::string error = run_case(cases[task], device, model_options, compiled);
        const std::vector<std::string> messages = device.validation_messages();
        if (error.empty() && messages.size() > heard) error = "validation: " + messages[heard];
        heard = messages.size();
        return error;
      };
}

void show_progress(std::size_t done, std::size_t count) {
  if (isatty(STDERR_FILENO) != 0) std::cerr << std::format("\r{} of {}", done, count) << (done == count ? "\n" : "");
}

std::vector<CaseResult> run_cases(const std::vector<TestCase>& cases, const Expectations& expectations,
                                  const Options& options) {
  std::vector<std::string> modes{options.mode, options.precision};
  for (const std::string& limits : options.limits) {
    for (const auto limit : std::views::split(limits, ',')) modes.emplace_back(limit.begin(), limit.end());
  }
  std::vector<CaseResult> results(cases.size());
  std::size_t done = 0;
  const auto finished = [&](const TaskResult& task) {
    const TestCase& test = cases[task.task];
    const ExpectedFailure* expected = expectations.find(test, modes);
    CaseResult& result = results[task.task];
    result = {.test = &test,
              .outcome = Outcome::passed,
              .error = task.error,
              .reason = {},
              .milliseconds = task.milliseconds};
    if (expected != nullptr) {
      result.reason = expected->reason;
      result.outcome = task.error.empty() ? Outcome::unexpected_pass : Outcome::expected_failure;
    } else if (!task.error.empty()) {
      result.outcome = Outcome::failed;
    }
    show_progress(++done, cases.size());
  };
  PoolOptions pool;
  pool.workers = options.jobs != 0 ? options.jobs : std::max(1U, std::thread::hardware_concurrency());
  pool.time_limit = std::chrono::milliseconds(static_cast<std::int64_t>(options.time_limit_s * 1000));
  run_in_processes(cases.size(), pool, [&] { return make_worker(cases, options); }, finished);
  return results;
}

void print(const std::vector<CaseResult>& results, const Options& options) {
  for (const CaseResult& result : results) {
    if (result.outcome == Outcome::failed)
      std::cout << std::format("FAILED {}: {}\n", result.test->full_name(), result.error);
    if (result.outcome == Outcome::unexpected_pass) {
      std::cout << std::format("PASSED {}, which the list of expected failures has: {}\n", result.test->full_name(),
                               result.reason);
    }
  }
  if (options.propose) std::cout << expectation_lines(results, "");
  if (options.summary) std::cout << failure_table(results);
  std::cout << suite_table(results);
}

int run(const Options& options) {
  std::vector<TestCase> cases = find_cases(options.data);
  const Expectations expectations = Expectations::read(options.expected_failures);
  expectations.check_against(cases);
  std::erase_if(cases, [&](const TestCase& test) { return !options.selects(test); });
  if (options.list) {
    for (const TestCase& test : cases) std::cout << test.full_name() << '\n';
    return 0;
  }
  if (cases.empty()) fail(ErrorCode::invalid_argument, "no test is selected");
  const std::vector<CaseResult> results = run_cases(cases, expectations, options);
  print(results, options);
  if (!options.json.empty()) write_json(options.json, results);
  const Counts counts = count(results);
  std::cout << final_line(counts) << '\n';
  return counts.failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace lapilli::conformance

int main(int argument_count, char** arguments) {
  CLI::App app{"Runs the conformance suite of ONNX through the whole engine"};
  lapilli::conformance::Options options;
  lapilli::conformance::define(app, options);
  try {
    app.parse(argument_count, arguments);
    return lapilli::conformance::run(options);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const std::exception& error) {
    std::cerr << "conformance: " << error.what() << '\n';
    return 2;
  }
}
