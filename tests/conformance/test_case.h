#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace lapilli::conformance {

/// One test of ONNX's suite: a model, and what it has to answer.
struct TestCase {
  std::string suite;  ///< "node", "simple", "pytorch-converted", "pytorch-operator" or "light"
  std::string name;   ///< such as "test_abs"
  std::filesystem::path model;
  /// Folders of input_N.pb and output_N.pb. Empty in the suite light, whose inputs are made up.
  std::vector<std::filesystem::path> data_sets;
  std::filesystem::path light_output;  ///< of the suite light: the file of the only output

  [[nodiscard]] std::string full_name() const { return suite + "/" + name; }
  [[nodiscard]] bool is_network() const { return suite == "light"; }
  /// Whether the outputs are random, so that only their types and shapes can be checked.
  [[nodiscard]] bool is_random() const;
};

/// All tests below a folder laid out as libonnx-testdata has it, in the order of their names.
/// Throws Error (input_output) when there are none.
std::vector<TestCase> find_cases(const std::filesystem::path& folder);

}  // namespace lapilli::conformance
