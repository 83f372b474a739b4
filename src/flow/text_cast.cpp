// Numbers to strings and back.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <format>
#include <limits>
#include <optional>
#include <system_error>
#include <type_traits>

#include "base/checked.h"
#include "base/half.h"
#include "flow/host_elements.h"
#include "flow/text.h"
#include "import/onnx/tensor_reader.h"

namespace lapilli {
namespace {

// "d.ddde-dd" with the fewest digits that give the value back.
std::string shortest(double value) {
  std::array<char, 64> text{};
  return {text.data(), std::to_chars(text.begin(), text.end(), value, std::chars_format::scientific).ptr};
}

std::string shortest(float value) {
  std::array<char, 64> text{};
  return {text.data(), std::to_chars(text.begin(), text.end(), value, std::chars_format::scientific).ptr};
}

template <class Small>
std::string shortest(Small value) {
  const auto wide = static_cast<float>(value);
  for (int digits = 0;; ++digits) {
    const std::string text = std::format("{:.{}e}", wide, digits);
    float back = 0;
    std::from_chars(text.data(), text.data() + text.size(), back);
    if (Small(back) == value || digits == std::numeric_limits<float>::max_digits10) return text;
  }
}

// As NumPy lays numbers out: with an exponent below 1e-4 and from 1e16 on.
std::string lay_out(const std::string& scientific) {
  const std::size_t mark = scientific.find('e');
  const bool negative = scientific.starts_with('-');
  std::string digits = scientific.substr(negative ? 1 : 0, mark - (negative ? 1 : 0));
  std::erase(digits, '.');
  const std::size_t first = mark + (scientific[mark + 1] == '+' ? 2 : 1);
  int exponent = 0;
  std::from_chars(scientific.data() + first, scientific.data() + scientific.size(), exponent);
  std::string text = negative ? "-" : "";
  if (exponent < -4 || exponent >= 16) {
    text += digits.substr(0, 1);
    if (digits.size() > 1) text += "." + digits.substr(1);
    return text + std::format("e{}{:02}", exponent < 0 ? '-' : '+', std::abs(exponent));
  }
  if (exponent < 0) return text + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  const auto whole = static_cast<std::size_t>(exponent) + 1;
  if (digits.size() <= whole) return text + digits + std::string(whole - digits.size(), '0') + ".0";
  return text + digits.substr(0, whole) + "." + digits.substr(whole);
}

template <class Real>
std::string real_text(Real value) {
  double wide = 0;
  if constexpr (std::is_floating_point_v<Real>) {
    wide = value;
  } else {
    wide = static_cast<float>(value);
  }
  if (std::isnan(wide)) return "NaN";
  if (std::isinf(wide)) return wide < 0 ? "-INF" : "INF";
  return lay_out(shortest(value));
}

template <class T>
std::vector<std::string> texts_of(const Tensor& tensor, std::string (*text)(T)) {
  std::vector<std::string> texts;
  for (const T& value : tensor.elements<T>()) texts.push_back(text(value));
  return texts;
}

template <class T>
std::string integer_text(T value) {
  return std::to_string(value);
}

std::string boolean_text(std::uint8_t value) { return value != 0 ? "True" : "False"; }

std::vector<std::string> to_texts(const Tensor& tensor) {
  switch (const DType dtype = tensor.dtype()) {
    case DType::float64: return texts_of<double>(tensor.aligned(), real_text);
    case DType::float16: return texts_of<Half>(tensor.aligned(), real_text);
    case DType::bfloat16: return texts_of<BFloat16>(tensor.aligned(), real_text);
    case DType::boolean: return texts_of<std::uint8_t>(tensor.aligned(), boolean_text);
    case DType::uint64: return texts_of<std::uint64_t>(tensor.aligned(), integer_text);
    default:
      if (is_integer(dtype)) return texts_of<std::int64_t>(convert_elements(tensor, DType::int64), integer_text);
      return texts_of<float>(convert_elements(tensor, DType::float32), real_text);
  }
}

[[noreturn]] void fail_text(std::string_view text, DType dtype) {
  fail(ErrorCode::invalid_argument, "'{}' is no {}", onnx::printable(text), to_string(dtype));
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view spaces = " \t\n\v\f\r";
  text.remove_prefix(std::min(text.find_first_not_of(spaces), text.size()));
  return text.substr(0, text.find_last_not_of(spaces) + 1);
}

// A plus is not for from_chars; with another sign behind it, it stays and is refused.
std::string_view without_plus(std::string_view text) {
  const bool signed_again = text.size() > 1 && (text[1] == '+' || text[1] == '-');
  return text.starts_with('+') && !signed_again ? text.substr(1) : text;
}

// The value when the whole text is a number. Numbers too large are infinite, too small ones are zero.
std::optional<double> read_real(std::string_view text) {
  text = without_plus(text);
  double value = 0;
  const char *begin = text.begin(), *end = text.end();
  auto [stop, problem] = std::from_chars(begin, end, value);
  if (problem == std::errc::result_out_of_range) {
    long double wide = 0;
    problem = std::from_chars(begin, end, wide).ec;
    value = static_cast<double>(wide);
  }
  if (problem != std::errc() || stop != end) return std::nullopt;
  return value;
}

template <class T>
T read_integer(std::string_view whole, DType dtype) {
  const std::string_view text = without_plus(whole);
  T value = 0;
  const char *begin = text.begin(), *end = text.end();
  const auto [stop, problem] = std::from_chars(begin, end, value);
  if (problem == std::errc() && stop == end) return value;
  // "1e3" and "100.5", of which the fraction goes.
  const auto real = read_real(whole);
  const double low = std::is_signed_v<T> ? -0x1p63 : 0, high = std::is_signed_v<T> ? 0x1p63 : 0x1p64;
  if (!real || !(std::trunc(*real) >= low) || !(*real < high)) fail_text(whole, dtype);
  return static_cast<T>(*real);
}

// Whether the type holds an integer; its own 64 bits always do.
bool holds(DType dtype, std::int64_t value) {
  const std::size_t bits = bit_width(dtype);
  if (bits == 64) return true;
  const std::int64_t span = std::int64_t{1} << bits;
  return is_signed_integer(dtype) ? value >= -span / 2 && value < span / 2 : value >= 0 && value < span;
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return lower;
}

std::uint8_t read_boolean(std::string_view text) {
  const std::string lower = lower_case(text);
  if (lower == "true") return 1;
  if (lower == "false") return 0;
  const auto value = read_real(text);
  if (!value) fail_text(text, DType::boolean);
  return *value != 0 ? 1 : 0;
}

template <class T, class Read>
Tensor read_texts(const Tensor& texts, DType dtype, Read&& read) {
  Tensor result = Tensor::allocate(dtype, texts.shape());
  const std::span<T> values = result.mutable_elements<T>();
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = read(trimmed(texts.strings()[i]));
  return result;
}

Tensor from_texts(const Tensor& texts, DType dtype) {
  if (dtype == DType::boolean) return read_texts<std::uint8_t>(texts, dtype, read_boolean);
  if (dtype == DType::uint64) {
    return read_texts<std::uint64_t>(texts, dtype,
                                     [&](std::string_view text) { return read_integer<std::uint64_t>(text, dtype); });
  }
  if (is_integer(dtype)) {
    return convert_elements(read_texts<std::int64_t>(texts, DType::int64,
                                                     [&](std::string_view text) {
                                                       const auto value = read_integer<std::int64_t>(text, dtype);
                                                       if (!holds(dtype, value)) fail_text(text, dtype);
                                                       return value;
                                                     }),
                            dtype);
  }
  return convert_elements(read_texts<double>(texts, DType::float64,
                                             [&](std::string_view text) {
                                               const auto value = read_real(text);
                                               if (!value) fail_text(text, dtype);
                                               return *value;
                                             }),
                          dtype);
}

// Up to opset 5 the type is said by its name.
DType target_type(const HostCall& call) {
  if (call.node().opset_version >= 6) {
    return onnx::read_dtype(checked_cast<std::int32_t>(call.attribute<std::int64_t>("to", 0)));
  }
  const std::string name = lower_case(call.attribute<std::string>("to", ""));
  const auto dtype = dtype_from_string(name == "float" ? "float32" : name == "double" ? "float64" : name);
  if (!dtype) fail(ErrorCode::invalid_model, "'{}' is no type", onnx::printable(name));
  return *dtype;
}

}  // namespace

Tensor cast_elements(const Tensor& tensor, DType dtype) {
  if (tensor.dtype() == dtype) return tensor;
  if (tensor.dtype() == DType::string) return from_texts(tensor, dtype);
  if (dtype != DType::string) return convert_elements(tensor, dtype);
  return Tensor::of_strings(tensor.shape(), to_texts(tensor));
}

void cast_text(HostCall& call) { call.set_output(0, cast_elements(call.tensor(0), target_type(call))); }

void cast_text_like(HostCall& call) { call.set_output(0, cast_elements(call.tensor(0), call.tensor(1).dtype())); }

}  // namespace lapilli
