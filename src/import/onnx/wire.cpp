#include "import/onnx/wire.h"

#include <algorithm>
#include <limits>

namespace lapilli::onnx {

bool MessageReader::next() {
  const bool more = checked([&] { return reader_.next(); });
  field_ = more ? reader_.tag() : 0;
  return more;
}

void MessageReader::skip() {
  checked([&] { reader_.skip(); });
}

std::int64_t MessageReader::read_int64() {
  require(protozero::pbf_wire_type::varint);
  return checked([&] { return reader_.get_int64(); });
}

std::int32_t MessageReader::read_int32() {
  const std::int64_t value = read_int64();
  if (value < std::numeric_limits<std::int32_t>::min() || value > std::numeric_limits<std::int32_t>::max())
    fail_here("a number past 32 bits");
  return static_cast<std::int32_t>(value);
}

float MessageReader::read_float() {
  require(protozero::pbf_wire_type::fixed32);
  return checked([&] { return reader_.get_float(); });
}

std::string_view MessageReader::read_text() {
  require(protozero::pbf_wire_type::length_delimited);
  const protozero::data_view view = checked([&] { return reader_.get_view(); });
  return {view.data(), view.size()};
}

std::span<const std::byte> MessageReader::read_bytes() {
  const std::string_view text = read_text();
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::size_t MessageReader::count_varints() {
  if (!is_packed()) {
    require(protozero::pbf_wire_type::varint);
    return 1;
  }
  protozero::pbf_reader ahead = reader_;
  const protozero::data_view view = checked([&] { return ahead.get_view(); });
  const std::span bytes(view.data(), view.size());
  // The last byte of each varint has its highest bit clear.
  return static_cast<std::size_t>(std::ranges::count_if(bytes, [](char byte) { return (byte & 0x80) == 0; }));
}

void MessageReader::require(protozero::pbf_wire_type type) const {
  if (reader_.wire_type() != type) fail_here("a wire type that this field cannot have");
}

void MessageReader::fail_here(std::string_view problem) const {
  const auto offset = reinterpret_cast<const std::byte*>(reader_.data().data()) - file_;
  fail(ErrorCode::invalid_model, "{} near byte {}, in field {} of {}", problem, offset, field_, name_);
}

}  // namespace lapilli::onnx
