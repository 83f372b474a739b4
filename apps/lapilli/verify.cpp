#include <algorithm>
#include <cmath>
#include <format>
#include <iostream>

#include "base/comparison.h"
#include "base/failure.h"
#include "command.h"
#include "inputs.h"
#include "io/npy.h"
#include "json.h"
#include "options.h"
#include "terminal.h"

namespace lapilli::program {
namespace {

struct VerifyArguments : ModelArguments {
  std::string reference;
  double tolerance = 0;  // 0: that of the precision

  [[nodiscard]] double limit(const Model& tested) const {
    if (tolerance > 0) return tolerance;
    return tested.precision() == Precision::float16 ? 1e-2 : 1e-4;
  }
};

struct Verdict {
  std::string name;
  Difference difference;
  bool passed = false;
};

struct Reference {
  NamedTensors inputs, outputs;
};

Reference read_reference(const std::string& path, const Model& model) {
  Reference reference;
  for (auto& [key, tensor] : read_npz(path)) {
    if (key.starts_with("in:")) reference.inputs.emplace(key.substr(3), tensor);
    if (key.starts_with("out:")) reference.outputs.emplace(key.substr(4), tensor);
  }
  if (reference.outputs.empty()) {
    fail(ErrorCode::invalid_argument,
         "{}: it has no array 'out:NAME'; the arrays are 'in:' and 'out:' before the model's names", path);
  }
  for (const PortDescription& port : model.inputs()) {
    for (const std::string& name : array_names(port)) {
      const auto found = reference.inputs.find(name);
      if (found == reference.inputs.end())
        fail(ErrorCode::invalid_argument, "{}: it has no array 'in:{}'", path, name);
      if (port.kind == PortKind::tensor) found->second = restored_from_numpy(found->second, port.dtype);
    }
  }
  return reference;
}

std::vector<Verdict> compare_outputs(const ArrayList& results, const NamedTensors& references, double limit) {
  std::vector<Verdict> verdicts;
  for (const auto& [name, reference] : references) {
    Verdict verdict{.name = name, .difference = {}, .passed = false};
    if (const auto result = std::ranges::find(results, name, &ArrayList::value_type::first);
        result != results.end()) {
      verdict.difference = compare(result->second, restored_from_numpy(reference, result->second.dtype()));
      verdict.passed = verdict.difference.mismatch.empty() && verdict.difference.relative_error <= limit;
    } else {
      verdict.difference = {"the model has no such output", std::numeric_limits<double>::infinity()};
    }
    verdicts.push_back(std::move(verdict));
  }
  return verdicts;
}

void print_json(const std::vector<Verdict>& verdicts, double limit, bool passed) {
  Json outputs = Json::array();
  for (const Verdict& verdict : verdicts) {
    Json entry{
        {"name", verdict.name}, {"relative_error", verdict.difference.relative_error}, {"passed", verdict.passed}};
    if (!verdict.difference.mismatch.empty()) entry["mismatch"] = verdict.difference.mismatch;
    outputs.push_back(std::move(entry));
  }
  print(Json{{"outputs", std::move(outputs)}, {"tolerance", limit}, {"passed", passed}});
}

void print_text(const std::vector<Verdict>& verdicts, double limit) {
  Table table({"output", "relative error", "", ""}, {1});
  for (const Verdict& verdict : verdicts) {
    table.add({verdict.name, std::format("{:.3g}", verdict.difference.relative_error),
               verdict.passed ? "passed" : "FAILED", verdict.difference.mismatch});
  }
  std::cout << table.text();
  const auto failed = std::ranges::count(verdicts, false, &Verdict::passed);
  std::cout << (failed == 0
                    ? styled(std::format("passed: all within {:g}", limit), Style::good)
                    : styled(std::format("FAILED: {} of {} past {:g}", failed, verdicts.size(), limit), Style::bad))
            << '\n';
}

int verify(const VerifyArguments& arguments) {
  const Model model = load_model(arguments);
  const Reference reference = read_reference(arguments.reference, model);
  Context context(model);
  const ArrayList results = run_once(model, context, reference.inputs);
  const double limit = arguments.limit(model);
  const std::vector<Verdict> verdicts = compare_outputs(results, reference.outputs, limit);
  const bool passed = std::ranges::all_of(verdicts, &Verdict::passed);
  if (arguments.json) {
    print_json(verdicts, limit, passed);
  } else {
    print_text(verdicts, limit);
  }
  return passed ? success : check_failed;
}

}  // namespace

void add_verify_command(CLI::App& program, Action& action) {
  CLI::App* command = program.add_subcommand("verify", "Compare a model's outputs with those of another runtime");
  const auto arguments = std::make_shared<VerifyArguments>();
  add_model_argument(*command, *arguments);
  command->add_option("--against", arguments->reference, "Arrays in:NAME for all inputs and out:NAME for outputs")
      ->required()
      ->type_name("FILE.npz");
  command->add_option("--tolerance", arguments->tolerance, "Of the relative error [0.0001, in float16 0.01]")
      ->check(positive_number());
  add_device_options(*command, arguments->device);
  add_planning_options(*command, *arguments);
  add_json_option(*command, arguments->json);
  command->footer(R"(
The relative error of an output is |result - reference| / |reference|, with the norm of all elements. Integers must be
equal, and NaN and infinities in the same places. The exit code is 1 when an output is past the tolerance.

A reference file, in Python:
  outputs = onnxruntime.InferenceSession("model.onnx").run(None, {"image": image})
  numpy.savez("reference.npz", **{"in:image": image, "out:scores": outputs[0]})

Examples:
  lapilli verify model.onnx --against reference.npz
  lapilli verify model.onnx --against reference.npz --precision float16 --tolerance 0.005

JSON: outputs [name, relative_error (null: not comparable), passed, mismatch], tolerance, passed)");
  command->callback([arguments, &action] { action = [arguments] { return verify(*arguments); }; });
}

}  // namespace lapilli::program
