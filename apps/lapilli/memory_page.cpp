#include "memory_page.h"

#include <algorithm>
#include <array>
#include <format>
#include <vector>

#include "base/text.h"
#include "terminal.h"

namespace lapilli::program {
namespace {

// In units of the picture, which is scaled to the width of the window.
constexpr double left = 84, top = 28, width = 1100, height = 600, bottom = 44, right = 16;
constexpr double character = 6.8;  // the width of most

constexpr std::string_view style = R"(
:root { color-scheme: light dark; --ink: #1d2129; --paper: #ffffff; --faint: #8a919e; --line: #d5d9e0; --peak: #c0392b; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e7ec; --paper: #15181d; --faint: #8a919e; --line: #3a404a; --peak: #ff7b6b; }
}
body { margin: 2rem; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.3rem; margin: 0 0 .5rem; }
figure { margin: 0; }
figcaption { margin: .75rem 0; max-width: 60rem; }
svg { width: 100%; height: auto; font: 11px system-ui, sans-serif; }
svg text { fill: var(--ink); pointer-events: none; }
svg .axis { fill: var(--faint); }
svg .grid { stroke: var(--line); }
svg .peak { fill: var(--peak); opacity: .16; }
svg .peak-text { fill: var(--peak); }
svg rect.block { stroke: var(--paper); stroke-width: .6; fill-opacity: .55; }
svg rect.block:hover { fill-opacity: 1; stroke: var(--ink); }
.c0 { fill: #4e79a7; } .c1 { fill: #f28e2b; } .c2 { fill: #59a14f; } .c3 { fill: #b07aa1; }
.c4 { fill: #76b7b2; } .c5 { fill: #e15759; } .c6 { fill: #edc948; } .c7 { fill: #9c755f; }
)";
constexpr std::size_t colours = 8;

std::string escaped(std::string_view text) {
  std::string result;
  for (const char each : one_line(text)) {
    switch (each) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      case '\'': result += "&#39;"; break;
      default: result += each;
    }
  }
  return result;
}

// The end of a name tells more than its beginning, which names share. Cut between characters of UTF-8.
std::string end_of(const std::string& name, std::size_t most) {
  if (name.size() <= most) return name;
  std::size_t begin = name.size() - most + 1;
  while (begin < name.size() && (static_cast<unsigned char>(name[begin]) & 0xC0U) == 0x80U) ++begin;
  return "\u2026" + name.substr(begin);
}

class Picture {
 public:
  explicit Picture(const PlanSummary& plan) : plan_(plan) {
    for (const MemoryBlock& block : plan.memory) levels_ = std::max<std::size_t>(levels_, block.last_level + 1);
    alive_.assign(levels_, 0);
    for (const MemoryBlock& block : plan.memory) {
      for (std::size_t level = block.first_level; level <= block.last_level; ++level) alive_[level] += block.size;
    }
    if (!alive_.empty()) peak_ = static_cast<std::size_t>(std::ranges::max_element(alive_) - alive_.begin());
  }

  [[nodiscard]] std::string svg() {
    text_ = std::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"Tensors in the arena\">\n",
                        left + width + right, top + height + bottom);
    draw_axes();
    for (std::size_t i = 0; i < plan_.memory.size(); ++i) draw_block(i);
    draw_peak();
    return text_ + "</svg>\n";
  }

 private:
  [[nodiscard]] double x(std::size_t level) const {
    return left + width * static_cast<double>(level) / static_cast<double>(std::max<std::size_t>(levels_, 1));
  }
  [[nodiscard]] double y(std::uint64_t address) const {
    const auto all = static_cast<double>(std::max<std::uint64_t>(plan_.arena_bytes, 1));
    return top + height * (1 - static_cast<double>(address) / all);
  }

  void draw_axes() {
    constexpr std::uint64_t rows = 5;
    for (std::uint64_t i = 0; i <= rows; ++i) {
      const std::uint64_t address = plan_.arena_bytes / rows * i;
      text_ += std::format("<line class=\"grid\" x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/>", left,
                           left + width, y(address));
      text_ += std::format("<text class=\"axis\" text-anchor=\"end\" x=\"{}\" y=\"{:.1f}\">{}</text>\n", left - 6,
                           y(address) + 4, byte_text(address));
    }
    const std::size_t step = std::max<std::size_t>((levels_ + 19) / 20, 1);
    for (std::size_t level = 0; level < levels_; level += step) {
      text_ += std::format("<text class=\"axis\" text-anchor=\"middle\" x=\"{:.1f}\" y=\"{}\">{}</text>\n",
                           (x(level) + x(level + 1)) / 2, top + height + 16, level);
    }
    text_ += std::format("<text class=\"axis\" text-anchor=\"middle\" x=\"{}\" y=\"{}\">level</text>\n",
                         left + width / 2, top + height + 34);
  }

  void draw_block(std::size_t index) {
    const MemoryBlock& block = plan_.memory[index];
    const double x0 = x(block.first_level), x1 = x(block.last_level + std::size_t{1});
    const double y0 = y(block.offset + block.size), y1 = y(block.offset);
    const std::string name = block.name.empty() ? "(inside a node)" : block.name;
    text_ += std::format(
        "<g><rect class=\"block c{}\" x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\"><title>{}\n{}, "
        "from "
        "byte {}, levels {} to {}</title></rect>",
        index % colours, x0, y0, x1 - x0, std::max(y1 - y0, 0.3), escaped(name), byte_text(block.size), block.offset,
        block.first_level, block.last_level);
    const auto fitting = static_cast<std::size_t>(std::max((x1 - x0 - 6) / character, 0.0));
    if (fitting >= std::min<std::size_t>(name.size(), 10) && y1 - y0 >= 12) {
      text_ += std::format("<text x=\"{:.2f}\" y=\"{:.2f}\">{}</text>", x0 + 3, (y0 + y1) / 2 + 4,
                           escaped(end_of(name, fitting)));
    }
    text_ += "</g>\n";
  }

  void draw_peak() {
    if (alive_.empty()) return;
    const double x0 = x(peak_), x1 = x(peak_ + 1);
    text_ += std::format(
        "<rect class=\"peak\" pointer-events=\"none\" x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\"/>", x0,
        top, std::max(x1 - x0, 1.0), height);
    const bool at_right = x0 > left + width / 2;
    text_ += std::format(
        "<text class=\"peak-text\" text-anchor=\"{}\" x=\"{:.2f}\" y=\"{}\">peak: {} at level {}</text>\n",
        at_right ? "end" : "start", at_right ? x1 : x0, top - 8, byte_text(alive_[peak_]), peak_);
  }

  const PlanSummary& plan_;
  std::string text_;
  std::size_t levels_ = 0, peak_ = 0;
  std::vector<std::uint64_t> alive_;
};

double ratio(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 1 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

std::string memory_page(const PlanSummary& plan, std::string_view title) {
  const std::string heading = escaped(title);
  const std::string caption = std::format(
      "Memory of intermediate results while a run goes through its levels. Arena {}, {:.3f} times the lower bound of "
      "{}: "
      "the most that is alive at once. A buffer for each result would take {}, {:.1f} times the arena.",
      byte_text(plan.arena_bytes), ratio(plan.arena_bytes, plan.lower_bound_bytes), byte_text(plan.lower_bound_bytes),
      byte_text(plan.unshared_bytes), ratio(plan.unshared_bytes, plan.arena_bytes));
  return std::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width\">\n<title>{0}</title>\n<style>{1}</style>\n</head>\n<body>\n<h1>{0}</"
      "h1>\n<figure>\n"
      "{2}<figcaption>{3}</figcaption>\n</figure>\n</body>\n</html>\n",
      heading, style, Picture(plan).svg(), caption);
}

}  // namespace lapilli::program
