#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <protozero/pbf_reader.hpp>
#include <span>
#include <string>
#include <string_view>

#include "base/failure.h"

namespace lapilli::onnx {

/// Reads one protobuf message field by field, in place.
///
/// protozero checks bounds but only asserts wire types; here both are checked, and what is wrong becomes Error
/// (invalid_model) that names message, field and byte offset. Values that are read as text or bytes point into the
/// file.
class MessageReader {
 public:
  /// `name` is the message type's name in onnx.proto; `file` is where the whole file begins, for offsets in errors.
  MessageReader(std::span<const std::byte> message, std::string_view name, const std::byte* file) noexcept
      : reader_(reinterpret_cast<const char*>(message.data()), message.size()), name_(name), file_(file) {}

  /// Steps to the next field; false at the end. The field before must have been read or skipped.
  bool next();
  [[nodiscard]] std::uint32_t field() const noexcept { return field_; }
  [[nodiscard]] std::string_view name() const noexcept { return name_; }

  void skip();
  std::int64_t read_int64();
  /// An int32 or an enumeration.
  std::int32_t read_int32();
  float read_float();
  std::string_view read_text();
  std::string read_string() { return std::string(read_text()); }
  std::span<const std::byte> read_bytes();
  MessageReader read_message(std::string_view name) { return {read_bytes(), name, file_}; }

  /// Repeated numbers, whether packed or one by one: `action` is called with each.
  template <class Action>
  void for_each_varint(Action&& action);
  /// T is float or double.
  template <class T, class Action>
  void for_each_fixed(Action&& action);

  /// The number of values that for_each_varint would give, found without decoding them.
  std::size_t count_varints();
  template <class T>
  std::size_t count_fixed();

  [[noreturn]] void fail_here(std::string_view problem) const;

 private:
  void require(protozero::pbf_wire_type type) const;
  [[nodiscard]] bool is_packed() const { return reader_.wire_type() == protozero::pbf_wire_type::length_delimited; }

  template <class Action>
  auto checked(Action&& action) {
    try {
      return action();
    } catch (const protozero::exception&) {
      fail_here("the file is damaged, or no ONNX model: the fault is");
    }
  }

  protozero::pbf_reader reader_;
  std::string_view name_;
  const std::byte* file_;
  std::uint32_t field_ = 0;
};

template <class Action>
void MessageReader::for_each_varint(Action&& action) {
  if (!is_packed()) {
    action(read_int64());
    return;
  }
  const auto values = checked([&] { return reader_.get_packed_int64(); });
  for (auto value = values.begin(); value != values.end();) {
    const std::int64_t number = checked([&] { return *value; });
    checked([&] { ++value; });
    action(number);
  }
}

template <class T, class Action>
void MessageReader::for_each_fixed(Action&& action) {
  const std::size_t count = count_fixed<T>();
  const protozero::data_view view = checked([&] {
    if (is_packed()) return reader_.get_view();
    const char* value = reader_.data().data();
    reader_.skip();
    return protozero::data_view(value, sizeof(T));
  });
  for (std::size_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, view.data() + i * sizeof(T), sizeof(T));
    action(value);
  }
}

template <class T>
std::size_t MessageReader::count_fixed() {
  if (!is_packed()) {
    require(sizeof(T) == 4 ? protozero::pbf_wire_type::fixed32 : protozero::pbf_wire_type::fixed64);
    return 1;
  }
  protozero::pbf_reader ahead = reader_;
  const std::size_t size = checked([&] { return ahead.get_view().size(); });
  if (size % sizeof(T) != 0) fail_here("packed numbers of a fractional count");
  return size / sizeof(T);
}

}  // namespace lapilli::onnx
