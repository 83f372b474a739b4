#include "io/npy_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "base/checked.h"
#include "base/failure.h"

namespace lapilli {
namespace {

constexpr std::size_t point_bytes = 4;

bool is_code_point(std::uint32_t point) { return point < 0xD800 || (point > 0xDFFF && point <= 0x10FFFF); }

void append_utf8(std::uint32_t point, std::string& text) {
  const auto tail = [&](unsigned shift) { text += static_cast<char>(0x80U | ((point >> shift) & 0x3FU)); };
  if (point < 0x80) {
    text += static_cast<char>(point);
  } else if (point < 0x800) {
    text += static_cast<char>(0xC0U | (point >> 6U));
    tail(0);
  } else if (point < 0x10000) {
    text += static_cast<char>(0xE0U | (point >> 12U));
    tail(6);
    tail(0);
  } else {
    text += static_cast<char>(0xF0U | (point >> 18U));
    tail(12);
    tail(6);
    tail(0);
  }
}

std::vector<std::uint32_t> code_points(std::string_view text) {
  std::vector<std::uint32_t> points;
  for (std::size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i]);
    const std::size_t length = first < 0x80 ? 1 : first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    std::uint32_t point = length == 1 ? first : first & (0xFFU >> (length + 1));
    bool good = first < 0x80 || (first >= 0xC2 && first < 0xF5);
    for (std::size_t j = 1; good && j < length; ++j) {
      const unsigned next = i + j < text.size() ? static_cast<unsigned char>(text[i + j]) : 0U;
      good = (next & 0xC0U) == 0x80U;
      point = point << 6U | (next & 0x3FU);
    }
    constexpr std::array<std::uint32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
    if (!good || point < least[length] || !is_code_point(point)) {
      fail(ErrorCode::invalid_argument, "a string is not UTF-8, which NumPy's text needs");
    }
    points.push_back(point);
    i += length;
  }
  return points;
}

}  // namespace

std::optional<std::size_t> npy_text_length(std::string_view code) {
  std::size_t length = 0;
  if (!code.starts_with('U')) return std::nullopt;
  const auto [end, error] = std::from_chars(code.data() + 1, code.data() + code.size(), length);
  if (error != std::errc{} || end != code.data() + code.size() || length == 0) return std::nullopt;
  return length;
}

Tensor texts_from_npy(std::span<const std::byte> elements, std::size_t length, std::vector<std::int64_t> shape) {
  std::vector<std::string> texts(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < texts.size(); ++i) {
    std::vector<std::uint32_t> points(length);
    for (std::size_t j = 0; j < length * point_bytes; ++j) {
      points[j / point_bytes] |= static_cast<std::uint32_t>(elements[i * length * point_bytes + j])
                                 << (8 * (j % point_bytes));
    }
    while (!points.empty() && points.back() == 0) points.pop_back();
    for (const std::uint32_t point : points) {
      if (!is_code_point(point)) fail(ErrorCode::invalid_argument, "element {} has no text", i);
      append_utf8(point, texts[i]);
    }
  }
  return Tensor::of_strings(std::move(shape), std::move(texts));
}

NpyTexts texts_for_npy(const Tensor& texts) {
  std::vector<std::vector<std::uint32_t>> all;
  NpyTexts result{1, {}};
  for (const std::string& text : texts.strings()) {
    all.push_back(code_points(text));
    result.length = std::max(result.length, all.back().size());
  }
  constexpr std::size_t most_bytes = std::size_t{1} << 30U;
  const std::size_t bytes = checked_multiply(checked_multiply(all.size(), result.length), point_bytes);
  if (bytes > most_bytes) {
    fail(ErrorCode::limit_exceeded,
         "{} strings of up to {} code points take {} bytes as NumPy has them, {} is the most", all.size(),
         result.length, bytes, most_bytes);
  }
  result.elements.resize(bytes);
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (std::size_t j = 0; j < all[i].size() * point_bytes; ++j) {
      const std::uint32_t point = all[i][j / point_bytes];
      result.elements[i * result.length * point_bytes + j] = static_cast<std::byte>(point >> (8 * (j % point_bytes)));
    }
  }
  return result;
}

}  // namespace lapilli
