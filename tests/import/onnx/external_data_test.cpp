#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "lapilli/error.h"
#include "sample_model.h"

namespace lapilli::onnx {
namespace {

namespace fs = std::filesystem;
using Entries = std::vector<std::pair<std::string, std::string>>;

Message model_with(const std::vector<Message>& tensors) {
  return model(graph({.nodes = {}, .inputs = {}, .outputs = {}, .initializers = tensors, .sparse_initializers = {}}));
}

Message model_with(const Entries& entries) { return model_with({external_tensor("w", proto::uint8, {4}, entries)}); }

std::string error_of(const fs::path& file) {
  try {
    (void)read_model(file);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

std::string text_of(const Tensor& tensor) {
  return {reinterpret_cast<const char*>(tensor.bytes().data()), tensor.bytes().size()};
}

class ExternalData : public testing::Test {
 protected:
  fs::path write_model(const Entries& entries) { return folder_.write("in/model.onnx", model_with(entries).bytes()); }

  TemporaryFolder folder_;
};

TEST_F(ExternalData, IsReadAtItsOffset) {
  folder_.write("in/weights.bin", "0123456789");
  folder_.write("in/below/weights.bin", "abcdefgh");
  const fs::path file = folder_.write(
      "in/model.onnx",
      model_with(
          {external_tensor("v", proto::uint8, {4}, {{"location", "weights.bin"}}),
           external_tensor("w", proto::uint8, {4}, {{"location", "weights.bin"}, {"offset", "6"}, {"length", "4"}}),
           external_tensor("x", proto::uint8, {2}, {{"location", "below/weights.bin"}, {"offset", "3"}})})
          .bytes());
  const auto initializers = read_model(file).graph.initializers;
  EXPECT_EQ(text_of(initializers.at("v")), "0123");
  EXPECT_EQ(text_of(initializers.at("w")), "6789");
  EXPECT_EQ(text_of(initializers.at("x")), "de");
  // One mapping serves both.
  EXPECT_EQ(initializers.at("w").bytes().data() - initializers.at("v").bytes().data(), 6);
}

TEST_F(ExternalData, EndsWithinTheFile) {
  folder_.write("in/weights.bin", "0123456789");
  const std::string past = error_of(write_model({{"location", "weights.bin"}, {"offset", "7"}}));
  for (const std::string_view part : {"tensor 'w'", "4 bytes at offset 7", "weights.bin", "10 bytes"})
    EXPECT_NE(past.find(part), std::string::npos) << past;
  for (const std::string offset : {"18446744073709551615", "11", "-1", "18446744073709551616", "", "1x"})
    EXPECT_NE(error_of(write_model({{"location", "weights.bin"}, {"offset", offset}})), "") << offset;
  EXPECT_NE(error_of(write_model({{"location", "weights.bin"}, {"length", "5"}})).find("takes 4 bytes"),
            std::string::npos);
}

TEST_F(ExternalData, NeverLeavesTheFolder) {
  const fs::path secret = folder_.write("secret.bin", "0123456789");
  folder_.write("in/weights.bin", "0123456789");
  fs::create_symlink("../secret.bin", folder_.path() / "in/link.bin");
  fs::create_directory_symlink("..", folder_.path() / "in/up");
  fs::create_directory(folder_.path() / "in/folder");
  for (const std::string& location :
       {std::string("../secret.bin"), secret.string(), std::string("a/../../secret.bin"), std::string("link.bin"),
        std::string("up/secret.bin"), std::string("folder"), std::string("."), std::string(),
        std::string("absent.bin"), std::string("weights.bin\0", 12)}) {
    EXPECT_NE(error_of(write_model({{"location", location}})).find("tensor 'w'"), std::string::npos) << location;
  }
  EXPECT_EQ(error_of(write_model({{"location", "weights.bin"}})), "");
}

TEST_F(ExternalData, PipesAreNotWaitedFor) {
  fs::create_directory(folder_.path() / "in");
  ASSERT_EQ(::mkfifo((folder_.path() / "in/pipe").c_str(), 0600), 0);
  EXPECT_NE(error_of(write_model({{"location", "pipe"}})).find("not a regular file"), std::string::npos);
  EXPECT_NE(error_of(folder_.path() / "in/pipe").find("not a regular file"), std::string::npos);
}

TEST_F(ExternalData, LinkedModelsFindLinkedData) {
  // As download caches lay out files: one folder of links, one of contents.
  folder_.write("blobs/1", model_with({{"location", "weights.bin"}}).bytes());
  folder_.write("blobs/2", "0123");
  fs::create_directory(folder_.path() / "snapshot");
  fs::create_symlink("../blobs/1", folder_.path() / "snapshot/model.onnx");
  fs::create_symlink("../blobs/2", folder_.path() / "snapshot/weights.bin");
  EXPECT_EQ(text_of(read_model(folder_.path() / "snapshot/model.onnx").graph.initializers.at("w")), "0123");
}

TEST_F(ExternalData, ModelsInMemoryNeedAFolder) {
  folder_.write("weights.bin", "0123");
  const Message message = model_with({{"location", "weights.bin"}});
  EXPECT_NE(read_error(message).find("without the folder"), std::string::npos);
  ReadOptions options;
  options.folder = folder_.path();
  EXPECT_EQ(text_of(read(message, options).graph.initializers.at("w")), "0123");
}

TEST_F(ExternalData, MissingModelsAreNamed) {
  EXPECT_NE(error_of(folder_.path() / "absent.onnx").find("absent.onnx"), std::string::npos);
  EXPECT_NE(error_of(folder_.path()).find("not a regular file"), std::string::npos);
}

}  // namespace
}  // namespace lapilli::onnx
