#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <ostream>
#include <span>

namespace lapilli {

/// Makes or replaces a file with what `write` puts into the stream: readers and other writers never see a part of it,
/// and an interrupted process leaves the file as it was, with nothing beside it where the file system has files
/// without names. A file that is replaced keeps its mode, a link leads to what it led to, and a device or a pipe is
/// written into. Throws Error (input_output) that names the file and the system's reason, and what `write` throws;
/// the file is then as it was before.
void write_atomically(const std::filesystem::path& path, const std::function<void(std::ostream&)>& write);
void write_atomically(const std::filesystem::path& path, std::span<const std::byte> content);

}  // namespace lapilli
