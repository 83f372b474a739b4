#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "api/test_models.h"
#include "lapilli/error.h"
#include "lapilli/model.h"

namespace lapilli {
namespace {

namespace fs = std::filesystem;
using testing::device_options;
using testing::floats;
using testing::found_model;
using testing::layers_input;
using testing::layers_model;
using testing::layers_values;
using testing::network_model;
using testing::open_device;
using testing::patterned;

class Compile : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  template <class Action>
  static void expect_error(ErrorCode code, const std::vector<std::string>& parts, const Action& action) {
    try {
      action();
      ADD_FAILURE() << "no error with " << parts.front();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code) << error.what();
      for (const std::string& part : parts) {
        EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << part << " in " << error.what();
      }
    }
  }

  const fs::path folder_ = fs::temp_directory_path() / ("lapilli_compile_test." + std::to_string(getpid()));
  const fs::path file_ = folder_ / "model.lapilli";
  const Device device_ = open_device();
};

TEST_F(Compile, GivesTheSameBits) {
  for (const Precision precision : {Precision::float32, Precision::float16}) {
    ModelOptions options;
    options.precision = precision;
    const Model model = Model::load(network_model, device_, options);
    model.compile({{"batch", 3}}, file_);
    const Model compiled = Model::load(file_, device_);
    EXPECT_EQ(compiled.precision(), precision);
    Context context(model), of_file(compiled);
    for (const std::uint32_t seed : {1U, 2U}) {
      const std::array inputs{patterned({3, 3, 8, 8}, seed)};
      const Tensor expected = context.run(inputs)[0], result = of_file.run(inputs)[0];
      EXPECT_EQ(floats(result), floats(expected));
      EXPECT_EQ(result.shape(), (std::vector<std::int64_t>{3, 10}));
    }
  }
  EXPECT_EQ(device_.validation_messages(), std::vector<std::string>{});
}

TEST_F(Compile, NeedsNoModelAndDescribesItself) {
  const fs::path copy = folder_ / "layers.onnx";
  fs::copy_file(layers_model, copy);
  const Model model = Model::load(copy, device_);
  model.compile({{"batch", 2}}, file_);
  const PlanSummary plan = model.plan({{"batch", 2}});
  fs::remove(copy);

  const Model compiled = Model::load(file_, device_);
  ASSERT_EQ(compiled.inputs().size(), 1U);
  EXPECT_EQ(compiled.inputs()[0].name, "x");
  EXPECT_EQ(compiled.inputs()[0].shape, (std::vector<std::string>{"2", "16"}));
  EXPECT_EQ(compiled.outputs()[0].shape, (std::vector<std::string>{"2", "16"}));
  EXPECT_EQ(compiled.output_names(), std::vector<std::string>{"y"});
  EXPECT_FALSE(compiled.runs_in_parts());
  const PlanSummary same = compiled.plan();
  EXPECT_EQ(same.steps, plan.steps);
  EXPECT_EQ(same.sizes, (Sizes{{"batch", 2}}));
  EXPECT_EQ(same.arena_bytes, plan.arena_bytes);
  EXPECT_EQ(same.weight_bytes, plan.weight_bytes);
  EXPECT_EQ(same.lower_bound_bytes, plan.lower_bound_bytes);
  EXPECT_EQ(same.memory.size(), plan.memory.size());
  EXPECT_EQ(same.structure_ms, 0);

  Context context(compiled);
  context.prepare({{"batch", 2}});
  const std::array inputs{layers_input(2)};
  lapilli::Run run = context.submit(inputs);
  EXPECT_EQ(floats(run.results()[0]), layers_values(inputs[0]).y);
  EXPECT_EQ(floats(context.run({{"x", inputs[0]}}).at("y")), layers_values(inputs[0]).y);
  EXPECT_EQ(context.last_plan().sizes, (Sizes{{"batch", 2}}));
  EXPECT_EQ(context.memory().plans, 1U);
  context.trim();
  compiled.trim();
  EXPECT_EQ(floats(context.run(inputs)[0]), layers_values(inputs[0]).y);

  const ModelDescription description = describe_model(file_);
  EXPECT_NE(description.format.find("Lapilli program"), std::string::npos) << description.format;
  EXPECT_NE(description.format.find("make_data"), std::string::npos) << description.format;
  EXPECT_EQ(description.nodes.size(), plan.dispatches);
  EXPECT_EQ(description.sizes, (Sizes{{"batch", 2}}));
}

TEST_F(Compile, HasTheSizesThatItWasCompiledFor) {
  Model::load(layers_model, device_).compile({{"batch", 2}}, file_);
  const Model compiled = Model::load(file_, device_);
  Context context(compiled);
  const std::array inputs{layers_input(3)};
  expect_error(ErrorCode::invalid_argument, {"'x'", "[3, 16]", "[2, 16]", "batch=2"},
               [&] { (void)context.run(inputs); });
  expect_error(ErrorCode::invalid_argument, {"batch=2", "batch=3"}, [&] { (void)compiled.plan({{"batch", 3}}); });
  expect_error(ErrorCode::invalid_argument, {"batch=2", "batch=3"}, [&] { context.prepare({{"batch", 3}}); });
  expect_error(ErrorCode::invalid_argument, {"'height'", "batch"}, [&] { (void)compiled.plan({{"height", 3}}); });
  EXPECT_EQ(floats(context.run(std::array{layers_input(2)})[0]), layers_values(layers_input(2)).y);
}

// A size may be an element of an input: reshape's own test of ONNX.
TEST_F(Compile, ComparesElementsThatAreSizes) {
  const Model model = Model::load(ONNX_TESTDATA "/node/test_reshape_reordered_all_dims/model.onnx", device_);
  const Sizes sizes{{"shape[0]", 4}, {"shape[1]", 2}, {"shape[2]", 3}};
  model.compile(sizes, file_);
  const Model compiled = Model::load(file_, device_);
  Context context(compiled);
  const auto run = [&](std::vector<std::int64_t> shape) {
    const Tensor data = patterned({2, 3, 4}, 1);
    const std::array inputs{data, Tensor::of<std::int64_t>(DType::int64, {3}, shape)};
    const Tensor result = context.run(inputs)[0];
    EXPECT_EQ(result.shape(), shape);
    EXPECT_EQ(floats(result), floats(data));
  };
  run({4, 2, 3});
  run({4, 2, 3});
  expect_error(ErrorCode::invalid_argument, {"shape[1]=2", "shape[1]=6"}, [&] { run({4, 6, 1}); });
  run({4, 2, 3});
}

TEST_F(Compile, RefusesWhatItCannotDo) {
  expect_error(ErrorCode::unsupported, {"cannot be compiled", "part"},
               [&] { Model::load(found_model, device_).compile({}, file_); });
  EXPECT_FALSE(fs::exists(file_));
  const Model model = Model::load(layers_model, device_);
  expect_error(ErrorCode::input_output, {"no such folder"},
               [&] { model.compile({}, folder_ / "no such folder" / "model.lapilli"); });
  model.compile({}, file_);
  const auto load = [&](const ModelOptions& options) { (void)Model::load(file_, device_, options); };
  ModelOptions keep, variant, half, rules;
  keep.keep = {"hidden"};
  variant.variant = "contraction";
  half.precision = Precision::float16;
  rules.optimise = false;
  for (const ModelOptions& options : {keep, variant, half, rules}) {
    expect_error(ErrorCode::invalid_argument, {"compiled"}, [&] { load(options); });
  }
}

TEST_F(Compile, NamesWhatAnotherDeviceLacks) {
  ModelOptions half;
  half.precision = Precision::float16;
  Model::load(network_model, device_, half).compile({{"batch", 64}}, file_);
  const auto on_lesser = [&](const auto& take) {
    DeviceOptions options = device_options();
    take(options.restrictions);
    return [this, device = Device::open(options)] { (void)Model::load(file_, device); };
  };
  expect_error(ErrorCode::unsupported, {file_.string(), "16-bit storage", "compile the model again"},
               on_lesser([](DeviceRestrictions& it) { it.no_storage_16bit = true; }));
  expect_error(ErrorCode::unsupported, {"workgroups", "compile the model again"},
               on_lesser([](DeviceRestrictions& it) { it.max_group_invocations = 4; }));
  expect_error(ErrorCode::unsupported, {"allocates 4.0 KiB at once", "compile the model again"},
               on_lesser([](DeviceRestrictions& it) { it.max_allocation = 4096; }));
  EXPECT_NO_THROW(on_lesser([](DeviceRestrictions& it) { it.no_float64 = it.no_int64 = true; })());
}

TEST_F(Compile, NamesADamagedFile) {
  Model::load(layers_model, device_).compile({}, file_);
  const auto size = fs::file_size(file_);
  for (auto length = (size - 1) / 64 * 64; length >= 64; length -= 64) {
    fs::resize_file(file_, length);
    expect_error(ErrorCode::invalid_model, {file_.string(), "damaged"}, [&] { (void)Model::load(file_, device_); });
  }
  expect_error(ErrorCode::invalid_model, {file_.string(), "damaged"}, [&] { (void)describe_model(file_); });
}

// A file that was compiled is one that can be compiled: it becomes itself.
TEST_F(Compile, CopiesAProgramFile) {
  Model::load(layers_model, device_).compile({{"batch", 2}}, file_);
  const fs::path second = folder_ / "second.lapilli";
  Model::load(file_, device_).compile({}, second);
  const auto content = [](const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  EXPECT_EQ(content(second), content(file_));
  // In its own place too, where its pages are read while it is written.
  Model::load(file_, device_).compile({}, file_);
  EXPECT_EQ(content(second), content(file_));
}

}  // namespace
}  // namespace lapilli
