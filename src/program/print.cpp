#include "program/print.h"

#include <array>
#include <format>
#include <string_view>

namespace lapilli {
namespace {

std::string binding_text(const Program& program, const Binding& binding) {
  constexpr std::array<std::string_view, 5> kinds{"arena", "constant", "input", "output", "parameters"};
  constexpr std::array<std::string_view, 3> marks{"", "=", "+="};
  return std::format("{}{}[{}+{}]", marks[static_cast<std::size_t>(binding.access)],
                     kinds[static_cast<std::size_t>(program.segments[binding.segment].kind)], binding.offset,
                     binding.size);
}

std::string dispatch_line(const Program& program, const Dispatch& dispatch) {
  std::string line = std::format("{} x{}x{}x{}", program.pipelines[dispatch.pipeline].kernel, dispatch.groups[0],
                                 dispatch.groups[1], dispatch.groups[2]);
  for (std::size_t i = 0; i < dispatch.bindings.size(); ++i) {
    const Binding& binding = dispatch.bindings[i];
    if (program.segments[binding.segment].kind == SegmentKind::parameters) continue;
    // Unused bindings of a kernel repeat the one before them.
    const bool repeats = i > 0 && dispatch.bindings[i - 1].segment == binding.segment &&
                         dispatch.bindings[i - 1].offset == binding.offset &&
                         dispatch.bindings[i - 1].access == binding.access;
    if (!repeats) line += " " + binding_text(program, binding);
  }
  return line + "  # " + program.origins[dispatch.origin];
}

}  // namespace

std::vector<std::string> step_lines(const Program& program) {
  std::vector<std::string> lines;
  for (const Step& step : program.steps) {
    const auto* dispatch = std::get_if<Dispatch>(&step);
    lines.push_back(dispatch == nullptr ? "barrier" : dispatch_line(program, *dispatch));
  }
  return lines;
}

}  // namespace lapilli
