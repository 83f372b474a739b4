#include "apps/program.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "io/npz.h"

namespace lapilli::testing {
namespace {

std::set<std::string> keys_of(const nlohmann::json& object) {
  std::set<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.insert(key);
  return keys;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Program, HelpTeachesByExamples) {
  const ProgramResult result = run_program({"--help"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(contains(result.output, "Exit codes:")) << result.output;
  for (const char* command : {"devices", "inspect", "plan", "run", "classify", "verify", "bench", "compile", "ops"}) {
    EXPECT_TRUE(contains(result.output, command)) << command;
    const ProgramResult help = run_program({command, "--help"});
    EXPECT_EQ(help.exit_code, 0);
    EXPECT_TRUE(contains(help.output, "JSON:")) << command;
    EXPECT_FALSE(contains(help.output, "\x1b")) << command;
  }
}

TEST(Program, WrongUsageIsTwo) {
  const std::string model = data_file("affine.onnx");
  const std::vector<std::vector<std::string>> lines{{},
                                                    {"nonsense"},
                                                    {"run"},
                                                    {"run", model, "--nonsense"},
                                                    {"run", model, "--size", "batch"},
                                                    {"run", model, "--size", "batch=-1"},
                                                    {"run", model, "--size", "batch=2x"},
                                                    {"run", model, "--precision", "float8"},
                                                    {"verify", model},
                                                    {"bench", model, "--batch", "0"}};
  for (const std::vector<std::string>& line : lines) {
    const ProgramResult result = run_program(line);
    EXPECT_EQ(result.exit_code, 2) << ::testing::PrintToString(line) << result.errors;
    EXPECT_TRUE(result.errors.starts_with("lapilli: ")) << result.errors;
    EXPECT_TRUE(result.output.empty()) << result.output;
  }
}

// Strings, and a map for each row, against ONNX Runtime.
TEST(Program, MapsAreKeysAndValues) {
  const std::string model = data_file("forest.onnx"), reference = data_file("forest_reference.npz");
  const ProgramResult verified = run_program({"verify", model, "--against", reference, "--json"});
  EXPECT_EQ(verified.exit_code, 0) << verified.output << verified.errors;
  EXPECT_EQ(nlohmann::json::parse(verified.output).at("outputs").size(), 3U);
  const std::string written = ::testing::TempDir() + "maps.npz";
  const ProgramResult result = run_program({"run", model, "--input", reference, "--output", written});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  const NamedTensors arrays = read_npz(written);
  EXPECT_EQ(arrays.at("probabilities.keys").strings()[2], "rose");
  EXPECT_EQ(arrays.at("probabilities.values").shape(), (std::vector<std::int64_t>{4, 3}));
  EXPECT_EQ(arrays.at("label").shape(), (std::vector<std::int64_t>{4}));
}

TEST(Program, UnusableModelsAreThreeAndNamed) {
  const ProgramResult missing = run_program({"run", "no_such_model.onnx"});
  EXPECT_EQ(missing.exit_code, 3);
  EXPECT_TRUE(contains(missing.errors, "lapilli: no_such_model.onnx")) << missing.errors;
  const ProgramResult damaged = run_program({"inspect", data_file("x.npy")});
  EXPECT_EQ(damaged.exit_code, 3);
  EXPECT_TRUE(contains(damaged.errors, "x.npy")) << damaged.errors;
  // Everything that is not supported is said at once.
  const ProgramResult unknown = run_program({"inspect", data_file("unknown.onnx")});
  EXPECT_EQ(unknown.exit_code, 3);
  EXPECT_TRUE(contains(unknown.errors, "First") && contains(unknown.errors, "Second")) << unknown.errors;
}

TEST(Program, WithoutADeviceItIsFour) {
  const ProgramResult result = run_program({"run", data_file("affine.onnx"), "--device", "no such device"});
  EXPECT_EQ(result.exit_code, 4) << result.errors;
  EXPECT_TRUE(contains(result.errors, "no such device")) << result.errors;
}

TEST(Program, DevicesAsJson) {
  const ProgramResult result = run_program({"devices", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  const auto devices = result.json().at("devices");
  ASSERT_FALSE(devices.empty());
  EXPECT_EQ(keys_of(devices.front()),
            (std::set<std::string>{"index", "name", "type", "driver", "vulkan", "uuid", "memory_bytes", "float16",
                                   "cooperative_matrix", "problem"}));
  // Each is found by its UUID.
  const std::string uuid = devices.front().at("uuid");
  EXPECT_EQ(run_program({"plan", data_file("affine.onnx"), "--device", uuid}).exit_code, 0);
}

TEST(Program, InspectAsJson) {
  const ProgramResult result = run_program({"inspect", data_file("affine.onnx"), "--size", "batch=4", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  const auto document = result.json();
  EXPECT_EQ(keys_of(document), (std::set<std::string>{"format", "inputs", "outputs", "nodes", "parameters",
                                                      "parameter_bytes", "operations", "sizes"}));
  EXPECT_EQ(document.at("inputs").front(),
            (nlohmann::json{{"name", "x"}, {"dtype", "float32"}, {"shape", {"batch", "3"}}}));
  EXPECT_EQ(document.at("parameters"), 6);
  EXPECT_EQ(document.at("parameter_bytes"), 24);
  EXPECT_EQ(document.at("sizes").at("batch"), 4);
  // Three nodes as it was read; fused, they are fewer, and still name all three.
  const auto plain = run_program({"inspect", data_file("affine.onnx"), "--unoptimised", "--json"}).json();
  EXPECT_EQ(plain.at("nodes").size(), 3);
  EXPECT_TRUE(contains(document.at("nodes").dump(), "scale") && contains(document.at("nodes").dump(), "clip"));
}

TEST(Program, PlanAsJson) {
  const ProgramResult result = run_program({"plan", data_file("affine.onnx"), "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  const auto document = result.json();
  for (const char* key : {"dispatches", "barriers", "levels", "pipelines", "arena_bytes", "lower_bound_bytes",
                          "unshared_bytes", "weight_bytes", "plan_ms"}) {
    EXPECT_TRUE(document.at(key).is_number()) << key;
  }
  EXPECT_FALSE(document.contains("steps"));
  const auto steps = run_program({"plan", data_file("affine.onnx"), "--steps", "--json"}).json().at("steps");
  EXPECT_GE(steps.size(), document.at("dispatches").get<std::size_t>());
}

// The other commands take what it writes in place of a model.
TEST(Program, CompileWritesAProgramFile) {
  const std::string file = scratch_file("affine.lapilli");
  const ProgramResult result = run_program({"compile", data_file("affine.onnx"), "--size", "batch=2", "--precision",
                                            "float16", "--output", file, "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  const auto document = result.json();
  EXPECT_EQ(keys_of(document),
            (std::set<std::string>{"device", "precision", "sizes", "output", "bytes", "dispatches", "ms"}));
  EXPECT_EQ(document.at("sizes"), (nlohmann::json{{"batch", 2}}));
  EXPECT_EQ(document.at("bytes"), std::filesystem::file_size(file));

  const ProgramResult run = run_program({"run", file, "--input", data_file("x.npy"), "--json"});
  ASSERT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_DOUBLE_EQ(run.json().at("outputs").front().at("mean").get<double>(), 1);
  const ProgramResult verified =
      run_program({"verify", file, "--against", data_file("affine_reference.npz"), "--json"});
  EXPECT_EQ(verified.exit_code, 0) << verified.output << verified.errors;
  EXPECT_EQ(verified.json().at("tolerance"), 0.01);
  const auto plan = run_program({"plan", file, "--json"}).json();
  EXPECT_EQ(plan.at("precision"), "float16");
  EXPECT_EQ(plan.at("structure_ms"), 0);
  const ProgramResult bench = run_program({"bench", file, "--seconds", "0.1", "--json"});
  EXPECT_EQ(bench.exit_code, 0) << bench.errors;
  const ProgramResult inspected = run_program({"inspect", file});
  EXPECT_EQ(inspected.exit_code, 0) << inspected.errors;
  EXPECT_TRUE(contains(inspected.output, "Lapilli program") && contains(inspected.output, "pointwise"))
      << inspected.output;

  const ProgramResult other = run_program({"run", file, "--size", "batch=3"});
  EXPECT_EQ(other.exit_code, 3);
  EXPECT_TRUE(contains(other.errors, "batch=2") && contains(other.errors, "batch=3")) << other.errors;
  EXPECT_EQ(run_program({"compile", data_file("affine.onnx")}).exit_code, 2);
  EXPECT_EQ(run_program({"compile", data_file("affine.onnx"), "--output", file + "/nowhere"}).exit_code, 3);
}

TEST(Program, PlanDrawsItsMemory) {
  const std::string page = scratch_file("memory.html");
  const ProgramResult result = run_program({"plan", data_file("affine.onnx"), "--html", page});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  std::ifstream file(page);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_TRUE(text.starts_with("<!DOCTYPE html>") && contains(text, "</svg>") && contains(text, "affine.onnx"))
      << text;
  const ProgramResult refused = run_program({"plan", data_file("affine.onnx"), "--html", page + "/nowhere"});
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_TRUE(contains(refused.errors, "memory.html/nowhere")) << refused.errors;
}

TEST(Program, SizesThatTheModelLacksAreNamed) {
  const ProgramResult result = run_program({"plan", data_file("affine.onnx"), "--size", "height=2"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_TRUE(contains(result.errors, "height") && contains(result.errors, "batch")) << result.errors;
}

// relu(x * (2, -1, 0.5) + (1, 0, -1)) of (1, 2, 4) and (-3, -2, 0), by hand: (3, 0, 1) and (0, 2, 0).
TEST(Program, RunReadsAllKindsOfFiles) {
  const std::vector<std::string> inputs{data_file("x.npy"), "x=" + data_file("x.npy"), data_file("x.pb"),
                                        data_file("affine_reference.npz")};
  for (const std::string& input : inputs) {
    const std::string output = scratch_file("result.npz");
    const ProgramResult result = run_program({"run", data_file("affine.onnx"), "--input", input, "--output", output});
    ASSERT_EQ(result.exit_code, 0) << input << result.errors;
    const Tensor y = read_npz(output).at("y").aligned();
    EXPECT_EQ(y.shape(), (std::vector<std::int64_t>{2, 3}));
    const auto elements = y.elements<float>();
    EXPECT_EQ(std::vector<float>(elements.begin(), elements.end()), (std::vector<float>{3, 0, 1, 0, 2, 0})) << input;
  }
}

TEST(Program, RunTellsStatistics) {
  const ProgramResult result =
      run_program({"run", data_file("affine.onnx"), "--input", data_file("x.npy"), "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  const auto output = result.json().at("outputs").front();
  EXPECT_EQ(output.at("name"), "y");
  EXPECT_EQ(output.at("shape"), (nlohmann::json{2, 3}));
  EXPECT_DOUBLE_EQ(output.at("mean").get<double>(), 1);
  EXPECT_EQ(output.at("min"), 0);
  EXPECT_EQ(output.at("max"), 3);
  EXPECT_EQ(output.at("not_finite"), 0);
}

TEST(Program, RandomInputsFollowTheSeed) {
  const auto run = [](const std::string& seed) {
    return run_program({"run", data_file("affine.onnx"), "--size", "batch=5", "--seed", seed, "--json"}).output;
  };
  EXPECT_EQ(run("1"), run("1"));
  EXPECT_NE(run("1"), run("2"));
  EXPECT_TRUE(contains(run("1"), "5"));
}

TEST(Program, RunsAgainAndComparesBits) {
  const ProgramResult text = run_program({"run", data_file("affine.onnx"), "--repeat", "25"});
  EXPECT_EQ(text.exit_code, 0) << text.errors;
  EXPECT_TRUE(contains(text.output, "25 runs gave the same bits")) << text.output;
  const auto document = run_program({"run", data_file("affine.onnx"), "--repeat", "2", "--json"}).json();
  EXPECT_EQ(document["runs"], 2);
  EXPECT_TRUE(document["differing_run"].is_null());
}

TEST(Program, WrongInputsAreThreeAndNamed) {
  const auto run = [](const std::string& model, const std::string& input) {
    const ProgramResult result = run_program({"run", data_file(model), "--input", input});
    EXPECT_EQ(result.exit_code, 3) << input << result.errors;
    return result.errors;
  };
  EXPECT_TRUE(contains(run("affine.onnx", "no_such_file.npy"), "no_such_file.npy"));
  EXPECT_TRUE(contains(run("affine.onnx", "z=" + data_file("x.npy")), "'z'"));
  const std::string integers = run("affine.onnx", data_file("x_integers.npy"));
  EXPECT_TRUE(contains(integers, "'x'") && contains(integers, "int64") && contains(integers, "float32")) << integers;
  const std::string columns = run("affine.onnx", data_file("x_four_columns.npy"));
  EXPECT_TRUE(contains(columns, "'x'") && contains(columns, "[2, 4]")) << columns;
  EXPECT_TRUE(contains(run("two_inputs.onnx", data_file("x.npy")), "left="));
  EXPECT_TRUE(contains(run("two_inputs.onnx", data_file("affine_reference.npz")), "'left', 'right'"));
}

TEST(Program, VerifyComparesWithAReference) {
  const ProgramResult right =
      run_program({"verify", data_file("affine.onnx"), "--against", data_file("affine_reference.npz"), "--json"});
  ASSERT_EQ(right.exit_code, 0) << right.output << right.errors;
  EXPECT_EQ(right.json().at("passed"), true);
  EXPECT_EQ(right.json().at("outputs").front().at("name"), "y");
  EXPECT_LE(right.json().at("outputs").front().at("relative_error").get<double>(), 1e-6);

  const ProgramResult wrong =
      run_program({"verify", data_file("affine.onnx"), "--against", data_file("affine_wrong.npz"), "--json"});
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_EQ(wrong.json().at("passed"), false);
  // ‖0.01, six times‖ over ‖(3, 0, 1, 0, 2, 0) + 0.01‖
  EXPECT_NEAR(wrong.json().at("outputs").front().at("relative_error").get<double>(), 0.0244949 / 3.7577, 1e-5);
  EXPECT_EQ(run_program({"verify", data_file("affine.onnx"), "--against", data_file("affine_wrong.npz"),
                         "--tolerance", "0.01"})
                .exit_code,
            0);
}

TEST(Program, VerifyTakesWhatRunWrote) {
  const std::string file = scratch_file("round_trip.npz");
  ASSERT_EQ(run_program({"run", data_file("two_inputs.onnx"), "--output", file, "--with-inputs"}).exit_code, 0);
  EXPECT_EQ(run_program({"verify", data_file("two_inputs.onnx"), "--against", file, "--tolerance", "1e-9"}).exit_code,
            0);
  const ProgramResult other = run_program({"verify", data_file("affine.onnx"), "--against", file});
  EXPECT_EQ(other.exit_code, 3);
  EXPECT_TRUE(contains(other.errors, "in:x")) << other.errors;
}

TEST(Program, BenchAsJson) {
  const ProgramResult result =
      run_program({"bench", data_file("affine.onnx"), "--batch", "8", "--seconds", "0.1", "--profile", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  const auto document = result.json();
  EXPECT_EQ(document.at("sizes").at("batch"), 8);
  EXPECT_EQ(document.at("precision"), "float32");
  for (const char* key : {"first_ms", "median_ms", "p95_ms", "submit_ms", "gpu_ms"})
    EXPECT_GT(document.at(key).get<double>(), 0) << key;
  EXPECT_GE(document.at("p95_ms").get<double>(), document.at("median_ms").get<double>());
  ASSERT_FALSE(document.at("profile").empty());
  EXPECT_EQ(keys_of(document.at("profile").front()), (std::set<std::string>{"origin", "kernel", "dispatches", "ms"}));

  const ProgramResult fixed = run_program({"bench", data_file("two_inputs.onnx"), "--batch", "8"});
  EXPECT_EQ(fixed.exit_code, 3);
  EXPECT_TRUE(contains(fixed.errors, "fixed")) << fixed.errors;
}

TEST(Program, OperatorsAsJson) {
  const ProgramResult result = run_program({"ops", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  const nlohmann::json operators = result.json().at("operators");
  const auto place_of = [&](const std::string& name) -> std::string {
    for (const nlohmann::json& each : operators) {
      if (each.at("name") == name && each.at("domain").get<std::string>().empty()) return each.at("runs_on");
    }
    return "nowhere";
  };
  EXPECT_EQ(place_of("Conv"), "device");
  EXPECT_EQ(place_of("Loop"), "host");
  EXPECT_EQ(place_of("Convolve"), "nowhere");
  EXPECT_EQ(keys_of(operators[0]),
            (std::set<std::string>{"domain", "name", "versions", "input_types", "runs_on", "reason"}));
}

TEST(Program, StrictRunsNameWhatTheHostWouldDo) {
  const std::string model = std::string(ONNX_TESTDATA) + "/node/test_if/model.onnx";
  const ProgramResult refused = run_program({"inspect", model, "--strict"});
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_TRUE(contains(refused.errors, "(If): the host decides what runs next")) << refused.errors;
  EXPECT_EQ(run_program({"inspect", model}).exit_code, 0);
}

}  // namespace
}  // namespace lapilli::testing
