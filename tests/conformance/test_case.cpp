#include "conformance/test_case.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/failure.h"

namespace lapilli::conformance {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> sorted_entries(const fs::path& folder) {
  std::vector<fs::path> paths;
  if (!fs::is_directory(folder)) return paths;
  for (const auto& entry : fs::directory_iterator(folder)) paths.push_back(entry.path());
  std::ranges::sort(paths);
  return paths;
}

void add_suite(const fs::path& folder, const std::string& suite, std::vector<TestCase>& cases) {
  for (const fs::path& path : sorted_entries(folder / suite)) {
    if (!fs::exists(path / "model.onnx")) continue;
    TestCase test{suite, path.filename().string(), path / "model.onnx", {}, {}};
    for (const fs::path& entry : sorted_entries(path)) {
      if (entry.filename().string().starts_with("test_data_set_")) test.data_sets.push_back(entry);
    }
    cases.push_back(std::move(test));
  }
}

void add_light_suite(const fs::path& folder, std::vector<TestCase>& cases) {
  for (const fs::path& path : sorted_entries(folder / "light")) {
    if (path.extension() != ".onnx") continue;
    const std::string name = path.stem().string();
    cases.push_back({"light", name, path, {}, path.parent_path() / (name + "_output_0.pb")});
  }
}

}  // namespace

bool TestCase::is_random() const {
  constexpr std::array<std::string_view, 10> random{"test_bernoulli",
                                                    "test_bernoulli_double",
                                                    "test_bernoulli_double_expanded",
                                                    "test_bernoulli_expanded",
                                                    "test_bernoulli_seed",
                                                    "test_bernoulli_seed_expanded",
                                                    "test_training_dropout",
                                                    "test_training_dropout_default",
                                                    "test_training_dropout_default_mask",
                                                    "test_training_dropout_mask"};
  return suite == "node" && std::ranges::contains(random, name);
}

std::vector<TestCase> find_cases(const fs::path& folder) {
  std::vector<TestCase> cases;
  for (const char* suite : {"node", "simple", "pytorch-converted", "pytorch-operator"})
    add_suite(folder, suite, cases);
  add_light_suite(folder, cases);
  if (cases.empty()) {
    fail(ErrorCode::input_output,
         "{} has no tests; Debian's libonnx-testdata puts them in /usr/share/libonnx-testdata/data", folder.string());
  }
  return cases;
}

}  // namespace lapilli::conformance
