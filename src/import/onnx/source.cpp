#include "import/onnx/source.h"

#include <vector>

namespace lapilli::onnx {
namespace {

Source make_source(std::span<const std::byte> bytes, std::shared_ptr<const void> owner, ExternalFiles external_files,
                   const ReadOptions& options) {
  constexpr std::string_view large_file_pointer = "version https://git-lfs";
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.starts_with(large_file_pointer)) {
    fail(ErrorCode::invalid_model, "this is a Git LFS pointer, not the file itself: fetch that with 'git lfs pull'");
  }
  return {.bytes = bytes,
          .tensors = {.owner = std::move(owner),
                      .external_files = std::move(external_files),
                      .copy_unaligned_below = options.copy_unaligned_below,
                      .sparse_bytes_left = options.sparse_bytes},
          .file = nullptr};
}

}  // namespace

Source open_source(const std::filesystem::path& path, const ReadOptions& options) {
  std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  const std::span<const std::byte> bytes = file->bytes();
  return with_context(path.string(), [&] {
    Source source = make_source(bytes, file, ExternalFiles::beside(path), options);
    source.file = std::move(file);
    return source;
  });
}

Source memory_source(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                     const ReadOptions& options) {
  if (owner == nullptr) {
    auto copy = std::make_shared<const std::vector<std::byte>>(bytes.begin(), bytes.end());
    bytes = *copy;
    owner = std::move(copy);
  }
  ExternalFiles external_files;
  if (!options.folder.empty()) external_files = ExternalFiles::in_folder(options.folder);
  return with_context(options.name,
                      [&] { return make_source(bytes, std::move(owner), std::move(external_files), options); });
}

}  // namespace lapilli::onnx
