#include <algorithm>
#include <chrono>
#include <cmath>
#include <format>
#include <iostream>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "base/failure.h"
#include "base/text.h"
#include "command.h"
#include "inputs.h"
#include "json.h"
#include "options.h"
#include "terminal.h"

namespace lapilli::program {
namespace {

using Clock = std::chrono::steady_clock;

struct BenchArguments : ModelArguments {
  std::int64_t batch = 0;  // 0: not given
  double seconds = 1;
  bool profile = false;
};

struct Timing {
  double first_ms = 0, median_ms = 0, p95_ms = 0, host_ms = 0;
  std::optional<double> gpu_ms, submit_ms;
  std::vector<double> submissions;  ///< of one run, where runs are cut
  std::size_t runs = 0;
};

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// The value that this part of all values does not exceed.
double quantile(std::vector<double> values, double part) {
  std::ranges::sort(values);
  const auto rank = static_cast<std::size_t>(std::ceil(part * static_cast<double>(values.size())));
  return values[std::max<std::size_t>(rank, 1) - 1];
}

bool is_number(const std::string& size) { return size.find_first_not_of("0123456789") == std::string::npos; }

// The named dimension that a batch runs along: one that is called so, else the first of the first input.
std::string batch_dimension(const std::vector<PortDescription>& ports) {
  for (const PortDescription& port : ports) {
    for (const std::string& size : port.shape) {
      if (size == "N" || size == "n" || size.starts_with("batch") || size.starts_with("Batch")) return size;
    }
  }
  if (!ports.empty() && !ports.front().shape.empty() && !is_number(ports.front().shape.front()))
    return ports.front().shape.front();
  fail(ErrorCode::invalid_argument, "--batch: the model has no named dimension for it, its batch size is fixed");
}

void set_batch(BenchArguments& arguments, const Model& model) {
  const std::string name = batch_dimension(model.inputs());
  const auto [size, is_new] = arguments.sizes.try_emplace(name, arguments.batch);
  if (!is_new && size->second != arguments.batch) {
    fail(ErrorCode::invalid_argument, "--batch {} and --size {}={} contradict each other", arguments.batch, name,
         size->second);
  }
}

std::vector<double> time_runs(Context& context, const std::map<std::string, Tensor>& inputs, double seconds,
                              std::size_t least) {
  std::vector<double> times;
  const Clock::time_point begin = Clock::now();
  while (milliseconds_since(begin) < 1000 * seconds || times.size() < least) {
    const Clock::time_point start = Clock::now();
    context.run(inputs);
    times.push_back(milliseconds_since(start));
  }
  return times;
}

// Half a second of runs without input and output, as many at a time as one run's time allows.
std::optional<double> time_on_device(Context& context, double median_ms) {
  if (!context.gpu_nanoseconds()) return std::nullopt;
  const auto count = static_cast<std::size_t>(std::clamp(500 / std::max(median_ms, 0.001), 3.0, 1000.0));
  std::vector<double> times;
  for (const std::uint64_t nanoseconds : context.repeat(count))
    times.push_back(static_cast<double>(nanoseconds) / 1e6);
  return times.empty() ? std::nullopt : std::optional(quantile(std::move(times), 0.5));
}

constexpr std::size_t host_runs = 50;

// What a run takes of the host's time: writing inputs, submitting and reading outputs, but not waiting.
double time_on_host(Context& context, std::span<const Tensor> inputs, std::size_t output_count) {
  std::vector<Tensor> outputs(output_count);
  std::vector<double> times;
  for (std::size_t i = 0; i < host_runs; ++i) {
    const Clock::time_point start = Clock::now();
    Run run = context.submit(inputs);
    const double submitted = milliseconds_since(start);
    run.wait();
    const Clock::time_point done = Clock::now();
    run.results(outputs);
    times.push_back(submitted + milliseconds_since(done));
  }
  return quantile(std::move(times), 0.5);
}

// Those of all symbols in the shapes of inputs, and of elements that are sizes where the model runs as a whole.
Sizes sizes_of(const Model& model, const std::map<std::string, Tensor>& inputs, const Sizes& given) {
  if (!model.runs_in_parts(given)) return model.plan(given).sizes;
  Sizes sizes;
  for (const PortDescription& port : model.inputs()) {
    for (std::size_t axis = 0; axis < port.shape.size(); ++axis) {
      if (!is_number(port.shape[axis])) sizes[port.shape[axis]] = inputs.at(port.name).shape()[axis];
    }
  }
  return sizes;
}

// The same for a run whose inputs are where the device reads them already; nothing where they have to be tensors.
std::optional<double> time_submission(Context& context, const Sizes& sizes) {
  std::vector<double> times;
  try {
    for (std::size_t i = 0; i < host_runs; ++i) {
      const Clock::time_point start = Clock::now();
      const Run run = context.submit(sizes, [](std::size_t, std::span<std::byte>) {});
      times.push_back(milliseconds_since(start));
      run.wait();
    }
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unsupported) throw;
    return std::nullopt;
  }
  return quantile(std::move(times), 0.5);
}

struct ProfileLine {
  std::string origin, kernel;
  std::uint64_t nanoseconds = 0;
  std::size_t dispatches = 0;
};

std::vector<ProfileLine> profile_lines(Context& context) {
  std::map<std::pair<std::string, std::string>, ProfileLine> sums;
  for (const Context::DispatchTime& time : context.profile()) {
    ProfileLine& line = sums[{time.origin, time.kernel}];
    line.origin = time.origin;
    line.kernel = time.kernel;
    line.nanoseconds += time.nanoseconds;
    ++line.dispatches;
  }
  std::vector<ProfileLine> lines;
  for (auto& [key, line] : sums) lines.push_back(std::move(line));
  std::ranges::stable_sort(lines, std::greater{}, &ProfileLine::nanoseconds);
  return lines;
}

void print_json(const Timing& timing, const BenchArguments& arguments, const Model& model,
                const std::vector<ProfileLine>& profile) {
  Json document{{"device", model.device().name()},
                {"precision", to_string(model.precision())},
                {"sizes", to_json(arguments.sizes)},
                {"first_ms", timing.first_ms},
                {"median_ms", timing.median_ms},
                {"p95_ms", timing.p95_ms},
                {"host_ms", timing.host_ms},
                {"submit_ms", timing.submit_ms ? Json(*timing.submit_ms) : Json(nullptr)},
                {"memory_bytes", model.device().memory().peak},
                {"gpu_ms", timing.gpu_ms ? Json(*timing.gpu_ms) : Json(nullptr)},
                {"runs", timing.runs}};
  if (!timing.submissions.empty()) {
    document["submissions"] = timing.submissions.size();
    document["longest_submission_ms"] = std::ranges::max(timing.submissions);
  }
  if (arguments.profile) {
    Json lines = Json::array();
    for (const ProfileLine& line : profile) {
      lines.push_back({{"origin", line.origin},
                       {"kernel", line.kernel},
                       {"dispatches", line.dispatches},
                       {"ms", static_cast<double>(line.nanoseconds) / 1e6}});
    }
    document["profile"] = std::move(lines);
  }
  print(document);
}

void print_profile(const std::vector<ProfileLine>& profile) {
  const auto total =
      std::accumulate(profile.begin(), profile.end(), std::uint64_t{0},
                      [](std::uint64_t sum, const ProfileLine& line) { return sum + line.nanoseconds; });
  Table table({"ms", "%", "dispatches", "kernel", "from"}, {0, 1, 2});
  table.limit_width(70);
  for (const ProfileLine& line : profile) {
    table.add({std::format("{:.4f}", static_cast<double>(line.nanoseconds) / 1e6),
               std::format("{:.1f}", 100 * static_cast<double>(line.nanoseconds) /
                                         static_cast<double>(std::max<std::uint64_t>(total, 1))),
               std::to_string(line.dispatches), line.kernel, line.origin});
  }
  std::cout << '\n'
            << table.text()
            << std::format("{:.4f} ms in all, each dispatch alone\n", static_cast<double>(total) / 1e6);
}

void print_text(const Timing& timing, const BenchArguments& arguments, const Model& model) {
  std::string sizes;
  for (const auto& [name, size] : arguments.sizes) sizes += std::format(", {}={}", name, size);
  std::cout << styled(std::format("{} on {}, {}{}", arguments.model.filename().string(), model.device().name(),
                                  to_string(model.precision()), sizes),
                      Style::bold)
            << '\n';
  const auto line = [](std::string_view name, std::optional<double> ms, const std::string& meaning) {
    const std::string value = ms ? std::format("{:.3f} ms", *ms) : "no clock";
    std::cout << std::format("{:10}{:>14}  {}\n", name, value, styled(meaning, Style::dim));
  };
  line("first run", timing.first_ms, "reading, planning, compiling and running");
  line("median", timing.median_ms, std::format("of {} runs, with input and output", timing.runs));
  line("95 %", timing.p95_ms, "of the runs take at most this");
  line("host", timing.host_ms, "median of what the host does for a run: inputs, submission, outputs");
  if (timing.submit_ms) {
    line("submit", timing.submit_ms, "the same where inputs are in place and results stay: one submission");
  }
  line("GPU", timing.gpu_ms, "median on the device, without input and output");
  std::cout << std::format("{:10}{:>14}  {}\n", "memory", byte_text(model.device().memory().peak),
                           styled("the most that was taken on the device", Style::dim));
  if (timing.submissions.empty()) return;
  line("longest", std::ranges::max(timing.submissions),
       std::format("of the {} submissions of a run, on the device", timing.submissions.size()));
}

int bench(BenchArguments arguments) {
  const Device device = open_device(arguments.device);
  Timing timing;
  const Clock::time_point start = Clock::now();
  auto progress = std::make_unique<Progress>("first run");
  const Model model = Model::load(arguments.model, device, arguments.model_options());
  if (arguments.batch != 0) set_batch(arguments, model);
  const double loaded_ms = milliseconds_since(start);
  const NamedTensors made = complete_inputs({}, model, arguments.sizes, 0);
  const std::map<std::string, Tensor> inputs(made.begin(), made.end());
  const Clock::time_point second_start = Clock::now();
  if (!arguments.sizes.empty())
    static_cast<void>(model.runs_in_parts(arguments.sizes));  // says which name there is not
  Context context(model);
  context.run(inputs);
  timing.first_ms = loaded_ms + milliseconds_since(second_start);
  progress = std::make_unique<Progress>("warming up");
  time_runs(context, inputs, 0.5, 1);
  progress = std::make_unique<Progress>("timing");
  const std::vector<double> times = time_runs(context, inputs, arguments.seconds, 5);
  timing.runs = times.size();
  timing.median_ms = quantile(times, 0.5);
  timing.p95_ms = quantile(times, 0.95);
  std::vector<Tensor> ordered;
  for (const PortDescription& port : model.inputs()) ordered.push_back(inputs.at(port.name));
  timing.host_ms = time_on_host(context, ordered, model.outputs().size());
  timing.submit_ms = time_submission(context, arguments.sizes);
  timing.gpu_ms = time_on_device(context, timing.median_ms);
  if (arguments.device.longest_submit.count() != 0) {
    for (const std::uint64_t time : context.submit_nanoseconds()) {
      timing.submissions.push_back(static_cast<double>(time) / 1e6);
    }
  }
  const std::vector<ProfileLine> profile = arguments.profile ? profile_lines(context) : std::vector<ProfileLine>{};
  progress.reset();
  if (arguments.json) {
    arguments.sizes = sizes_of(model, inputs, arguments.sizes);
    print_json(timing, arguments, model, profile);
    return success;
  }
  print_text(timing, arguments, model);
  if (arguments.profile) print_profile(profile);
  return success;
}

}  // namespace

void add_bench_command(CLI::App& program, Action& action) {
  CLI::App* command = program.add_subcommand("bench", "Time a model on random inputs");
  const auto arguments = std::make_shared<BenchArguments>();
  add_model_argument(*command, *arguments);
  command
      ->add_option("--batch", arguments->batch, "The size of the dimension named batch or N, else of the first one")
      ->check(whole_number(1));
  command->add_option("--seconds", arguments->seconds, "How long to time runs, after half a second of warm-up")
      ->check(positive_number())
      ->capture_default_str();
  command->add_flag("--profile", arguments->profile, "Add the time of each dispatch, by the model's nodes");
  add_device_options(*command, arguments->device);
  add_planning_options(*command, *arguments);
  add_json_option(*command, arguments->json);
  command->footer(R"(
Examples:
  lapilli bench model.onnx
  lapilli bench model.onnx --batch 32 --precision float16 --json
  lapilli bench model.onnx --profile

JSON: device, precision, sizes, first_ms, median_ms, p95_ms, host_ms, submit_ms (null: inputs have to
be tensors), gpu_ms (null: no clock on the device), memory_bytes, runs; submissions and
longest_submission_ms with --longest-submit; profile [origin, kernel, dispatches, ms] with --profile)");
  command->callback([arguments, &action] { action = [arguments] { return bench(*arguments); }; });
}

}  // namespace lapilli::program
