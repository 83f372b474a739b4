#include "base/comparison.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <format>
#include <limits>
#include <optional>

#include "base/failure.h"
#include "base/half.h"
#include "base/small_float.h"
#include "base/text.h"

namespace lapilli {
namespace {

// The elements may lie at any byte.
template <class T>
T load(const Tensor& tensor, std::int64_t index) {
  T value;
  std::memcpy(&value, tensor.bytes().data() + static_cast<std::size_t>(index) * sizeof(T), sizeof(T));
  return value;
}

// The bits of an element of 8 bits or fewer.
std::uint8_t code_at(const Tensor& tensor, std::int64_t index) {
  const std::size_t width = bit_width(tensor.dtype()), bit = static_cast<std::size_t>(index) * width;
  const std::span<const std::byte> bytes = tensor.bytes().subspan(bit / 8);
  unsigned bits = static_cast<unsigned>(bytes[0]) >> (bit % 8);
  if (bit % 8 + width > 8) bits |= static_cast<unsigned>(bytes[1]) << (8 - bit % 8);
  return static_cast<std::uint8_t>(bits & ((1U << width) - 1));
}

std::string element_text(const Tensor& tensor, std::int64_t index) {
  if (tensor.dtype() == DType::string) return "'" + tensor.strings()[static_cast<std::size_t>(index)] + "'";
  if (tensor.dtype() == DType::int64) return std::to_string(load<std::int64_t>(tensor, index));
  if (tensor.dtype() == DType::uint64) return std::to_string(load<std::uint64_t>(tensor, index));
  return std::format("{:.9g}", element_as_double(tensor, index));
}

bool equal_element(const Tensor& a, const Tensor& b, std::int64_t index) {
  if (a.dtype() == DType::string) {
    const auto place = static_cast<std::size_t>(index);
    return a.strings()[place] == b.strings()[place];
  }
  if (bit_width(a.dtype()) <= 8) {
    const std::uint8_t left = code_at(a, index), right = code_at(b, index);
    if (left == right || !is_small_float(a.dtype())) return left == right;
    return std::isnan(small_float_value(a.dtype(), left)) && std::isnan(small_float_value(a.dtype(), right));
  }
  const std::size_t width = bit_width(a.dtype()) / 8;
  const std::size_t offset = static_cast<std::size_t>(index) * width;
  return std::memcmp(a.bytes().data() + offset, b.bytes().data() + offset, width) == 0;
}

std::string place_text(std::int64_t index, std::span<const std::int64_t> shape) {
  std::vector<std::int64_t> place(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0; index /= shape[axis]) place[axis] = index % shape[axis];
  return shape_text(place);
}

std::string unequal_text(const Tensor& result, const Tensor& reference, std::int64_t count, std::int64_t first) {
  return std::format("{} of {} elements differ, the first at {}: {}, expected {}", count, result.element_count(),
                     place_text(first, result.shape()), element_text(result, first), element_text(reference, first));
}

// The norms of the finite elements, and where others do not agree.
struct Norms {
  double difference = 0, reference = 0, result = 0;
  std::int64_t disagreeing = 0;
  std::optional<std::int64_t> first;

  void add(double result_element, double reference_element, std::int64_t index) {
    if (std::isfinite(result_element) && std::isfinite(reference_element)) {
      difference += (result_element - reference_element) * (result_element - reference_element);
      reference += reference_element * reference_element;
      result += result_element * result_element;
      return;
    }
    const bool agree =
        (std::isnan(result_element) && std::isnan(reference_element)) || result_element == reference_element;
    if (agree) return;
    ++disagreeing;
    if (!first) first = index;
  }

  [[nodiscard]] double relative_error() const {
    return reference > 0 ? std::sqrt(difference / reference) : std::sqrt(result);
  }
};

Norms norms_of(const Tensor& result, const Tensor& reference) {
  Norms norms;
  for (std::int64_t i = 0; i < result.element_count(); ++i) {
    norms.add(element_as_double(result, i), element_as_double(reference, i), i);
  }
  return norms;
}

}  // namespace

bool is_exact(DType dtype) noexcept { return !is_floating_point(dtype) || bit_width(dtype) <= 8; }

double element_as_double(const Tensor& tensor, std::int64_t index) {
  switch (tensor.dtype()) {
    case DType::float32: return load<float>(tensor, index);
    case DType::float16: return static_cast<double>(static_cast<float>(load<Half>(tensor, index)));
    case DType::bfloat16: return static_cast<double>(static_cast<float>(load<BFloat16>(tensor, index)));
    case DType::float64: return load<double>(tensor, index);
    case DType::int8: return load<std::int8_t>(tensor, index);
    case DType::int16: return load<std::int16_t>(tensor, index);
    case DType::int32: return load<std::int32_t>(tensor, index);
    case DType::int64: return static_cast<double>(load<std::int64_t>(tensor, index));
    case DType::boolean: return load<std::uint8_t>(tensor, index) != 0 ? 1 : 0;
    case DType::uint8: return load<std::uint8_t>(tensor, index);
    case DType::uint16: return load<std::uint16_t>(tensor, index);
    case DType::uint32: return load<std::uint32_t>(tensor, index);
    case DType::uint64: return static_cast<double>(load<std::uint64_t>(tensor, index));
    case DType::uint2:
    case DType::uint4: return code_at(tensor, index);
    case DType::int2: return (code_at(tensor, index) ^ 2) - 2;
    case DType::int4: return (code_at(tensor, index) ^ 8) - 8;
    default:
      if (is_small_float(tensor.dtype())) return small_float_value(tensor.dtype(), code_at(tensor, index));
      fail(ErrorCode::unsupported, "elements of {} are not read as numbers", to_string(tensor.dtype()));
  }
}

Difference compare(const Tensor& result, const Tensor& reference) {
  if (result.dtype() != reference.dtype() || result.shape() != reference.shape()) {
    return {std::format("is {}{}, expected {}{}", to_string(result.dtype()), shape_text(result.shape()),
                        to_string(reference.dtype()), shape_text(reference.shape())),
            std::numeric_limits<double>::infinity()};
  }
  Difference difference;
  const bool has_number = bit_width(result.dtype()) != 0;
  if (has_number) {
    const Norms norms = norms_of(result, reference);
    difference.relative_error = norms.relative_error();
    if (norms.first) difference.mismatch = unequal_text(result, reference, norms.disagreeing, *norms.first);
  }
  if (!is_exact(result.dtype())) return difference;
  std::int64_t unequal = 0, first = 0;
  for (std::int64_t i = result.element_count(); i-- > 0;) {
    if (equal_element(result, reference, i)) continue;
    ++unequal;
    first = i;
  }
  if (unequal == 0) return difference;
  difference.mismatch = unequal_text(result, reference, unequal, first);
  if (!has_number) difference.relative_error = std::numeric_limits<double>::infinity();
  return difference;
}

}  // namespace lapilli
