#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace lapilli {

/// A field of a protobuf message, without a schema: what is delimited by a length is taken for a message where its
/// bytes are one.
struct WireField {
  enum class Kind : std::uint8_t { number = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };
  std::uint32_t number = 0;
  Kind kind = Kind::number;
  std::uint64_t value = 0;  ///< of kind number
  std::string bytes;        ///< of the other kinds; not of messages
  bool is_message = false;
  std::vector<WireField> children;  ///< of a message
};

/// The fields of a message; nothing where the bytes are none. Messages are nested `depth` deep at most.
std::vector<WireField> parse_wire(std::string_view bytes, int depth = 12);

/// The bytes of a message: lengths are right, whatever was changed in it.
std::string write_wire(const std::vector<WireField>& fields);

/// Every field, those of messages inside too, in the order of the file.
void for_each_field(std::vector<WireField>& fields, const std::function<void(WireField&)>& action);

/// What sizes, indices and enumerations are replaced by, to see what happens: the edges of types and near by `value`.
std::vector<std::uint64_t> telling_numbers(std::uint64_t value);

}  // namespace lapilli
