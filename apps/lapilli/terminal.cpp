#include "terminal.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <format>
#include <iostream>

namespace lapilli::program {
namespace {

bool shows_colours() {
  const char* const kind = std::getenv("TERM");
  const char* const refusal = std::getenv("NO_COLOR");
  return isatty(STDOUT_FILENO) != 0 && (refusal == nullptr || *refusal == '\0') &&
         (kind == nullptr || std::string_view(kind) != "dumb");
}

std::string_view code_of(Style style) {
  switch (style) {
    case Style::plain: return "";
    case Style::bold: return "\x1b[1m";
    case Style::dim: return "\x1b[2m";
    case Style::good: return "\x1b[32m";
    case Style::bad: return "\x1b[31m";
  }
  return "";
}

// In characters, where bytes that continue one of UTF-8 do not count.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string cut(const std::string& text, std::size_t most) {
  if (most == 0 || text.size() <= most) return text;
  const std::size_t kept = most - 3;
  return text.substr(0, kept / 2) + "..." + text.substr(text.size() - (kept - kept / 2));
}

}  // namespace

std::string styled(std::string_view text, Style style) {
  static const bool colours = shows_colours();
  if (!colours || style == Style::plain) return std::string(text);
  return std::format("{}{}\x1b[0m", code_of(style), text);
}

Table::Table(std::vector<std::string> headings, std::vector<std::size_t> right) : right_(std::move(right)) {
  rows_.push_back(std::move(headings));
}

void Table::add(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = one_line(cell);
  cells.resize(rows_.front().size());
  rows_.push_back(std::move(cells));
}

std::string Table::text() const {
  std::vector<std::size_t> widths(rows_.front().size(), 0);
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(cut(row[i], most_)));
  }
  std::string result;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string cell = cut(row[i], most_);
      const std::string padding(widths[i] - width_of(cell), ' ');
      const bool is_right = std::ranges::contains(right_, i);
      line += (i == 0 ? "" : "  ") + (is_right ? padding + cell : cell + padding);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    result += styled(line, &row == rows_.data() ? Style::bold : Style::plain) + "\n";
  }
  return result;
}

Progress::Progress(std::string_view what) {
  if (isatty(STDERR_FILENO) != 0) std::cerr << "\r\x1b[K" << one_line(what) << " ..." << std::flush;
}

Progress::~Progress() {
  if (isatty(STDERR_FILENO) != 0) std::cerr << "\r\x1b[K" << std::flush;
}

std::string count_text(double count) {
  constexpr std::array units{"", " k", " M", " G", " T", " P"};
  std::size_t unit = 0;
  while (count >= 1000 && unit + 1 < units.size()) {
    count /= 1000;
    ++unit;
  }
  return unit == 0 ? std::format("{:.0f}", count) : std::format("{:.2f}{}", count, units[unit]);
}

std::string one_line(std::string_view text) {
  std::string result(text);
  for (char& character : result) {
    if (static_cast<unsigned char>(character) < 32 || character == 127) character = ' ';
  }
  return result;
}

}  // namespace lapilli::program
