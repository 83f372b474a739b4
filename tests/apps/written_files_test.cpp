#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <future>

#include "apps/program.h"
#include "io/npz.h"

namespace lapilli::testing {
namespace {

namespace fs = std::filesystem;

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

struct Writer {
  std::string command, option;
};
const std::vector<Writer> writers{{"run", "--output"}, {"compile", "--output"}, {"plan", "--html"}};

TEST(WrittenFiles, KeepTheirKindAndMode) {
  for (const auto& [command, option] : writers) {
    const std::string file = scratch_file(command + ".kept"), link = scratch_file(command + ".link");
    const std::string pipe = scratch_file(command + ".pipe");
    std::ofstream(file) << "before";
    ASSERT_EQ(::chmod(file.c_str(), 0604), 0);
    fs::create_symlink(file, link);
    ASSERT_EQ(run_program({command, data_file("affine.onnx"), option, link}).exit_code, 0) << command;
    EXPECT_TRUE(fs::is_symlink(link)) << command;
    EXPECT_EQ(fs::status(file).permissions(), fs::perms{0604}) << command;
    const std::string written = content_of(file);
    EXPECT_NE(written, "before");

    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    auto piped = std::async(std::launch::async, [&] { return content_of(pipe); });
    EXPECT_EQ(run_program({command, data_file("affine.onnx"), option, pipe}).exit_code, 0) << command;
    if (!fs::is_fifo(pipe)) {
      ADD_FAILURE() << command << " replaced a pipe";
      std::ofstream(pipe).close();
    }
    EXPECT_EQ(piped.get().size(), written.size()) << command;
    for (const std::string& each : {link, file, pipe}) fs::remove(each);
  }
}

TEST(WrittenFiles, AreNotTheModel) {
  const std::string model = scratch_file("model.onnx"), link = scratch_file("model_link.onnx");
  fs::copy_file(data_file("affine.onnx"), model, fs::copy_options::overwrite_existing);
  fs::create_symlink(model, link);
  for (const auto& [command, option] : writers) {
    for (const std::string& output : {model, link}) {
      const ProgramResult result = run_program({command, model, option, output});
      EXPECT_EQ(result.exit_code, 3) << command;
      EXPECT_TRUE(contains(result.errors, "it would be written over")) << result.errors;
    }
    EXPECT_EQ(content_of(model), content_of(data_file("affine.onnx"))) << command;
  }
  fs::remove(link);
}

TEST(WrittenFiles, TellWhyTheyCannotBe) {
  const std::string folder = scratch_file("a_folder");
  fs::create_directories(folder);
  for (const auto& [command, option] : writers) {
    const ProgramResult result = run_program({command, data_file("affine.onnx"), option, folder});
    EXPECT_EQ(result.exit_code, 3) << command;
    EXPECT_TRUE(contains(result.errors, folder + ": it cannot be written: Is a directory")) << result.errors;
  }
}

TEST(WrittenFiles, PrewarmFailsWhereNothingIsKept) {
  const std::string model = data_file("affine.onnx"), cache = scratch_file("cache"), file = scratch_file("no_folder");
  const ProgramResult kept = run_program({"prewarm", model}, {"XDG_CACHE_HOME=" + cache});
  EXPECT_EQ(kept.exit_code, 0) << kept.errors;
  ASSERT_EQ(std::distance(fs::directory_iterator(fs::path(cache) / "lapilli"), {}), 1);
  std::ofstream(file) << "a file";
  const ProgramResult refused = run_program({"prewarm", model}, {"XDG_CACHE_HOME=" + file});
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_TRUE(contains(refused.errors, file + "/lapilli: the folder cannot be made: Not a directory"))
      << refused.errors;

  // A pipe in place of the cache is neither waited for nor replaced, and runs do without it.
  const fs::path entry = fs::directory_iterator(fs::path(cache) / "lapilli")->path();
  fs::remove(entry);
  ASSERT_EQ(::mkfifo(entry.c_str(), 0600), 0);
  EXPECT_EQ(run_program({"run", model}, {"XDG_CACHE_HOME=" + cache}).exit_code, 0);
  const ProgramResult pipe = run_program({"prewarm", model}, {"XDG_CACHE_HOME=" + cache});
  EXPECT_EQ(pipe.exit_code, 3);
  EXPECT_TRUE(contains(pipe.errors, entry.string() + ": not a regular file")) << pipe.errors;
  EXPECT_TRUE(fs::is_fifo(entry));
}

}  // namespace
}  // namespace lapilli::testing
