#include "vision/image_header.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/failure.h"

namespace lapilli {
namespace {

using Bytes = std::span<const std::byte>;

bool begins_with(Bytes file, std::string_view signature, std::size_t at = 0) {
  if (file.size() < at + signature.size()) return false;
  return std::ranges::equal(file.subspan(at, signature.size()), signature,
                            [](std::byte byte, char character) { return byte == static_cast<std::byte>(character); });
}

std::uint8_t byte_at(Bytes file, std::uint64_t at) {
  if (at >= file.size()) fail(ErrorCode::invalid_argument, "the file ends inside its header");
  return static_cast<std::uint8_t>(file[at]);
}

std::uint32_t big_endian(Bytes file, std::uint64_t at, unsigned count) {
  std::uint32_t value = 0;
  for (unsigned i = 0; i < count; ++i) value = value << 8U | byte_at(file, at + i);
  return value;
}

std::uint32_t little_endian(Bytes file, std::uint64_t at, unsigned count) {
  std::uint32_t value = 0;
  for (unsigned i = count; i-- > 0;) value = value << 8U | byte_at(file, at + i);
  return value;
}

ImageHeader read_png(Bytes file) {
  return {.format = "PNG", .width = big_endian(file, 16, 4), .height = big_endian(file, 20, 4)};
}

bool is_frame_header(std::uint8_t marker) {
  return marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
}

ImageHeader read_jpeg(Bytes file) {
  constexpr std::uint8_t start_of_scan = 0xDA;
  ImageHeader header{.format = "JPEG"};
  std::uint64_t at = 2;
  while (true) {
    if (byte_at(file, at) != 0xFF) fail(ErrorCode::invalid_argument, "no JPEG marker at byte {}", at);
    while (byte_at(file, at) == 0xFF) ++at;  // any number of fill bytes
    const std::uint8_t marker = byte_at(file, at++);
    if (is_frame_header(marker)) {
      header.height = big_endian(file, at + 3, 2);
      header.width = big_endian(file, at + 5, 2);
    }
    const std::uint32_t length = big_endian(file, at, 2);
    if (length < 2) fail(ErrorCode::invalid_argument, "a JPEG segment at byte {} is shorter than its own length", at);
    at += length;
    if (marker == start_of_scan) break;
  }
  // Decoders fill what is missing with grey and call it success, so the end marker is looked for here.
  constexpr std::array end_of_image{std::byte{0xFF}, std::byte{0xD9}};
  const Bytes scan = file.subspan(std::min<std::uint64_t>(at, file.size()));
  header.complete = !std::ranges::search(scan, end_of_image).empty();
  return header;
}

ImageHeader read_bmp(Bytes file) {
  ImageHeader header{.format = "BMP"};
  if (little_endian(file, 14, 4) == 12) {  // the header of OS/2
    header.width = little_endian(file, 18, 2);
    header.height = little_endian(file, 20, 2);
  } else {
    header.width = little_endian(file, 18, 4);
    const auto height = static_cast<std::int32_t>(little_endian(file, 22, 4));  // negative: rows from the top
    header.height = static_cast<std::uint64_t>(height < 0 ? -std::int64_t{height} : std::int64_t{height});
  }
  return header;
}

ImageHeader read_webp(Bytes file) {
  ImageHeader header{.format = "WebP"};
  if (begins_with(file, "VP8 ", 12)) {
    header.width = little_endian(file, 26, 2) & 0x3FFFU;
    header.height = little_endian(file, 28, 2) & 0x3FFFU;
  } else if (begins_with(file, "VP8L", 12)) {
    const std::uint32_t sizes = little_endian(file, 21, 4);
    header.width = (sizes & 0x3FFFU) + 1;
    header.height = (sizes >> 14U & 0x3FFFU) + 1;
  } else if (begins_with(file, "VP8X", 12)) {
    header.width = little_endian(file, 24, 3) + 1;
    header.height = little_endian(file, 27, 3) + 1;
  } else {
    fail(ErrorCode::invalid_argument, "a WebP file without a picture");
  }
  return header;
}

ImageHeader read_tiff(Bytes file) {
  ImageHeader header{.format = "TIFF"};
  const bool little = begins_with(file, "II");
  const auto number = [&](std::uint64_t at, unsigned count) {
    return little ? little_endian(file, at, count) : big_endian(file, at, count);
  };
  const std::uint64_t directory = number(4, 4);
  const std::uint32_t entries = number(directory, 2);
  for (std::uint32_t i = 0; i < entries; ++i) {
    const std::uint64_t entry = directory + 2 + std::uint64_t{12} * i;
    const std::uint32_t tag = number(entry, 2);
    const std::uint32_t value = number(entry + 8, number(entry + 2, 2) == 3 ? 2 : 4);  // type 3 is 16 bits wide
    if (tag == 256) header.width = value;
    if (tag == 257) header.height = value;
  }
  return header;
}

std::uint64_t read_pnm_number(Bytes file, std::uint64_t& at) {
  const auto is_digit = [&] { return std::isdigit(byte_at(file, at)) != 0; };
  while (!is_digit()) {
    if (byte_at(file, at) == '#') {
      while (byte_at(file, at) != '\n') ++at;
    } else if (std::isspace(byte_at(file, at)) == 0) {
      fail(ErrorCode::invalid_argument, "no number at byte {} of the PNM header", at);
    }
    ++at;
  }
  std::uint64_t value = 0;
  while (is_digit()) {
    value = value * 10 + byte_at(file, at++) - '0';
    if (value > 0xFFFFFFFFU) fail(ErrorCode::invalid_argument, "a number of the PNM header is too large");
  }
  return value;
}

ImageHeader read_pnm(Bytes file) {
  std::uint64_t at = 2;
  const std::uint64_t width = read_pnm_number(file, at);
  const std::uint64_t height = read_pnm_number(file, at);
  return {.format = "PNM", .width = width, .height = height};
}

// The sizes of a JPEG 2000 codestream, which begins at this byte with the markers SOC and SIZ.
ImageHeader read_codestream(Bytes file, std::uint64_t at) {
  if (big_endian(file, at, 4) != 0xFF4FFF51U)
    fail(ErrorCode::invalid_argument, "no JPEG 2000 codestream at byte {}", at);
  const auto extent = [&](std::uint64_t place) -> std::uint64_t {
    const std::uint32_t end = big_endian(file, at + place, 4), offset = big_endian(file, at + place + 8, 4);
    return end > offset ? end - offset : 0;
  };
  return {.format = "JPEG 2000", .width = extent(8), .height = extent(12)};
}

// Boxes, one of which holds the codestream.
ImageHeader read_jpeg2000(Bytes file) {
  std::uint64_t at = 0;
  while (true) {
    std::uint64_t length = big_endian(file, at, 4), begin = at + 8;
    if (length == 1) {
      length = std::uint64_t{big_endian(file, at + 8, 4)} << 32U | big_endian(file, at + 12, 4);
      begin += 8;
    }
    if (begins_with(file, "jp2c", at + 4)) return read_codestream(file, begin);
    if (length < begin - at || length > file.size()) {
      fail(ErrorCode::invalid_argument, "a JPEG 2000 box at byte {} has {} bytes", at, length);
    }
    at += length;
  }
}

}  // namespace

std::optional<ImageHeader> read_image_header(Bytes file) {
  using namespace std::string_view_literals;
  if (begins_with(file, "\x89PNG\r\n\x1A\n")) return read_png(file);
  if (begins_with(file, "\xFF\xD8\xFF")) return read_jpeg(file);
  if (begins_with(file, "\xFF\x4F\xFF\x51")) return read_codestream(file, 0);
  if (begins_with(file, "\0\0\0\x0CjP  \r\n\x87\n"sv)) return read_jpeg2000(file);
  if (begins_with(file, "BM")) return read_bmp(file);
  if (begins_with(file, "RIFF") && begins_with(file, "WEBP", 8)) return read_webp(file);
  if (begins_with(file, "II*\0"sv) || begins_with(file, "MM\0*"sv)) return read_tiff(file);
  if (begins_with(file, "P") && file.size() > 2 && byte_at(file, 1) >= '1' && byte_at(file, 1) <= '6') {
    return read_pnm(file);
  }
  return std::nullopt;
}

}  // namespace lapilli
