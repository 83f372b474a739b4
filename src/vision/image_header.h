#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace lapilli {

/// What the first bytes of an image file say, read before a decoder allocates anything.
struct ImageHeader {
  std::string_view format;  ///< "PNG", "JPEG", ...
  std::uint64_t width = 0;
  std::uint64_t height = 0;
  bool complete = true;  ///< false when the file certainly ends before its picture does
};

/// Nothing when the bytes are none of the formats that Lapilli reads. Throws Error (invalid_argument) when they begin
/// as one and then break its rules.
std::optional<ImageHeader> read_image_header(std::span<const std::byte> file);

}  // namespace lapilli
