#include <algorithm>
#include <cmath>
#include <format>
#include <iostream>
#include <limits>
#include <optional>

#include "base/comparison.h"
#include "base/failure.h"
#include "base/text.h"
#include "command.h"
#include "inputs.h"
#include "json.h"
#include "options.h"
#include "terminal.h"

namespace lapilli::program {
namespace {

struct RunArguments : ModelArguments {
  std::vector<std::string> inputs, keep;
  std::string output;
  bool with_inputs = false;
  std::uint64_t seed = 0;
  int repeat = 1;
};

struct Statistics {
  double mean = 0, least = std::numeric_limits<double>::infinity(), most = -std::numeric_limits<double>::infinity();
  std::int64_t not_finite = 0;
};

// Nothing for types whose elements are no numbers, and for no elements.
std::optional<Statistics> statistics_of(const Tensor& tensor) {
  if (tensor.element_count() == 0 || tensor.dtype() == DType::string) return std::nullopt;
  Statistics statistics;
  double sum = 0;
  for (std::int64_t i = 0; i < tensor.element_count(); ++i) {
    const double element = element_as_double(tensor, i);
    if (!std::isfinite(element)) ++statistics.not_finite;
    sum += element;
    statistics.least = std::min(statistics.least, element);
    statistics.most = std::max(statistics.most, element);
  }
  statistics.mean = sum / static_cast<double>(tensor.element_count());
  return statistics;
}

// Runs again, now and then with memory and commands that are made anew: the first run whose outputs are not those.
std::optional<int> differing_run(const Model& model, const NamedTensors& inputs, const ArrayList& outputs,
                                 int count) {
  constexpr int runs_of_a_context = 10;
  const auto same = [](const auto& left, const auto& right) {
    return left.first == right.first && same_elements(left.second, right.second);
  };
  std::optional<Context> context;
  for (int run = 2; run <= count; ++run) {
    if (!context || run % runs_of_a_context == 0) context.emplace(model);
    if (!std::ranges::equal(run_once(model, *context, inputs), outputs, same)) return run;
  }
  return std::nullopt;
}

void print_json(const ArrayList& outputs, const RunArguments& arguments, std::optional<int> differing) {
  Json array = Json::array();
  for (const auto& [name, tensor] : outputs) {
    Json entry{{"name", name}, {"dtype", to_string(tensor.dtype())}, {"shape", tensor.shape()}};
    const auto statistics = statistics_of(tensor);
    entry["mean"] = statistics ? Json(statistics->mean) : Json(nullptr);
    entry["min"] = statistics ? Json(statistics->least) : Json(nullptr);
    entry["max"] = statistics ? Json(statistics->most) : Json(nullptr);
    entry["not_finite"] = statistics ? Json(statistics->not_finite) : Json(nullptr);
    array.push_back(std::move(entry));
  }
  Json document{{"outputs", std::move(array)}};
  if (arguments.repeat > 1) {
    document["runs"] = arguments.repeat;
    document["differing_run"] = differing ? Json(*differing) : Json(nullptr);
  }
  print(document);
}

void print_text(const ArrayList& outputs) {
  Table table({"output", "type", "shape", "mean", "min", "max", "not finite"}, {3, 4, 5, 6});
  for (const auto& [name, tensor] : outputs) {
    std::vector<std::string> cells{name, std::string(to_string(tensor.dtype())), shape_text(tensor.shape())};
    if (const auto statistics = statistics_of(tensor)) {
      for (const double value : {statistics->mean, statistics->least, statistics->most}) {
        cells.push_back(std::format("{:.5g}", value));
      }
      cells.push_back(std::to_string(statistics->not_finite));
    }
    table.add(std::move(cells));
  }
  std::cout << table.text();
}

void write_output(const RunArguments& arguments, const NamedTensors& inputs, const ArrayList& outputs) {
  NamedTensors all;
  if (arguments.with_inputs) {
    for (const auto& [name, tensor] : inputs) all.emplace("in:" + name, tensor);
  }
  for (const auto& [name, tensor] : outputs) all.emplace(arguments.with_inputs ? "out:" + name : name, tensor);
  write_npz(arguments.output, all);
}

int run(const RunArguments& arguments) {
  require_other_file(arguments.output, arguments.model);
  const Model model = load_model(arguments, arguments.keep);
  if (!arguments.sizes.empty())
    static_cast<void>(model.runs_in_parts(arguments.sizes));  // says which name there is not
  const NamedTensors inputs =
      complete_inputs(read_inputs(arguments.inputs, model.inputs()), model, arguments.sizes, arguments.seed);
  Context context(model);
  const ArrayList outputs = run_once(model, context, inputs);
  if (!arguments.output.empty()) write_output(arguments, inputs, outputs);
  const std::optional<int> differing = differing_run(model, inputs, outputs, arguments.repeat);
  if (arguments.json) {
    print_json(outputs, arguments, differing);
  } else if (arguments.output.empty()) {
    print_text(outputs);
  } else {
    std::cout << std::format("{} array{} in {}\n", outputs.size(), outputs.size() == 1 ? "" : "s", arguments.output);
  }
  if (!arguments.json && arguments.repeat > 1) {
    std::cout << (differing ? styled(std::format("FAILED: run {} gave other outputs than the first", *differing),
                                     Style::bad)
                            : styled(std::format("{} runs gave the same bits", arguments.repeat), Style::good))
              << '\n';
  }
  return differing ? check_failed : success;
}

}  // namespace

void add_run_command(CLI::App& program, Action& action) {
  CLI::App* command = program.add_subcommand("run", "Run a model once, on arrays from files or on random ones");
  const auto arguments = std::make_shared<RunArguments>();
  add_model_argument(*command, *arguments);
  command
      ->add_option("--input", arguments->inputs,
                   "NAME=FILE, FILE.npz with arrays of the inputs' names, or FILE when there "
                   "is one input; .npy, .npz and .pb (TensorProto); repeatable [random]")
      ->type_name("[NAME=]FILE")
      ->allow_extra_args(false);
  command->add_option("--output", arguments->output, "Write the outputs to this .npz file")->type_name("FILE");
  command
      ->add_flag("--with-inputs", arguments->with_inputs,
                 "Write the inputs too, as in:NAME and out:NAME, which `lapilli verify` takes")
      ->needs("--output");
  command
      ->add_option(
          "--keep", arguments->keep,
          "A value inside the model, by its name, that comes out too, whatever is fused around it; repeatable")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command->add_option("--seed", arguments->seed, "Of random inputs")->capture_default_str()->check(whole_number(0));
  command
      ->add_option("--repeat", arguments->repeat,
                   "Run it this often with the same inputs; the exit code is 1 when a bit of the outputs differs")
      ->check(whole_number(1, std::numeric_limits<int>::max()));
  add_device_options(*command, arguments->device);
  add_planning_options(*command, *arguments);
  add_json_option(*command, arguments->json);
  command->footer(R"(
Inputs that are not given are made up, the same for the same seed: floats of the normal distribution, integers from 0
to 99. Without --output, a line is printed for each output. A map is two arrays, NAME.keys and NAME.values; a sequence is
NAME[0], NAME[1], ..., or one map where it holds maps with the same keys, with a row of values for each.

Examples:
  lapilli run model.onnx --size batch=4
  lapilli run model.onnx --input image=photo.npy --output result.npz
  lapilli run model.onnx --input test_data_set_0/input_0.pb
  lapilli run model.onnx --keep /layer1/relu/Relu_output_0 --output values.npz
  lapilli run model.onnx --repeat 100

JSON: outputs [name, dtype, shape, mean, min, max, not_finite (null: no numbers)]; with --repeat runs, differing_run
(null: none))");
  command->callback([arguments, &action] { action = [arguments] { return run(*arguments); }; });
}

}  // namespace lapilli::program
