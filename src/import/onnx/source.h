#pragma once

#include <filesystem>
#include <format>
#include <new>
#include <span>
#include <string_view>

#include "base/failure.h"
#include "base/mapped_file.h"
#include "import/onnx/reader.h"
#include "import/onnx/tensor_reader.h"

namespace lapilli::onnx {

/// What is read from: the bytes of a file, and what its tensors share.
struct Source {
  std::span<const std::byte> bytes;
  TensorSource tensors;
  std::shared_ptr<const MappedFile> file;  ///< none for bytes in memory
};

/// A mapped file.
Source open_source(const std::filesystem::path& path, const ReadOptions& options);

/// Bytes in memory, copied when nobody owns them.
Source memory_source(std::span<const std::byte> bytes, std::shared_ptr<const void> owner, const ReadOptions& options);

/// Runs `action`, which reads the file `name`. Every error names the file, and what is wrong with the file's content
/// is invalid_model.
template <class Action>
decltype(auto) reading(std::string_view name, Action&& action) {
  try {
    return std::forward<Action>(action)();
  } catch (const Error& error) {
    const bool is_content = error.code() == ErrorCode::invalid_argument || error.code() == ErrorCode::limit_exceeded;
    fail(is_content ? ErrorCode::invalid_model : error.code(), "{}: {}", name, error.what());
  } catch (const std::bad_alloc&) {
    fail(ErrorCode::out_of_memory, "{}: not enough memory to read it", name);
  }
}

}  // namespace lapilli::onnx
