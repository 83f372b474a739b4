#pragma once

#include <filesystem>
#include <functional>
#include <ostream>

namespace lapilli {

/// Makes or replaces a file with what `write` puts into the stream: under a temporary name beside it, which is then
/// renamed, so that readers and other writers never see a part of it. Throws Error (input_output) that names the file
/// when that fails, and what `write` throws; the file is then as it was before.
void write_atomically(const std::filesystem::path& path, const std::function<void(std::ostream&)>& write);

}  // namespace lapilli
