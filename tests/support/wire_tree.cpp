#include "support/wire_tree.h"

#include <optional>

namespace lapilli {
namespace {

class WireReader {
 public:
  WireReader(std::string_view bytes, int depth) : bytes_(bytes), depth_(depth) {}

  std::optional<std::vector<WireField>> read() {
    std::vector<WireField> fields;
    while (!bytes_.empty()) {
      auto field = read_field();
      if (!field) return std::nullopt;
      fields.push_back(std::move(*field));
    }
    return fields;
  }

 private:
  std::optional<std::uint64_t> read_number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !bytes_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes_.front());
      bytes_.remove_prefix(1);
      value |= std::uint64_t{byte & 0x7FU} << shift;
      if ((byte & 0x80U) == 0) return value;
    }
    return std::nullopt;
  }

  std::optional<std::string> read_bytes(std::uint64_t count) {
    if (count > bytes_.size()) return std::nullopt;
    std::string taken(bytes_.substr(0, count));
    bytes_.remove_prefix(count);
    return taken;
  }

  std::optional<WireField> read_field() {
    const auto tag = read_number();
    if (!tag || *tag >> 3U == 0 || *tag >> 3U > 1000) return std::nullopt;
    WireField field;
    field.number = static_cast<std::uint32_t>(*tag >> 3U);
    const std::uint64_t kind = *tag & 7U;
    std::optional<std::string> bytes;
    if (kind == 0) {
      const auto value = read_number();
      if (!value) return std::nullopt;
      field.value = *value;
      return field;
    }
    if (kind == 1) bytes = read_bytes(8);
    if (kind == 5) bytes = read_bytes(4);
    if (kind == 2) {
      const auto length = read_number();
      if (length) bytes = read_bytes(*length);
    }
    if (!bytes) return std::nullopt;
    field.kind = static_cast<WireField::Kind>(kind);
    if (kind == 2 && !bytes->empty() && depth_ > 0) {
      if (auto children = WireReader(*bytes, depth_ - 1).read()) {
        field.is_message = true;
        field.children = std::move(*children);
        return field;
      }
    }
    field.bytes = std::move(*bytes);
    return field;
  }

  std::string_view bytes_;
  int depth_;
};

void write_number(std::uint64_t value, std::string& to) {
  while (value >= 0x80U) {
    to += static_cast<char>((value & 0x7FU) | 0x80U);
    value >>= 7U;
  }
  to += static_cast<char>(value);
}

}  // namespace

std::vector<WireField> parse_wire(std::string_view bytes, int depth) {
  return WireReader(bytes, depth).read().value_or(std::vector<WireField>());
}

std::string write_wire(const std::vector<WireField>& fields) {
  std::string bytes;
  for (const WireField& field : fields) {
    write_number(std::uint64_t{field.number} << 3U | static_cast<std::uint64_t>(field.kind), bytes);
    if (field.kind == WireField::Kind::number) {
      write_number(field.value, bytes);
      continue;
    }
    const std::string content = field.is_message ? write_wire(field.children) : field.bytes;
    if (field.kind == WireField::Kind::bytes) write_number(content.size(), bytes);
    bytes += content;
  }
  return bytes;
}

void for_each_field(std::vector<WireField>& fields, const std::function<void(WireField&)>& action) {
  for (WireField& field : fields) {
    action(field);
    for_each_field(field.children, action);
  }
}

std::vector<std::uint64_t> telling_numbers(std::uint64_t value) {
  constexpr std::uint64_t one = 1;
  return {value + 1,
          value - 1,
          ~value,
          value << 32U,
          0,
          1,
          2,
          ~std::uint64_t{0},
          255,
          one << 16U,
          one << 31U,
          (one << 31U) - 1,
          one << 32U,
          one << 40U,
          (one << 62U) + 1,
          one << 63U,
          (one << 63U) - 1};
}

}  // namespace lapilli
