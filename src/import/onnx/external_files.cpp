#include "import/onnx/external_files.h"

#include <algorithm>
#include <system_error>

#include "base/failure.h"
#include "import/onnx/model.h"

namespace lapilli::onnx {
namespace {

std::filesystem::path canonical_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::path result = std::filesystem::canonical(folder.empty() ? "." : folder, error);
  if (error) fail(ErrorCode::input_output, "{}: {}", folder.string(), error.message());
  return result;
}

std::filesystem::path relative_location(std::string_view location) {
  if (location.empty()) fail(ErrorCode::invalid_model, "its external data has no location");
  if (location.contains('\0')) fail(ErrorCode::invalid_model, "the location of its external data has a zero byte");
  std::filesystem::path path(location);
  const bool climbs = std::ranges::any_of(path, [](const auto& part) { return part == ".."; });
  if (path.is_absolute() || climbs) {
    fail(ErrorCode::invalid_model,
         "its external data lies in {}; only files in the model's folder, or below it, are read",
         name_text(location));
  }
  return path;
}

}  // namespace

ExternalFiles ExternalFiles::in_folder(const std::filesystem::path& folder) {
  ExternalFiles result;
  result.folders_.push_back(canonical_folder(folder));
  return result;
}

ExternalFiles ExternalFiles::beside(const std::filesystem::path& model) {
  ExternalFiles result = in_folder(model.parent_path());
  std::error_code error;
  const std::filesystem::path target = std::filesystem::canonical(model, error);
  if (!error && target.parent_path() != result.folders_.front()) result.folders_.push_back(target.parent_path());
  return result;
}

std::shared_ptr<const MappedFile> ExternalFiles::open(std::string_view location) {
  if (folders_.empty()) {
    fail(ErrorCode::invalid_argument,
         "its external data lies in {}, but the model was given as bytes without the folder that it belongs to",
         name_text(location));
  }
  const std::filesystem::path path = folders_.front() / relative_location(location);
  std::error_code error;
  const std::filesystem::path file = std::filesystem::canonical(path, error);
  if (error) fail(ErrorCode::input_output, "its external data, {}: {}", name_text(path.string()), error.message());
  if (!contain(file)) {
    fail(ErrorCode::invalid_model, "its external data, {}, is a link to {}, outside the model's folder",
         name_text(location), name_text(file.string()));
  }
  if (const auto known = files_.find(file); known != files_.end()) return known->second;
  if (!std::filesystem::is_regular_file(file, error)) {
    fail(ErrorCode::input_output, "its external data, {}, is not a regular file", name_text(path.string()));
  }
  return files_.emplace(file, MappedFile::open(file)).first->second;
}

std::vector<std::shared_ptr<const MappedFile>> ExternalFiles::opened() const {
  std::vector<std::shared_ptr<const MappedFile>> files;
  for (const auto& [path, file] : files_) files.push_back(file);
  return files;
}

bool ExternalFiles::contain(const std::filesystem::path& file) const {
  return std::ranges::any_of(folders_, [&](const std::filesystem::path& folder) {
    return std::ranges::mismatch(folder, file).in1 == folder.end();
  });
}

}  // namespace lapilli::onnx
