#include "io/npy.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <format>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/checked.h"
#include "base/comparison.h"
#include "base/half.h"
#include "base/packed.h"
#include "base/small_float.h"
#include "base/text.h"
#include "io/npy_header.h"
#include "io/npy_text.h"

namespace lapilli {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t preamble = 8;  // the magic and the version

struct TypeCode {
  std::string_view code;  // without the byte order
  DType dtype;
};

constexpr std::array type_codes{
    TypeCode{"f4", DType::float32}, TypeCode{"f2", DType::float16}, TypeCode{"f8", DType::float64},
    TypeCode{"i1", DType::int8},    TypeCode{"i2", DType::int16},   TypeCode{"i4", DType::int32},
    TypeCode{"i8", DType::int64},   TypeCode{"u1", DType::uint8},   TypeCode{"u2", DType::uint16},
    TypeCode{"u4", DType::uint32},  TypeCode{"u8", DType::uint64},  TypeCode{"b1", DType::boolean},
};

/// What an element of an array is: a type and its bytes, or text of so many code points.
struct Element {
  DType dtype = DType::undefined;
  std::size_t bytes = 0, unit = 0;  // unit: what has a byte order
};

Element element_of(std::string_view description) {
  const bool ordered = !description.empty() && std::string_view("<>|=").contains(description.front());
  const std::string_view code = ordered ? description.substr(1) : "";
  constexpr std::size_t longest_text = std::size_t{1} << 28U;
  if (const auto length = npy_text_length(code); length && *length <= longest_text) {
    return {DType::string, 4 * *length, 4};
  }
  const auto* const found = std::ranges::find(type_codes, code, &TypeCode::code);
  if (found == type_codes.end()) {
    fail(ErrorCode::unsupported, "arrays of NumPy's type '{}' cannot be read; numbers, bool and text can",
         description);
  }
  const std::size_t bytes = bit_width(found->dtype) / 8;
  return {found->dtype, bytes, bytes};
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct Parts {
  std::string_view header;
  std::span<const std::byte> elements;
};

Parts split(std::span<const std::byte> file) {
  const std::string_view text = text_of(file);
  if (!text.starts_with(magic)) fail(ErrorCode::invalid_argument, "it does not begin as a .npy file");
  const auto at = [&](std::size_t index) -> std::size_t {
    if (index >= file.size()) fail(ErrorCode::invalid_argument, "it ends within the header");
    return static_cast<std::size_t>(file[index]);
  };
  const std::size_t version = at(6);
  if (version < 1 || version > 3) fail(ErrorCode::unsupported, "version {} of the .npy format is not known", version);
  const std::size_t length_size = version == 1 ? 2 : 4;
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_size; ++i) length |= at(preamble + i) << (8 * i);
  const std::size_t begin = preamble + length_size;
  if (length > file.size() - begin) fail(ErrorCode::invalid_argument, "it ends within the header");
  return {text.substr(begin, length), file.subspan(begin + length)};
}

void reverse_elements(std::span<std::byte> bytes, std::size_t width) {
  for (std::size_t at = 0; at < bytes.size(); at += width) std::ranges::reverse(bytes.subspan(at, width));
}

// From the order in which the first index runs fastest to row-major.
void turn_from_fortran(std::span<const std::byte> source, std::span<const std::int64_t> shape, std::size_t width,
                       std::span<std::byte> target) {
  std::vector<std::int64_t> index(shape.size(), 0);
  for (std::size_t at = 0; at < target.size(); at += width) {
    std::size_t from = 0;
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      from = from * static_cast<std::size_t>(shape[axis]) + static_cast<std::size_t>(index[axis]);
    }
    std::memcpy(target.data() + at, source.data() + from * width, width);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < shape[axis]) break;
      index[axis] = 0;
    }
  }
}

// The type that NumPy has for all values of a type that it lacks.
DType stored_type(DType dtype) noexcept {
  if (dtype == DType::bfloat16 || is_small_float(dtype)) return DType::float32;
  return is_packed(dtype) ? (is_signed_integer(dtype) ? DType::int8 : DType::uint8) : dtype;
}

Tensor converted(const Tensor& tensor, DType dtype) {
  if (dtype != DType::float32) return unpacked_tensor(tensor);
  Tensor result = Tensor::allocate(dtype, tensor.shape());
  for (std::int64_t i = 0; i < tensor.element_count(); ++i) {
    result.mutable_elements<float>()[static_cast<std::size_t>(i)] = static_cast<float>(element_as_double(tensor, i));
  }
  return result;
}

std::uint8_t code_of(float value, DType dtype) { return small_float_code(dtype, value, Overflow::special); }

void require_range(const Tensor& tensor, DType dtype) {
  const std::int64_t values = std::int64_t{1} << bit_width(dtype);
  const std::int64_t lowest = is_signed_integer(dtype) ? -values / 2 : 0;
  for (std::int64_t i = 0; i < tensor.element_count(); ++i) {
    const auto value = static_cast<std::int64_t>(element_as_double(tensor, i));
    if (value < lowest || value >= lowest + values) {
      fail(ErrorCode::invalid_argument, "element {} is {}, which {} does not have", i, value, to_string(dtype));
    }
  }
}

std::string shape_tuple(std::span<const std::int64_t> shape) {
  std::string text = "(";
  for (const std::int64_t size : shape) text += std::format("{},", size);
  return text + ")";
}

std::vector<std::byte> whole_file(std::string_view type, std::span<const std::int64_t> shape,
                                  std::span<const std::byte> elements) {
  std::string header =
      std::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", type, shape_tuple(shape));
  // The elements begin at a multiple of 64, the header ends in a line break.
  const std::size_t begin = align_up(preamble + 2 + header.size() + 1, std::size_t{64});
  header.resize(begin - preamble - 2 - 1, ' ');
  header += '\n';
  const auto length = checked_cast<std::uint16_t>(header.size());
  const std::string text = std::string(magic) + std::string("\1\0", 2) + static_cast<char>(length & 255U) +
                           static_cast<char>(length >> 8U) + header;
  std::vector<std::byte> file(begin + elements.size());
  std::ranges::copy(std::as_bytes(std::span(text)), file.begin());
  std::ranges::copy(elements, file.begin() + static_cast<std::ptrdiff_t>(begin));
  return file;
}

}  // namespace

Tensor restored_from_numpy(const Tensor& tensor, DType dtype) {
  if (tensor.dtype() == dtype || tensor.dtype() != stored_type(dtype)) return tensor;
  if (is_integer(dtype)) {
    require_range(tensor, dtype);
    return packed_tensor(dtype, tensor);
  }
  const Tensor source = tensor.aligned();
  const std::span<const float> values = source.elements<float>();
  if (dtype == DType::bfloat16) {
    Tensor result = Tensor::allocate(dtype, tensor.shape());
    std::ranges::transform(values, result.mutable_elements<BFloat16>().begin(), [](float x) { return BFloat16(x); });
    return result;
  }
  Tensor codes = Tensor::allocate(DType::uint8, tensor.shape());
  std::ranges::transform(values, codes.mutable_elements<std::uint8_t>().begin(),
                         [&](float value) { return code_of(value, dtype); });
  return is_packed(dtype) ? packed_tensor(dtype, codes) : bit_cast_tensor(dtype, codes);
}

Tensor read_npy(std::span<const std::byte> file, std::shared_ptr<const void> owner) {
  const Parts parts = split(file);
  const NpyHeader header = parse_npy_header(parts.header);
  const Element element = element_of(header.type);
  const std::size_t needed = checked_multiply(static_cast<std::size_t>(element_count(header.shape)), element.bytes);
  if (parts.elements.size() != needed) {
    fail(ErrorCode::invalid_argument, "{}{} takes {} bytes, but {} follow the header", to_string(element.dtype),
         shape_text(header.shape), needed, parts.elements.size());
  }
  const bool is_text = element.dtype == DType::string;
  const bool swapped = header.type.front() == '>' && element.unit > 1;
  const bool turned = header.fortran_order && header.shape.size() > 1;
  if (!swapped && !turned && !is_text) {
    return Tensor::view(element.dtype, header.shape, parts.elements, std::move(owner));
  }
  const auto bytes = std::make_shared<std::vector<std::byte>>(parts.elements.begin(), parts.elements.end());
  if (turned) turn_from_fortran(parts.elements, header.shape, element.bytes, *bytes);
  if (swapped) reverse_elements(*bytes, element.unit);
  if (is_text) return texts_from_npy(*bytes, element.bytes / 4, header.shape);
  return Tensor::view(element.dtype, header.shape, *bytes, bytes);
}

std::vector<std::byte> write_npy(const Tensor& tensor) {
  const DType stored = stored_type(tensor.dtype());
  if (stored != tensor.dtype()) return write_npy(converted(tensor, stored));
  if (stored == DType::string) {
    const NpyTexts texts = texts_for_npy(tensor);
    return whole_file(std::format("<U{}", texts.length), tensor.shape(), texts.elements);
  }
  const auto* const found = std::ranges::find(type_codes, stored, &TypeCode::dtype);
  if (found == type_codes.end()) {
    fail(ErrorCode::unsupported, "NumPy has no type for {}, so that such an array cannot be written",
         to_string(stored));
  }
  const char order = bit_width(stored) > 8 ? '<' : '|';
  return whole_file(std::format("{}{}", order, found->code), tensor.shape(), tensor.bytes());
}

}  // namespace lapilli
