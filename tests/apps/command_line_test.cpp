#include <gtest/gtest.h>

#include "apps/program.h"

namespace lapilli::testing {
namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

struct Refused {
  std::vector<std::string> words;  ///< after the model
  std::string message;
};

TEST(CommandLine, WhatIsWrongIsSaidInWords) {
  const std::string model = data_file("affine.onnx");
  const std::vector<std::pair<std::string, Refused>> lines{
      {"run", {{"--precision", "f64"}, "--precision: 'f64' is not one of float32, float16, fp32, fp16"}},
      {"run", {{"--repeat", "0"}, "--repeat: '0' is not a whole number from 1 to 2147483647"}},
      {"run", {{"--repeat", "99999999999"}, "--repeat: '99999999999' is not a whole number from 1 to 2147483647"}},
      {"run", {{"--memory-budget", "0"}, "--memory-budget: '0' is not a whole number from 1 to 1073741824"}},
      {"bench", {{"--batch", "0"}, "--batch: '0' is not a whole number of 1 or more"}},
      {"bench", {{"--batch", "2.5"}, "--batch: '2.5' is not a whole number of 1 or more"}},
      {"bench", {{"--seconds", "nan"}, "--seconds: 'nan' is not a number above 0"}},
      {"bench", {{"--seconds", "inf"}, "--seconds: 'inf' is not a number above 0"}},
      {"verify", {{"--against", "r.npz", "--tolerance", "nan"}, "--tolerance: 'nan' is not a number above 0"}},
      {"verify", {{"--against", "r.npz", "--tolerance", "-1"}, "--tolerance: '-1' is not a number above 0"}},
      {"classify", {{"a.png", "--top", "0"}, "--top: '0' is not a whole number of 1 or more"}},
      {"classify", {{"a.png", "--threshold", "nan"}, "--threshold: 'nan' is not a number from 0 to 1"}},
      {"classify", {{"a.png", "--threshold", "1.5"}, "--threshold: '1.5' is not a number from 0 to 1"}},
      {"run", {{"--output", ""}, "--output: the text is empty"}},
      {"run", {{"--device", ""}, "--device: the text is empty"}},
      {"plan", {{"--html", ""}, "--html: the text is empty"}},
      {"run", {{"--size", "batch=2", "--size", "batch=3"}, "--size: 'batch' is given as 2 and as 3"}},
  };
  for (const auto& [command, refused] : lines) {
    std::vector<std::string> words{command, model};
    words.insert(words.end(), refused.words.begin(), refused.words.end());
    const ProgramResult result = run_program(words);
    EXPECT_EQ(result.exit_code, 2) << ::testing::PrintToString(words);
    EXPECT_EQ(result.errors, "lapilli: " + refused.message + "\nlapilli: --help tells how it is used\n");
  }
  EXPECT_EQ(run_program({"plan", model, "--size", "batch=2", "--size", "batch=2"}).exit_code, 0);
  EXPECT_EQ(run_program({"plan", model, "--precision", "FP16"}).exit_code, 0);
}

TEST(CommandLine, UnknownCommandsAreNamed) {
  const auto first_line = [](const std::string& word) {
    const ProgramResult result = run_program({word});
    EXPECT_EQ(result.exit_code, 2) << word;
    return result.errors.substr(0, result.errors.find('\n'));
  };
  EXPECT_EQ(first_line("bogus"),
            "lapilli: there is no command 'bogus'; the commands are devices, inspect, plan, run, classify, verify, "
            "bench, compile, prewarm, ops");
  EXPECT_EQ(first_line("comiple"), "lapilli: there is no command 'comiple'; a similar one is compile");
  EXPECT_EQ(first_line("dev"), "lapilli: there is no command 'dev'; a similar one is devices");
  EXPECT_EQ(first_line("--nonsense"), "lapilli: A subcommand is required");
}

TEST(CommandLine, HelpNamesTheWordsOfAnOption) {
  const std::string help = run_program({"run", "--help"}).output;
  EXPECT_TRUE(contains(help, "--precision PRECISION [float32]")) << help;
  EXPECT_TRUE(contains(help, "float32 or float16 (fp32, fp16)")) << help;
  for (const char* command :
       {"devices", "inspect", "plan", "run", "classify", "verify", "bench", "compile", "prewarm"}) {
    const std::string text = run_program({command, "--help"}).output;
    EXPECT_FALSE(contains(text, "{") && contains(text, "->")) << text;
    EXPECT_FALSE(contains(text, "e-308") || contains(text, " in [")) << text;
  }
}

TEST(CommandLine, TellsItsVersion) {
  const ProgramResult result = run_program({"--version"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.output, "lapilli " LAPILLI_VERSION "\n");
}

// What is printed has to arrive, whatever prints it.
TEST(CommandLine, StdoutThatCannotBeWrittenIsAFailure) {
  const std::string model = data_file("affine.onnx");
  for (const std::string& line : {std::string("--help"), std::string("--version"), std::string("run --help"),
                                  std::string("devices"), std::string("devices --json"), std::string("ops"),
                                  std::string("ops --json"), "inspect " + model, "run " + model + " --json"}) {
    const ProgramResult full = run_shell("\"$lapilli\" " + line + " > /dev/full");
    EXPECT_EQ(full.exit_code, 3) << line;
    EXPECT_TRUE(full.errors.ends_with("lapilli: stdout cannot be written: No space left on device\n")) << full.errors;
    const ProgramResult closed = run_shell("\"$lapilli\" " + line + " >&-");
    EXPECT_EQ(closed.exit_code, 3) << line;
    EXPECT_TRUE(closed.errors.ends_with("lapilli: stdout cannot be written: Bad file descriptor\n")) << closed.errors;
  }
  // A reader that has seen enough.
  const ProgramResult reader = run_shell("{ \"$lapilli\" ops --json; echo $? >&2; } | head -n 1");
  EXPECT_TRUE(contains(reader.output, "{")) << reader.output;
  EXPECT_NE(reader.errors, "0\n");
}

TEST(CommandLine, ModelsThatRunInPartsTakeSizes) {
  const std::string model = data_file("nonzero.onnx");
  const ProgramResult run = run_program({"run", model, "--size", "batch=5", "--json"});
  ASSERT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_EQ(run.json().at("outputs")[0].at("shape"), (nlohmann::json{2, 15}));  // random floats are not 0
  using Words = std::vector<std::string>;
  for (const auto& [words, batch] :
       {std::pair{Words{"--batch", "2"}, 2}, {Words{"--size", "batch=2"}, 2}, {Words{}, 1}}) {
    Words all{"bench", model, "--seconds", "0.01", "--json"};
    all.insert(all.end(), words.begin(), words.end());
    const ProgramResult bench = run_program(all);
    ASSERT_EQ(bench.exit_code, 0) << bench.errors;
    EXPECT_EQ(bench.json().at("sizes"), (nlohmann::json{{"batch", batch}}));
  }
  for (const char* command : {"run", "bench"}) {
    const ProgramResult unknown = run_program({command, model, "--size", "height=2"});
    EXPECT_EQ(unknown.exit_code, 3);
    EXPECT_TRUE(contains(unknown.errors, "'height'") && contains(unknown.errors, "batch")) << unknown.errors;
  }
  const ProgramResult compiled = run_program({"compile", model, "--output", scratch_file("parts.lapilli")});
  EXPECT_EQ(compiled.exit_code, 3);
  EXPECT_TRUE(contains(compiled.errors, "planned part by part while it runs. Run the model itself"))
      << compiled.errors;
}

TEST(CommandLine, SizesOfABenchAreAllSizes) {
  const std::string model = data_file("affine.onnx");
  const ProgramResult result = run_program({"bench", model, "--seconds", "0.01", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(result.json().at("sizes"), (nlohmann::json{{"batch", 1}}));
  const ProgramResult both = run_program({"bench", model, "--batch", "2", "--size", "batch=3"});
  EXPECT_EQ(both.exit_code, 3);
  EXPECT_TRUE(contains(both.errors, "--batch 2 and --size batch=3 contradict each other")) << both.errors;
}

TEST(CommandLine, AnInputIsGivenOnce) {
  const std::string x = data_file("x.npy");
  const ProgramResult twice = run_program({"run", data_file("affine.onnx"), "--input", x, "--input", "x=" + x});
  EXPECT_EQ(twice.exit_code, 3);
  EXPECT_TRUE(contains(twice.errors, "input 'x' is given twice")) << twice.errors;
}

TEST(CommandLine, AnInputOfAnotherRankIsToldTheShape) {
  const ProgramResult result =
      run_program({"run", data_file("two_inputs.onnx"), "--input", "left=" + data_file("x.npy")});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_TRUE(contains(result.errors, "input 'left' takes float32[2], but float32[2, 3] is given")) << result.errors;
}

TEST(CommandLine, OutputsWithoutElementsHaveNoStatistics) {
  const ProgramResult result = run_program({"run", data_file("affine.onnx"), "--size", "batch=0", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  for (const char* key : {"mean", "min", "max", "not_finite"}) {
    EXPECT_TRUE(result.json().at("outputs")[0].at(key).is_null()) << key;
  }
}

}  // namespace
}  // namespace lapilli::testing
