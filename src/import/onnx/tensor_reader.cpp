#include "import/onnx/tensor_reader.h"

#include <array>
#include <charconv>
#include <limits>
#include <utility>

#include "base/checked.h"
#include "base/packed.h"
#include "base/text.h"
#include "import/onnx/model.h"

namespace lapilli::onnx {
namespace {

namespace tag {
enum : std::uint32_t {
  dims = 1,
  data_type = 2,
  segment = 3,
  float_data = 4,
  int32_data = 5,
  string_data = 6,
  int64_data = 7,
  name = 8,
  raw_data = 9,
  double_data = 10,
  uint64_data = 11,
  external_data = 13,
  data_location = 14,
};
}  // namespace tag

// By the numbers of TensorProto.DataType; undefined where lapilli has no such type.
struct DataTypeName {
  std::string_view name;
  DType dtype;
};
constexpr std::array data_types{
    DataTypeName{"undefined", DType::undefined},
    DataTypeName{"float", DType::float32},
    DataTypeName{"uint8", DType::uint8},
    DataTypeName{"int8", DType::int8},
    DataTypeName{"uint16", DType::uint16},
    DataTypeName{"int16", DType::int16},
    DataTypeName{"int32", DType::int32},
    DataTypeName{"int64", DType::int64},
    DataTypeName{"string", DType::string},
    DataTypeName{"bool", DType::boolean},
    DataTypeName{"float16", DType::float16},
    DataTypeName{"double", DType::float64},
    DataTypeName{"uint32", DType::uint32},
    DataTypeName{"uint64", DType::uint64},
    DataTypeName{"complex64", DType::undefined},
    DataTypeName{"complex128", DType::undefined},
    DataTypeName{"bfloat16", DType::bfloat16},
    DataTypeName{"float8e4m3fn", DType::float8e4m3fn},
    DataTypeName{"float8e4m3fnuz", DType::float8e4m3fnuz},
    DataTypeName{"float8e5m2", DType::float8e5m2},
    DataTypeName{"float8e5m2fnuz", DType::float8e5m2fnuz},
    DataTypeName{"uint4", DType::uint4},
    DataTypeName{"int4", DType::int4},
    DataTypeName{"float4e2m1", DType::float4e2m1},
    DataTypeName{"float8e8m0", DType::float8e8m0},
    DataTypeName{"uint2", DType::uint2},
    DataTypeName{"int2", DType::int2},
    DataTypeName{"float6e2m3", DType::float6e2m3},
    DataTypeName{"float6e3m2", DType::float6e3m2},
};

/// The field that holds the elements of a type when raw_data does not.
std::uint32_t typed_field(DType dtype) noexcept {
  switch (dtype) {
    case DType::float32: return tag::float_data;
    case DType::float64: return tag::double_data;
    case DType::int64: return tag::int64_data;
    case DType::uint32:
    case DType::uint64: return tag::uint64_data;
    case DType::string: return tag::string_data;
    default: return tag::int32_data;
  }
}

/// Where external data lies.
struct ExternalData {
  std::string location;
  std::uint64_t offset = 0;
  std::optional<std::uint64_t> length;
};

/// A TensorProto's fields, before the elements are decoded.
struct TensorParts {
  std::string name;
  std::vector<std::int64_t> dims;
  std::int32_t data_type = 0;
  std::span<const std::byte> raw;
  std::array<std::size_t, 16> typed_counts{};  // by field number
  ExternalData external;
  bool is_external = false;
};

std::uint64_t parse_number(std::string_view key, std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) {
    fail(ErrorCode::invalid_model, "the {} of its external data is {}, not a number of bytes", key, name_text(text));
  }
  return value;
}

void read_external_entry(MessageReader message, ExternalData& external) {
  std::string_view key;
  std::string_view value;
  while (message.next()) {
    switch (message.field()) {
      case 1: key = message.read_text(); break;
      case 2: value = message.read_text(); break;
      default: message.skip();
    }
  }
  if (key == "location") external.location = value;
  if (key == "offset") external.offset = parse_number(key, value);
  if (key == "length") external.length = parse_number(key, value);
}

void read_tensor_field(MessageReader& message, TensorParts& parts) {
  switch (const std::uint32_t field = message.field()) {
    case tag::dims: message.for_each_varint([&](std::int64_t size) { parts.dims.push_back(size); }); break;
    case tag::data_type: parts.data_type = message.read_int32(); break;
    case tag::segment: fail(ErrorCode::unsupported, "it is a segment of a tensor, which Lapilli does not read");
    case tag::name: parts.name = message.read_string(); break;
    case tag::raw_data: parts.raw = message.read_bytes(); break;
    case tag::external_data:
      read_external_entry(message.read_message("StringStringEntryProto"), parts.external);
      break;
    case tag::data_location: parts.is_external = message.read_int32() == 1; break;
    case tag::float_data:
      parts.typed_counts[field] += message.count_fixed<float>();
      message.skip();
      break;
    case tag::double_data:
      parts.typed_counts[field] += message.count_fixed<double>();
      message.skip();
      break;
    case tag::int32_data:
    case tag::int64_data:
    case tag::uint64_data:
      parts.typed_counts[field] += message.count_varints();
      message.skip();
      break;
    case tag::string_data:
      ++parts.typed_counts[field];
      (void)message.read_text();
      break;
    default: message.skip();
  }
}

std::int64_t checked_element_count(const std::vector<std::int64_t>& dims) {
  try {
    return element_count(dims);
  } catch (const Error& error) {
    fail(ErrorCode::invalid_model, "its shape cannot be: {}", error.what());
  }
}

bool is_aligned(const std::byte* data, DType dtype) {
  const std::size_t size = std::max<std::size_t>(bit_width(dtype) / 8, 1);
  return reinterpret_cast<std::uintptr_t>(data) % size == 0;
}

Tensor view_or_copy(DType dtype, std::vector<std::int64_t> dims, std::span<const std::byte> bytes,
                    std::shared_ptr<const void> owner, const TensorSource& source) {
  if (is_aligned(bytes.data(), dtype) || bytes.size() >= source.copy_unaligned_below)
    return Tensor::view(dtype, std::move(dims), bytes, std::move(owner));
  Tensor copy = Tensor::allocate(dtype, std::move(dims));
  std::ranges::copy(bytes, copy.mutable_bytes().begin());
  return copy;
}

Tensor read_external(const TensorParts& parts, DType dtype, TensorSource& source) {
  if (dtype == DType::string) fail(ErrorCode::invalid_model, "strings cannot be external data");
  const std::size_t needed = byte_count(dtype, checked_element_count(parts.dims));
  const ExternalData& external = parts.external;
  if (external.length.value_or(needed) != needed) {
    fail(ErrorCode::invalid_model, "{} of shape {} takes {} bytes, but its external data in {} has {}",
         to_string(dtype), shape_text(parts.dims), needed, name_text(external.location), *external.length);
  }
  const std::shared_ptr<const MappedFile> file = source.external_files.open(external.location);
  const std::span<const std::byte> bytes = file->bytes();
  if (external.offset > bytes.size() || bytes.size() - external.offset < needed) {
    fail(ErrorCode::invalid_model, "its {} bytes at offset {} of {} end past the file's {} bytes", needed,
         external.offset, name_text(file->path().string()), bytes.size());
  }
  return view_or_copy(dtype, parts.dims, bytes.subspan(external.offset, needed), file, source);
}

/// Calls `action(reader)` at each occurrence of a field.
template <class Action>
void for_each_field(MessageReader message, std::uint32_t field, Action&& action) {
  while (message.next()) {
    if (message.field() == field) {
      action(message);
    } else {
      message.skip();
    }
  }
}

template <class Stored>
void fill_fixed(const MessageReader& message, std::uint32_t field, std::span<Stored> elements) {
  std::size_t i = 0;
  for_each_field(message, field,
                 [&](MessageReader& at) { at.for_each_fixed<Stored>([&](Stored value) { elements[i++] = value; }); });
}

/// Integers, and the bits of narrow types, each stored in one varint. `lowest` and `highest` bound what it may be.
template <class Stored>
void fill_varints(const MessageReader& message, std::uint32_t field, std::span<Stored> elements, std::int64_t lowest,
                  std::int64_t highest) {
  std::size_t i = 0;
  for_each_field(message, field, [&](MessageReader& at) {
    at.for_each_varint([&](std::int64_t value) {
      if (value < lowest || value > highest)
        fail(ErrorCode::invalid_model, "element {} is {}, outside {} to {}", i, value, lowest, highest);
      elements[i++] = static_cast<Stored>(value);
    });
  });
}

template <class Stored>
void fill_integers(const MessageReader& message, std::uint32_t field, Tensor& tensor) {
  fill_varints(message, field, tensor.mutable_elements<Stored>(), std::numeric_limits<Stored>::min(),
               std::numeric_limits<Stored>::max());
}

// Types of 6 bits: one value an element, which is packed here.
void fill_codes(const MessageReader& message, std::uint32_t field, Tensor& tensor) {
  Tensor codes = Tensor::allocate(DType::uint8, tensor.shape());
  fill_varints(message, field, codes.mutable_elements<std::uint8_t>(), 0, 63);
  tensor = packed_tensor(tensor.dtype(), codes);
}

void fill_typed(const MessageReader& message, std::uint32_t field, Tensor& tensor) {
  constexpr std::int64_t int64_min = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t int64_max = std::numeric_limits<std::int64_t>::max();
  switch (tensor.dtype()) {
    case DType::float32: fill_fixed(message, field, tensor.mutable_elements<float>()); break;
    case DType::float64: fill_fixed(message, field, tensor.mutable_elements<double>()); break;
    case DType::int8: fill_integers<std::int8_t>(message, field, tensor); break;
    case DType::int16: fill_integers<std::int16_t>(message, field, tensor); break;
    case DType::int32: fill_integers<std::int32_t>(message, field, tensor); break;
    case DType::int64: fill_integers<std::int64_t>(message, field, tensor); break;
    case DType::uint8: fill_integers<std::uint8_t>(message, field, tensor); break;
    case DType::uint16:
    case DType::float16:
    case DType::bfloat16: fill_integers<std::uint16_t>(message, field, tensor); break;
    case DType::uint32: fill_integers<std::uint32_t>(message, field, tensor); break;
    // The varint is the two's complement of the value, so the upper half of uint64 comes as negative numbers.
    case DType::uint64:
      fill_varints(message, field, tensor.mutable_elements<std::uint64_t>(), int64_min, int64_max);
      break;
    case DType::boolean: fill_varints(message, field, tensor.mutable_elements<std::uint8_t>(), 0, 1); break;
    default: {
      if (bit_width(tensor.dtype()) == 6) return fill_codes(message, field, tensor);
      // Eight bits each: float8, or two or four packed elements, as signed or unsigned bytes.
      const std::span<std::byte> bytes = tensor.mutable_bytes();
      const std::span<std::uint8_t> elements(reinterpret_cast<std::uint8_t*>(bytes.data()), bytes.size());
      fill_varints(message, field, elements, -128, 255);
    }
  }
}

Tensor read_strings(const MessageReader& message, std::vector<std::int64_t> dims) {
  std::vector<std::string> strings;
  for_each_field(message, tag::string_data, [&](MessageReader& at) { strings.push_back(at.read_string()); });
  return Tensor::of_strings(std::move(dims), std::move(strings));
}

void require_only_field(const TensorParts& parts, std::uint32_t expected) {
  for (std::uint32_t field = 0; field < parts.typed_counts.size(); ++field) {
    if (parts.typed_counts[field] != 0 && field != expected) {
      fail(ErrorCode::invalid_model, "its elements are given in field {} of TensorProto, where a {} tensor has none",
           field, data_types[static_cast<std::size_t>(parts.data_type)].name);
    }
  }
}

Tensor read_elements(const MessageReader& message, const TensorParts& parts, TensorSource& source) {
  const DType dtype = read_dtype(parts.data_type);
  if (parts.is_external) {
    require_only_field(parts, 0);
    return read_external(parts, dtype, source);
  }
  const std::int64_t count = checked_element_count(parts.dims);
  if (!parts.raw.empty()) {
    require_only_field(parts, 0);
    const std::size_t needed = byte_count(dtype, count);
    if (dtype == DType::string) fail(ErrorCode::invalid_model, "strings cannot be raw data");
    if (needed != parts.raw.size()) {
      fail(ErrorCode::invalid_model, "{} of shape {} takes {} bytes, but its raw data has {}", to_string(dtype),
           shape_text(parts.dims), needed, parts.raw.size());
    }
    return view_or_copy(dtype, parts.dims, parts.raw, source.owner, source);
  }
  const std::uint32_t field = typed_field(dtype);
  require_only_field(parts, field);
  const bool packed = bit_width(dtype) == 4 || bit_width(dtype) == 2;
  const std::size_t needed = packed ? byte_count(dtype, count) : static_cast<std::size_t>(count);
  if (needed != parts.typed_counts[field]) {
    fail(ErrorCode::invalid_model, "{} of shape {} needs {} values, but {} are given", to_string(dtype),
         shape_text(parts.dims), needed, parts.typed_counts[field]);
  }
  if (dtype == DType::string) return read_strings(message, parts.dims);
  Tensor tensor = Tensor::allocate(dtype, parts.dims);
  fill_typed(message, field, tensor);
  return tensor;
}

}  // namespace

DType read_dtype(std::int32_t onnx_type) {
  if (onnx_type < 0 || std::cmp_greater_equal(onnx_type, data_types.size()))
    fail(ErrorCode::unsupported, "element type {}, which is newer than this version of Lapilli", onnx_type);
  if (onnx_type == 0) fail(ErrorCode::invalid_model, "no element type is given");
  const auto [name, dtype] = data_types[static_cast<std::size_t>(onnx_type)];
  if (dtype == DType::undefined) fail(ErrorCode::unsupported, "element type {} is not supported", name);
  return dtype;
}

NamedTensor read_tensor(MessageReader message, TensorSource& source) {
  const MessageReader whole = message;
  TensorParts parts;
  try {
    while (message.next()) read_tensor_field(message, parts);
    Tensor tensor = read_elements(whole, parts, source);
    return {std::move(parts.name), std::move(tensor)};
  } catch (const Error& error) {
    if (parts.name.empty()) throw;
    fail(error.code(), "tensor {}: {}", name_text(parts.name), error.what());
  }
}

}  // namespace lapilli::onnx
