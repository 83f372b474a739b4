#include "apps/program.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

namespace lapilli::testing {
namespace {

namespace fs = std::filesystem;

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

ProgramResult run(std::vector<std::string> words, std::vector<std::string> variables) {
  for (char** variable = environ; *variable != nullptr; ++variable) variables.emplace_back(*variable);
  const std::string output = scratch_file("stdout"), errors = scratch_file("stderr");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t process = 0;
  const int failure = posix_spawn(&process, words.front().c_str(), &actions, nullptr, pointers_to(words).data(),
                                  pointers_to(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  ProgramResult result;
  if (failure != 0) {
    ADD_FAILURE() << words.front() << " cannot be started";
    return result;
  }
  int status = 0;
  waitpid(process, &status, 0);
  result = {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), content_of(output), content_of(errors)};
  fs::remove(output);
  fs::remove(errors);
  return result;
}

}  // namespace

ProgramResult run_program(const std::vector<std::string>& arguments, const std::vector<std::string>& environment) {
  std::vector<std::string> words{LAPILLI_PROGRAM};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return run(std::move(words), environment);
}

ProgramResult run_shell(const std::string& line) {
  return run({"/bin/sh", "-c", line}, {std::string("lapilli=") + LAPILLI_PROGRAM});
}

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string data_file(const std::string& name) { return (fs::path(APPS_TEST_DATA) / name).string(); }

std::string scratch_file(const std::string& name) {
  const fs::path folder = fs::temp_directory_path() / ("lapilli_program_test_" + std::to_string(getpid()));
  fs::create_directories(folder);
  return (folder / name).string();
}

}  // namespace lapilli::testing
