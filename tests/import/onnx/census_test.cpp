// Every file of ONNX's own test data, compared with what ONNX's own library reads from it: census.txt holds what
// census.py wrote.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "import/onnx/inline_functions.h"
#include "import/onnx/reader.h"
#include "import/onnx/validate.h"
#include "import/onnx/value.h"
#include "import/onnx/walk.h"
#include "lapilli/error.h"
#include "model_text.h"

namespace lapilli::onnx {
namespace {

namespace fs = std::filesystem;

struct Totals {
  std::size_t models = 0;
  std::size_t nodes = 0;
  std::size_t initializers = 0;
  std::size_t attributes = 0;
  std::size_t data_files = 0;
  std::uint64_t checksum = 0;
  friend bool operator==(const Totals&, const Totals&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Totals& totals) {
    return out << totals.models << " models, " << totals.nodes << " nodes, " << totals.initializers
               << " initializers, " << totals.attributes << " attributes, " << totals.data_files
               << " data files, checksum " << totals.checksum;
  }
};

std::vector<fs::path> files_below(const fs::path& folder, std::string_view extension) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && entry.path().extension() == extension) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

std::vector<fs::path> data_files_of(const fs::path& model) {
  if (model.filename() == "model.onnx") return files_below(model.parent_path(), ".pb");
  std::vector<fs::path> files = files_below(model.parent_path(), ".pb");
  const std::string beginning = model.stem().string() + "_output_";
  std::erase_if(files, [&](const fs::path& file) { return !file.filename().string().starts_with(beginning); });
  return files;
}

/// The type that the model declares for a data file such as input_0.pb.
Type declared_type(const fs::path& file, const Model& model) {
  const std::string stem = file.stem().string();
  const auto& declared = stem.starts_with("input_") ? model.graph.inputs : model.graph.outputs;
  const auto number = static_cast<std::size_t>(std::stoul(stem.substr(stem.rfind('_') + 1)));
  return number < declared.size() ? declared[number].type : Type{};
}

void add_model(const fs::path& path, Totals& totals) {
  Model model = read_model(path);
  EXPECT_TRUE(model.unsupported.empty()) << path << ": " << model.unsupported.front();
  const ModelText text = model_text(model);
  ++totals.models;
  totals.nodes += text.nodes;
  totals.initializers += text.initializers;
  totals.attributes += text.attributes;
  totals.checksum += crc32(text.text);
  for (const fs::path& file : data_files_of(path)) {
    ++totals.data_files;
    totals.checksum += crc32(value_text(read_value(file, declared_type(file, model))));
  }
  inline_functions(model);
  EXPECT_NO_THROW(validate(model)) << path;
  for_each_node(model, [&](const Node& node) { EXPECT_GT(node.opset_version, 0) << path << " " << node_text(node); });
}

std::map<std::string, Totals> expected_totals() {
  std::map<std::string, Totals> result;
  std::ifstream file(EXPECTED_CENSUS);
  std::string name;
  while (file >> name) {
    Totals& totals = result[name];
    file >> totals.models >> totals.nodes >> totals.initializers >> totals.attributes >> totals.data_files >>
        totals.checksum;
  }
  return result;
}

class Census : public testing::TestWithParam<std::string> {};

TEST_P(Census, AgreesWithOnnx) {
  Totals totals;
  for (const fs::path& path : files_below(fs::path(ONNX_TESTDATA) / GetParam(), ".onnx")) {
    try {
      add_model(path, totals);
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
  }
  EXPECT_EQ(totals, expected_totals().at(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Suites, Census,
                         testing::Values("light", "node", "pytorch-converted", "pytorch-operator", "simple"),
                         [](const auto& suite) {
                           std::string name = suite.param;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace lapilli::onnx
