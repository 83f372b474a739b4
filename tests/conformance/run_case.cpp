#include "conformance/run_case.h"

#include <unistd.h>

#include <algorithm>
#include <exception>
#include <format>

#include "base/comparison.h"
#include "base/failure.h"
#include "base/text.h"
#include "conformance/data_set.h"
#include "import/onnx/reader.h"

namespace lapilli::conformance {
namespace {

namespace fs = std::filesystem;

// Relative, as ||result - reference|| / ||reference||: 1e-5 for operators, 1e-4 for networks, and 1e-2 where results
// are stored as float16.
double tolerance_for(const TestCase& test, Precision precision, DType reference) {
  const double wanted = precision == Precision::float16 ? 1e-2 : test.is_network() ? 1e-4 : 1e-5;
  // One unit in the last place of the reference's own type.
  if (reference == DType::float16) return std::max(wanted, 1e-3);
  if (reference == DType::bfloat16) return std::max(wanted, 4e-3);
  return wanted;
}

// As the runner of ONNX's backend tests makes them: i / count, computed in float64.
Tensor light_input(const PortDescription& port) {
  std::vector<std::int64_t> shape;
  for (const std::string& size : port.shape) shape.push_back(std::stoll(size));
  Tensor tensor = Tensor::allocate(DType::float32, std::move(shape));
  const std::span<float> elements = tensor.mutable_elements<float>();
  for (std::size_t i = 0; i < elements.size(); ++i) {
    elements[i] = static_cast<float>(static_cast<double>(i) / static_cast<double>(elements.size()));
  }
  return tensor;
}

class CaseRun {
 public:
  CaseRun(const TestCase& test, const Device& device, const ModelOptions& options, bool compiled)
      : test_(test),
        compiled_(compiled),
        precision_(options.precision),
        file_(onnx::read_model(test.model)),
        model_(Model::load(test.model, device, options)) {}

  void run_all() {
    if (test_.is_network()) {
      check_outputs({Value(light_input(model_.inputs().front()))}, {test_.light_output});
      return;
    }
    for (const fs::path& folder : test_.data_sets) run_data_set(folder);
  }

 private:
  void run_data_set(const fs::path& folder) {
    const std::vector<Value> inputs = read_inputs(file_, folder);
    std::vector<fs::path> outputs;
    for (std::size_t i = 0; i < file_.graph.outputs.size(); ++i)
      outputs.push_back(folder / std::format("output_{}.pb", i));
    check_outputs(inputs, outputs);
  }

  void check_outputs(const std::vector<Value>& inputs, const std::vector<fs::path>& references) {
    Context context(model_);
    const std::vector<Value> results = context.run(inputs);
    if (compiled_) check_compiled(context.last_plan(), inputs, results);
    if (results.size() != references.size()) {
      fail(ErrorCode::internal, "{} outputs, expected {}", results.size(), references.size());
    }
    for (std::size_t i = 0; i < results.size(); ++i) {
      const onnx::ValueInfo& info = file_.graph.outputs[i];
      check_output(info.name, results[i], read_data(references[i], info));
    }
  }

  void check_compiled(const PlanSummary& plan, const std::vector<Value>& inputs, const std::vector<Value>& results) {
    if (model_.runs_in_parts(plan.sizes)) return;
    const fs::path file = fs::temp_directory_path() / std::format("conformance.{}.lapilli", getpid());
    model_.compile(plan.sizes, file);
    Context context(Model::load(file, model_.device()));
    fs::remove(file);
    const std::vector<Value> again = context.run(inputs);
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (!std::ranges::equal(again[i].tensor().bytes(), results[i].tensor().bytes())) {
        fail(ErrorCode::internal, "output {} of its program file differs", i);
      }
    }
  }

  void check_output(const std::string& name, const Value& result, const Value& reference) const {
    if (result.is_tensor() && reference.is_tensor()) return check_tensor(name, result.tensor(), reference.tensor());
    if (result.is_map() && reference.is_map()) return check_map(name, result.map(), reference.map());
    if (result.is_sequence() != reference.is_sequence() || result.is_map() != reference.is_map() ||
        result.empty() != reference.empty()) {
      fail(ErrorCode::internal, "output '{}' is another kind of value", name);
    }
    if (result.empty()) return;
    const auto &elements = result.elements(), &references = reference.elements();
    if (elements.size() != references.size()) {
      fail(ErrorCode::internal, "output '{}' has {} elements, expected {}", name, elements.size(), references.size());
    }
    for (std::size_t i = 0; i < elements.size(); ++i) {
      check_output(std::format("{}[{}]", name, i), elements[i], references[i]);
    }
  }

  // Values in the order of their keys, which is the file's.
  void check_map(const std::string& name, const Map& result, const Map& reference) const {
    check_tensor(name + ".keys", result.keys, reference.keys);
    check_tensor(name + ".values", result.values, reference.values);
  }

  // Integers and bool are exact, but for integers that come from float32 inputs when those are stored as float16: at
  // the border between two, they need more digits than float16 has, and are judged like what they come from.
  [[nodiscard]] bool rounds_to_integers(DType dtype) const {
    const bool of_floats = std::ranges::contains(file_.graph.inputs, DType::float32,
                                                 [](const onnx::ValueInfo& info) { return info.type.dtype; });
    return precision_ == Precision::float16 && of_floats && is_integer(dtype);
  }

  void check_tensor(const std::string& name, const Tensor& result, const Tensor& reference) const {
    Difference difference = compare(result, reference);
    const bool comparable = result.dtype() == reference.dtype() && result.shape() == reference.shape();
    if (comparable && rounds_to_integers(result.dtype())) difference.mismatch.clear();
    if (test_.is_random() && comparable) return;
    const double tolerance = tolerance_for(test_, precision_, reference.dtype());
    if (difference.mismatch.empty() && difference.relative_error > tolerance) {
      difference.mismatch =
          std::format("relative error {:.2g}, {:.0e} allowed", difference.relative_error, tolerance);
    }
    if (!difference.mismatch.empty()) fail(ErrorCode::internal, "output '{}': {}", name, difference.mismatch);
  }

  const TestCase& test_;
  bool compiled_;
  Precision precision_;
  onnx::Model file_;
  Model model_;
};

}  // namespace

std::string run_case(const TestCase& test, const Device& device, const ModelOptions& options, bool compiled) {
  try {
    CaseRun(test, device, options, compiled).run_all();
    return {};
  } catch (const Error& error) {
    if (error.code() == ErrorCode::device_lost) throw;
    return error.what();
  } catch (const std::exception& error) {
    return std::format("another exception than lapilli::Error: {}", error.what());
  }
}

}  // namespace lapilli::conformance
