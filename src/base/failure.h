#pragma once

#include <format>
#include <string_view>

#include "lapilli/error.h"

namespace lapilli {

/// Throws Error with a formatted text.
template <class... Arguments>
[[noreturn]] void fail(ErrorCode code, std::format_string<Arguments...> format, Arguments&&... arguments) {
  throw Error(code, std::format(format, std::forward<Arguments>(arguments)...));
}

/// Runs `action`; an Error that leaves it gets `context` in front of its text, unless it stands there already, so
/// that each layer adds what it knows.
template <class Action>
decltype(auto) with_context(std::string_view context, Action&& action) {
  try {
    return std::forward<Action>(action)();
  } catch (const Error& error) {
    const std::string_view text = error.what();
    if (text.starts_with(context) && text.substr(context.size()).starts_with(": ")) throw;
    throw Error(error.code(), std::format("{}: {}", context, text));
  }
}

}  // namespace lapilli
