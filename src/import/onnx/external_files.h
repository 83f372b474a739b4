#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "base/mapped_file.h"

namespace lapilli::onnx {

/// The files beside a model that hold its external data, each mapped once.
///
/// Only regular files in the model's folder or below it are opened. A model's folder is where its path lies and, when
/// the path is a symbolic link, also where the file itself lies: download caches link both the model and its data
/// from one folder into another.
class ExternalFiles {
 public:
  /// No external data can be opened: the model did not come from a folder.
  ExternalFiles() = default;

  /// `folder` holds the model. Throws Error (input_output) when it does not exist.
  static ExternalFiles in_folder(const std::filesystem::path& folder);

  /// The folder, or folders, of the model in this file.
  static ExternalFiles beside(const std::filesystem::path& model);

  /// The file that a model calls `location`. Throws Error (invalid_model) for a location outside the model's folder
  /// and Error (input_output) for a file that cannot be read.
  std::shared_ptr<const MappedFile> open(std::string_view location);

  /// All files opened so far.
  [[nodiscard]] std::vector<std::shared_ptr<const MappedFile>> opened() const;

 private:
  [[nodiscard]] bool contain(const std::filesystem::path& file) const;

  std::vector<std::filesystem::path> folders_;  // canonical; locations are relative to the first
  std::map<std::filesystem::path, std::shared_ptr<const MappedFile>> files_;
};

}  // namespace lapilli::onnx
