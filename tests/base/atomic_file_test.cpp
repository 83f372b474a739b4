#include "base/atomic_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <fstream>
#include <future>
#include <iterator>
#include <stdexcept>
#include <string>

#include "lapilli/error.h"

namespace lapilli {
namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_text(const fs::path& path, const std::string& text) {
  write_atomically(path, std::as_bytes(std::span(text)));
}

mode_t mode_of(const fs::path& path) {
  struct stat status{};
  EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777U;
}

class AtomicFile : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder); }
  void TearDown() override { fs::remove_all(folder); }

  [[nodiscard]] std::ptrdiff_t entries() const { return std::distance(fs::directory_iterator(folder), {}); }

  fs::path folder = fs::temp_directory_path() / ("lapilli_atomic_test." + std::to_string(getpid()));
  fs::path path = folder / "file";
};

TEST_F(AtomicFile, HasWhatIsWrittenInPiecesOfAllSizes) {
  std::string text;
  write_atomically(path, [&](std::ostream& file) {
    for (const std::size_t size : std::array<std::size_t, 8>{1, 70'000, 3, 65'535, 65'536, 65'537, 0, 9}) {
      const std::string piece(size, static_cast<char>('a' + size % 26));
      file << piece;
      text += piece;
      file.put('|');
      text += '|';
    }
  });
  EXPECT_EQ(content_of(path), text);
  EXPECT_EQ(entries(), 1);
}

TEST_F(AtomicFile, NewFilesHaveTheMaskedModeAndReplacedOnesKeepTheirs) {
  const mode_t mask = ::umask(027);
  write_text(path, "first");
  ::umask(mask);
  EXPECT_EQ(mode_of(path), 0640U);
  ASSERT_EQ(::chmod(path.c_str(), 0604), 0);
  write_text(path, "second");
  EXPECT_EQ(mode_of(path), 0604U);
  EXPECT_EQ(content_of(path), "second");
}

TEST_F(AtomicFile, LinksAreFollowed) {
  fs::create_directories(folder / "deep");
  fs::create_symlink("deep/link", path);
  fs::create_symlink("target", folder / "deep" / "link");
  for (const char* text : {"made", "replaced"}) {
    write_text(path, text);
    EXPECT_TRUE(fs::is_symlink(path) && fs::is_symlink(folder / "deep" / "link"));
    EXPECT_EQ(content_of(folder / "deep" / "target"), text);
  }
  fs::create_symlink("round", folder / "round");
  EXPECT_THROW(write_text(folder / "round", "nowhere"), Error);
  EXPECT_TRUE(fs::is_symlink(folder / "round"));
}

TEST_F(AtomicFile, PipesAreWrittenInto) {
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  auto text = std::async(std::launch::async, [&] { return content_of(path); });
  write_text(path, "through a pipe");
  EXPECT_EQ(text.get(), "through a pipe");
  EXPECT_TRUE(fs::is_fifo(path));
  EXPECT_EQ(entries(), 1);
}

TEST_F(AtomicFile, WhatFailsLeavesTheFileAndNamesTheReason) {
  write_text(path, "before");
  EXPECT_THROW(write_atomically(path,
                                [](std::ostream& file) {
                                  file << "after";
                                  throw std::runtime_error("not now");
                                }),
               std::runtime_error);
  EXPECT_EQ(content_of(path), "before");
  EXPECT_EQ(entries(), 1);
  const auto message = [](const fs::path& file) -> std::string {
    try {
      write_text(file, "text");
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::input_output);
      return error.what();
    }
    return "written";
  };
  EXPECT_EQ(message(folder), folder.string() + ": it cannot be written: Is a directory");
  EXPECT_EQ(message(path / "below"), (path / "below").string() + ": it cannot be written: Not a directory");
  EXPECT_EQ(message(folder / "no" / "file"),
            (folder / "no" / "file").string() + ": it cannot be written: No such file or directory");
  EXPECT_EQ(message(""), ": it cannot be written: No such file or directory");
}

TEST_F(AtomicFile, ANameMayBeAsLongAsNamesCanBe) {
  const fs::path longest = folder / std::string(255, 'n');
  write_text(longest, "text");
  EXPECT_EQ(content_of(longest), "text");
}

TEST_F(AtomicFile, AKilledProcessLeavesNothing) {
  const int unnamed = ::open(folder.c_str(), O_WRONLY | O_TMPFILE, 0600);
  if (unnamed < 0) GTEST_SKIP() << "this file system has no files without names";
  ::close(unnamed);
  write_text(path, "before");
  const pid_t process = ::fork();
  if (process == 0) {
    write_atomically(path, [](std::ostream& file) {
      file << std::string(100'000, 'x') << std::flush;
      (void)::raise(SIGKILL);
    });
  }
  int status = 0;
  ASSERT_EQ(::waitpid(process, &status, 0), process);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(content_of(path), "before");
  EXPECT_EQ(entries(), 1);
}

}  // namespace
}  // namespace lapilli
