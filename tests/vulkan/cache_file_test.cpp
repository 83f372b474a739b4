#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <thread>

#include "lapilli/error.h"
#include "vulkan/pipeline_cache_file.h"

namespace lapilli {
namespace {

namespace fs = std::filesystem;

class CacheFile : public testing::Test {
 protected:
  void SetUp() override {
    key.vendor_id = 0x10DE;
    key.kernels_hash = 42;
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i * 7);
    store_pipeline_cache(path, key, data);
  }
  void TearDown() override { fs::remove_all(folder); }

  fs::path folder = fs::temp_directory_path() / ("lapilli_cache_test." + std::to_string(getpid()));
  PipelineCacheKey key;
  std::vector<std::byte> data = std::vector<std::byte>(300);
  fs::path path = pipeline_cache_path(folder / "made" / "here", key);
};

TEST_F(CacheFile, ComesBack) {
  EXPECT_EQ(load_pipeline_cache(path, key), data);
  store_pipeline_cache(path, key, std::span(data).first(10));
  EXPECT_EQ(load_pipeline_cache(path, key).size(), 10U);
}

TEST_F(CacheFile, IsAMissForAnyOtherKey) {
  PipelineCacheKey other = key;
  other.driver_version = 1;
  EXPECT_TRUE(load_pipeline_cache(path, other).empty());
  EXPECT_NE(pipeline_cache_path(folder, other), pipeline_cache_path(folder, key));
  other = key;
  other.kernels_hash = 43;
  EXPECT_TRUE(load_pipeline_cache(path, other).empty());
  other = key;
  other.pipeline_cache_uuid[31] = 'f';
  EXPECT_TRUE(load_pipeline_cache(path, other).empty());
}

TEST_F(CacheFile, IsAMissWhenMissingOrCutAtAnyByte) {
  EXPECT_TRUE(load_pipeline_cache(folder / "nothing", key).empty());
  EXPECT_TRUE(load_pipeline_cache(folder, key).empty());
  const auto size = fs::file_size(path);
  for (auto length = size; length-- > 0;) {
    fs::resize_file(path, length);
    ASSERT_TRUE(load_pipeline_cache(path, key).empty()) << length;
  }
}

TEST_F(CacheFile, IsAMissWhenAnyByteIsDamaged) {
  const auto size = fs::file_size(path);
  for (std::uintmax_t at = 0; at < size; ++at) {
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekg(static_cast<std::streamoff>(at));
    const int byte = file.get();
    file.seekp(static_cast<std::streamoff>(at));
    file.put(static_cast<char>(byte ^ 0x40));
    file.flush();
    ASSERT_TRUE(load_pipeline_cache(path, key).empty()) << at;
    file.seekp(static_cast<std::streamoff>(at));
    file.put(static_cast<char>(byte));
  }
  EXPECT_EQ(load_pipeline_cache(path, key), data);
}

TEST_F(CacheFile, IsNeverSeenHalfWritten) {
  std::vector<std::jthread> writers;
  for (int w = 0; w < 2; ++w) {
    writers.emplace_back([this] {
      for (int i = 0; i < 50; ++i) store_pipeline_cache(path, key, data);
    });
  }
  for (int i = 0; i < 200; ++i) ASSERT_EQ(load_pipeline_cache(path, key), data);
  writers.clear();
  EXPECT_EQ(std::distance(fs::directory_iterator(path.parent_path()), fs::directory_iterator()), 1);
}

TEST_F(CacheFile, IsAMissWhenZeroed) {
  const auto size = fs::file_size(path);
  std::ofstream(path, std::ios::binary | std::ios::trunc) << std::string(size, '\0');
  EXPECT_TRUE(load_pipeline_cache(path, key).empty());
}

TEST_F(CacheFile, IsWholeWhenTwoProcessesWriteIt) {
  // Of different lengths, so that a mixture of both would show.
  const auto of_process = [&](int number) { return std::span(data).first(number == 0 ? 300 : 77); };
  store_pipeline_cache(path, key, of_process(0));  // before that there is none to load
  std::vector<pid_t> processes;
  for (int number = 0; number < 2; ++number) {
    processes.push_back(fork());
    if (processes.back() != 0) continue;
    for (int i = 0; i < 200; ++i) store_pipeline_cache(path, key, of_process(number));
    _exit(0);
  }
  for (int i = 0; i < 300; ++i) {
    const std::vector<std::byte> loaded = load_pipeline_cache(path, key);
    EXPECT_TRUE(std::ranges::equal(loaded, of_process(0)) || std::ranges::equal(loaded, of_process(1)));
  }
  for (const pid_t process : processes) {
    int status = 0;
    EXPECT_EQ(waitpid(process, &status, 0), process);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(path.parent_path()), fs::directory_iterator()), 1);
}

TEST_F(CacheFile, CannotBeWrittenIsNamed) {
  const auto message = [&](const fs::path& file) -> std::string {
    try {
      store_pipeline_cache(file, key, data);
    } catch (const Error& error) {
      return error.what();
    }
    return "written";
  };
  EXPECT_EQ(message(path / "below a file"), path.string() + ": the folder cannot be made: Not a directory");
  // A pipe is neither waited for nor replaced.
  const fs::path pipe = folder / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_TRUE(load_pipeline_cache(pipe, key).empty());
  EXPECT_EQ(message(pipe), pipe.string() + ": not a regular file");
  EXPECT_TRUE(fs::is_fifo(pipe));
}

}  // namespace
}  // namespace lapilli
