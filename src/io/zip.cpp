#include "io/zip.h"

#include <zlib.h>

#include <algorithm>
#include <format>
#include <limits>
#include <optional>
#include <utility>

#include "base/checked.h"

// The layout is that of PKWARE's APPNOTE.TXT; numbers are little endian.
namespace lapilli {
namespace {

constexpr std::uint32_t local_signature = 0x04034b50, entry_signature = 0x02014b50, end_signature = 0x06054b50;
constexpr std::uint32_t end64_signature = 0x06064b50, locator64_signature = 0x07064b50;
constexpr std::size_t local_size = 30, entry_size = 46, end_size = 22, end64_size = 56, locator64_size = 20;
constexpr std::uint16_t stored = 0, deflated = 8;
constexpr std::uint32_t in_extra = 0xffffffff;  // the number stands in the extra field instead

[[noreturn]] void damaged(std::string_view what) {
  fail(ErrorCode::invalid_argument, "the archive is damaged: {}", what);
}

std::span<const std::byte> part(std::span<const std::byte> archive, std::uint64_t offset, std::uint64_t size) {
  if (offset > archive.size() || size > archive.size() - offset) damaged("it refers to bytes past its end");
  return archive.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(size));
}

// A number of this many bytes.
std::uint64_t number(std::span<const std::byte> bytes, std::size_t offset, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < size; ++i) value |= static_cast<std::uint64_t>(bytes[offset + i]) << (8 * i);
  return value;
}

std::uint32_t number32(std::span<const std::byte> bytes, std::size_t offset) {
  return static_cast<std::uint32_t>(number(bytes, offset, 4));
}

std::uint16_t number16(std::span<const std::byte> bytes, std::size_t offset) {
  return static_cast<std::uint16_t>(number(bytes, offset, 2));
}

struct Directory {
  std::uint64_t entries = 0, size = 0, offset = 0;
};

// The end record is followed by a comment of up to 65,535 bytes.
std::size_t find_end(std::span<const std::byte> archive) {
  if (archive.size() < end_size) damaged("it is too short");
  const std::size_t last = archive.size() - end_size;
  const std::size_t first = last - std::min<std::size_t>(last, 65535);
  for (std::size_t at = last + 1; at-- > first;) {
    if (number32(archive, at) == end_signature && at + end_size + number16(archive, at + 20) == archive.size())
      return at;
  }
  damaged("its directory is missing, as when a download was cut off");
}

Directory find_directory(std::span<const std::byte> archive) {
  const std::size_t end = find_end(archive);
  const auto record = archive.subspan(end);
  Directory directory{number16(record, 10), number32(record, 12), number32(record, 16)};
  const bool has_locator = end >= locator64_size && number32(archive, end - locator64_size) == locator64_signature;
  if (has_locator) {
    const auto record64 = part(archive, number(archive, end - locator64_size + 8, 8), end64_size);
    if (number32(record64, 0) != end64_signature) damaged("its directory is missing");
    directory = {number(record64, 32, 8), number(record64, 40, 8), number(record64, 48, 8)};
  } else if (number16(record, 4) != 0) {
    fail(ErrorCode::unsupported, "archives in several volumes cannot be read");
  }
  return directory;
}

// Replaces what the fixed fields have no room for, in the order in which the extra field holds it.
void read_large_sizes(std::span<const std::byte> extra, ZipEntry& entry) {
  while (extra.size() >= 4) {
    const std::uint16_t kind = number16(extra, 0), size = number16(extra, 2);
    if (size > extra.size() - 4) damaged("an extra field is longer than its entry");
    auto field = extra.subspan(4, size);
    extra = extra.subspan(4 + std::size_t{size});
    if (kind != 1) continue;
    for (std::uint64_t* value : {&entry.size, &entry.compressed_size, &entry.header_offset}) {
      if (*value != in_extra) continue;
      if (field.size() < 8) damaged("a large size is missing");
      *value = number(field, 0, 8);
      field = field.subspan(8);
    }
  }
}

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::vector<std::byte> inflate(std::span<const std::byte> packed, std::size_t size) {
  // Deflate packs at most 1,032 bytes into one, so that no damaged size takes memory that the file does not justify.
  if (size / 1032 > packed.size()) damaged("a member's size cannot be right");
  std::vector<std::byte> content(size);
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) fail(ErrorCode::out_of_memory, "zlib could not begin");
  stream.next_in = reinterpret_cast<const Bytef*>(packed.data());
  stream.next_out = reinterpret_cast<Bytef*>(content.data());
  std::size_t in_left = packed.size(), out_left = content.size();
  int status = Z_OK;
  const auto refill = [](std::size_t& left, uInt& available) {
    if (available != 0) return;
    available = static_cast<uInt>(std::min<std::size_t>(left, std::numeric_limits<uInt>::max()));
    left -= available;
  };
  while (status == Z_OK) {
    refill(in_left, stream.avail_in);
    refill(out_left, stream.avail_out);
    status = ::inflate(&stream, Z_NO_FLUSH);
  }
  const bool complete = status == Z_STREAM_END && stream.avail_out == 0 && out_left == 0;
  inflateEnd(&stream);
  if (!complete) damaged("a member cannot be unpacked to its size");
  return content;
}

std::uint32_t checksum_of(std::span<const std::byte> content) {
  return static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size()));
}

void append(std::vector<std::byte>& bytes, std::uint64_t value, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i, value >>= 8U) bytes.push_back(static_cast<std::byte>(value));
}

void append(std::vector<std::byte>& bytes, std::string_view text) {
  for (const char character : text) bytes.push_back(static_cast<std::byte>(character));
}

// The part that a member's own header and its entry in the directory share.
void append_common(std::vector<std::byte>& bytes, const ZipEntry& entry) {
  constexpr std::uint16_t utf8_name = 1U << 11U, version = 20;
  constexpr std::uint32_t first_of_1980 = 0x00210000;  // the earliest date, so that equal content is an equal file
  append(bytes, version, 2);
  append(bytes, utf8_name, 2);
  append(bytes, stored, 2);
  append(bytes, first_of_1980, 4);
  append(bytes, entry.checksum, 4);
  append(bytes, entry.size, 4);
  append(bytes, entry.size, 4);
  append(bytes, entry.name.size(), 2);
  append(bytes, 0, 2);
}

}  // namespace

std::vector<ZipEntry> read_zip_directory(std::span<const std::byte> archive) {
  const Directory directory = find_directory(archive);
  auto rest = part(archive, directory.offset, directory.size);
  if (directory.entries > rest.size() / entry_size) damaged("its directory is too short");
  std::vector<ZipEntry> entries;
  for (std::uint64_t i = 0; i < directory.entries; ++i) {
    if (rest.size() < entry_size || number32(rest, 0) != entry_signature) damaged("its directory is too short");
    const std::uint16_t name_size = number16(rest, 28), extra_size = number16(rest, 30),
                        comment_size = number16(rest, 32);
    const std::size_t size = entry_size + std::size_t{name_size} + extra_size + comment_size;
    if (size > rest.size()) damaged("its directory is too short");
    ZipEntry entry{.name = text_of(rest.subspan(entry_size, name_size)),
                   .method = number16(rest, 10),
                   .checksum = number32(rest, 16),
                   .compressed_size = number32(rest, 20),
                   .size = number32(rest, 24),
                   .header_offset = number32(rest, 42)};
    if ((number16(rest, 8) & 1U) != 0) fail(ErrorCode::unsupported, "member '{}' is encrypted", entry.name);
    read_large_sizes(rest.subspan(entry_size + name_size, extra_size), entry);
    entries.push_back(std::move(entry));
    rest = rest.subspan(size);
  }
  return entries;
}

std::vector<std::byte> read_zip_entry(std::span<const std::byte> archive, const ZipEntry& entry) {
  const auto header = part(archive, entry.header_offset, local_size);
  if (number32(header, 0) != local_signature) damaged("a member's header is missing");
  const std::uint64_t begin = entry.header_offset + local_size + number16(header, 26) + number16(header, 28);
  const auto packed = part(archive, begin, entry.compressed_size);
  std::vector<std::byte> content;
  if (entry.method == stored) {
    if (entry.compressed_size != entry.size) damaged("a stored member has two sizes");
    content.assign(packed.begin(), packed.end());
  } else if (entry.method == deflated) {
    content = inflate(packed, checked_cast<std::size_t>(entry.size));
  } else {
    fail(ErrorCode::unsupported, "member '{}' is packed by method {}; stored and deflated ones can be read",
         entry.name, entry.method);
  }
  if (checksum_of(content) != entry.checksum) damaged("a checksum is wrong");
  return content;
}

void ZipWriter::add(const std::string& name, std::span<const std::byte> content) {
  constexpr std::uint64_t most_bytes = 0xfffffffe;
  if (archive_.size() + content.size() + name.size() + 4096 > most_bytes || entries_.size() >= 65534 ||
      name.size() > 65535) {
    fail(ErrorCode::limit_exceeded, "an archive can hold 4 GiB, and '{}' does not fit any more", name);
  }
  const ZipEntry entry{name, stored, checksum_of(content), content.size(), content.size(), archive_.size()};
  append(archive_, local_signature, 4);
  append_common(archive_, entry);
  append(archive_, name);
  archive_.insert(archive_.end(), content.begin(), content.end());
  entries_.push_back(entry);
}

std::vector<std::byte> ZipWriter::finish() {
  const std::size_t directory = archive_.size();
  for (const ZipEntry& entry : entries_) {
    append(archive_, entry_signature, 4);
    append(archive_, 20, 2);
    append_common(archive_, entry);
    append(archive_, 0, 10);  // no comment, first volume, no attributes
    append(archive_, entry.header_offset, 4);
    append(archive_, entry.name);
  }
  const std::size_t directory_size = archive_.size() - directory;
  append(archive_, end_signature, 4);
  append(archive_, 0, 4);
  append(archive_, entries_.size(), 2);
  append(archive_, entries_.size(), 2);
  append(archive_, directory_size, 4);
  append(archive_, checked_cast<std::uint32_t>(directory), 4);
  append(archive_, 0, 2);
  entries_.clear();
  return std::exchange(archive_, {});
}

}  // namespace lapilli
