#include "io/npy_header.h"

#include <charconv>

#include "base/failure.h"

namespace lapilli {
namespace {

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  NpyHeader parse() {
    NpyHeader header;
    bool has_type = false, has_order = false, has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr") {
        if (peek() == '[') fail(ErrorCode::unsupported, "arrays of records cannot be read");
        header.type = string();
        has_type = true;
      } else if (key == "fortran_order") {
        header.fortran_order = boolean();
        has_order = true;
      } else if (key == "shape") {
        header.shape = tuple();
        has_shape = true;
      } else {
        damaged();
      }
      if (!accept(',') && peek() != '}') damaged();
    }
    if (!has_type || !has_order || !has_shape) damaged();
    return header;
  }

 private:
  [[noreturn]] static void damaged() { fail(ErrorCode::invalid_argument, "its header is not one of a .npy file"); }

  char peek() {
    while (!text_.empty() && (text_.front() == ' ' || text_.front() == '\n')) text_.remove_prefix(1);
    return text_.empty() ? '\0' : text_.front();
  }

  bool accept(char character) {
    if (peek() != character || text_.empty()) return false;
    text_.remove_prefix(1);
    return true;
  }

  void expect(char character) {
    if (!accept(character)) damaged();
  }

  std::string string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') damaged();
    const std::size_t end = text_.find(quote, 1);
    if (end == std::string_view::npos) damaged();
    const std::string result(text_.substr(1, end - 1));
    text_.remove_prefix(end + 1);
    return result;
  }

  bool boolean() {
    peek();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (!text_.starts_with(word)) continue;
      text_.remove_prefix(word.size());
      return value;
    }
    damaged();
  }

  std::vector<std::int64_t> tuple() {
    constexpr std::size_t most_dimensions = 64;  // NumPy's own limit
    std::vector<std::int64_t> sizes;
    expect('(');
    while (!accept(')')) {
      sizes.push_back(integer());
      if (sizes.size() > most_dimensions) damaged();
      if (!accept(',') && peek() != ')') damaged();
    }
    return sizes;
  }

  std::int64_t integer() {
    peek();
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (error != std::errc{} || value < 0) damaged();
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    return value;
  }

  std::string_view text_;
};

}  // namespace

NpyHeader parse_npy_header(std::string_view text) { return Parser(text).parse(); }

}  // namespace lapilli
