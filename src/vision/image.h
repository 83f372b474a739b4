#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace lapilli {

/// A picture in host memory: rows from top to bottom without gaps, three interleaved channels R, G, B of 0 to 255.
struct Image {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> pixels;  ///< 3 * width * height
};

struct DecodeLimits {
  std::uint64_t file_bytes = std::uint64_t{1} << 29U;
  std::uint64_t pixels = std::uint64_t{1} << 27U;  ///< width * height
};

/// Reads a PNG, JPEG, JPEG 2000, WebP, BMP, TIFF or PNM file as a viewer shows it: turned as its EXIF data say, grey
/// and palette expanded, alpha dropped, 16 bits cut to 8. Throws Error that names the file: input_output when it
/// cannot be read, unsupported for another format, invalid_argument when it is damaged or ends early, limit_exceeded
/// past a limit.
Image decode_image(const std::filesystem::path& path, const DecodeLimits& limits = {});

/// The same for a file that is already in memory.
Image decode_image(std::span<const std::byte> file, const DecodeLimits& limits = {});

/// Writes in the format that the file's name ends in. Throws Error (invalid_argument) when that is no known format
/// and Error (input_output) when the file cannot be written.
void write_image(const std::filesystem::path& path, const Image& image);

}  // namespace lapilli
