// StringNormalizer: upper and lower case, and words that are left out.
#include <clocale>
#include <cwctype>

#include <set>
#include <string>
#include <vector>

#include "base/text.h"
#include "flow/host_elements.h"
#include "flow/text.h"

namespace lapilli {
namespace {

enum class CaseChange : std::uint8_t { none, lower, upper };

CaseChange case_change_of(const HostCall& call) {
  const auto action = call.attribute<std::string>("case_change_action", "NONE");
  if (action == "NONE") return CaseChange::none;
  if (action == "LOWER") return CaseChange::lower;
  if (action == "UPPER") return CaseChange::upper;
  fail(ErrorCode::invalid_model, "case_change_action '{}' is none of NONE, LOWER, UPPER", onnx::printable(action));
}

/// Unicode's letters as the C library knows them, without a language: C.UTF-8 is part of it.
class Letters {
 public:
  Letters() : locale_(newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr)) {
    if (locale_ == nullptr)
      fail(ErrorCode::unsupported, "the C library has no locale C.UTF-8 to change the case with");
  }
  Letters(const Letters&) = delete;
  Letters& operator=(const Letters&) = delete;
  ~Letters() { freelocale(locale_); }

  [[nodiscard]] std::string changed(std::string_view text, CaseChange change) const {
    if (change == CaseChange::none) return std::string(text);
    std::string result;
    while (!text.empty()) {
      const std::size_t length = letter_length(text);
      // What is no UTF-8 stays as it is.
      if (length == 0) {
        result += text[0];
        text.remove_prefix(1);
        continue;
      }
      const auto letter = static_cast<wint_t>(decode(text.substr(0, length)));
      append(change == CaseChange::lower ? towlower_l(letter, locale_) : towupper_l(letter, locale_), result);
      text.remove_prefix(length);
    }
    return result;
  }

 private:
  // Bytes of the letter at the front; 0 when it is no UTF-8.
  static std::size_t letter_length(std::string_view text) {
    const auto first = static_cast<unsigned char>(text[0]);
    const std::size_t length = first < 0x80   ? 1
                               : first < 0xC2 ? 0
                               : first < 0xE0 ? 2
                               : first < 0xF0 ? 3
                               : first < 0xF5 ? 4
                                              : 0;
    if (length > text.size()) return 0;
    for (std::size_t i = 1; i < length; ++i) {
      if ((static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U) return 0;
    }
    return length;
  }

  static std::uint32_t decode(std::string_view letter) {
    const auto first = static_cast<unsigned char>(letter[0]);
    if (letter.size() == 1) return first;
    std::uint32_t code = first & (0x7FU >> letter.size());
    for (const char byte : letter.substr(1)) code = code << 6U | (static_cast<unsigned char>(byte) & 0x3FU);
    return code;
  }

  static void append(std::uint32_t code, std::string& text) {
    const auto add = [&](std::uint32_t byte) { text += static_cast<char>(static_cast<unsigned char>(byte)); };
    if (code < 0x80) return add(code);
    if (code >= 0x10000) {
      add(0xF0U | code >> 18U);
      add(0x80U | (code >> 12U & 0x3FU));
    } else if (code >= 0x800) {
      add(0xE0U | code >> 12U);
    }
    add(code >= 0x800 ? 0x80U | (code >> 6U & 0x3FU) : 0xC0U | code >> 6U);
    add(0x80U | (code & 0x3FU));
  }

  locale_t locale_;
};

}  // namespace

void normalize_text(HostCall& call) {
  const auto texts = strings_of(call, 0);
  const std::vector<std::int64_t>& shape = call.tensor(0).shape();
  if (shape.empty() || shape.size() > 2 || (shape.size() == 2 && shape[0] != 1)) {
    fail(ErrorCode::invalid_model, "the input is of shape {}, which is neither [C] nor [1, C]", shape_text(shape));
  }
  const CaseChange change = case_change_of(call);
  const bool exact = call.attribute<std::int64_t>("is_case_sensitive", 0) != 0;
  const Letters letters;
  // Words that may be written in any case are compared in lower case.
  const auto compared = [&](const std::string& text) {
    return exact ? text : letters.changed(text, CaseChange::lower);
  };
  std::set<std::string, std::less<>> left_out;
  for (const std::string& word : call.attribute<std::vector<std::string>>("stopwords", {})) {
    left_out.insert(compared(word));
  }
  std::vector<std::string> kept;
  for (const std::string& text : texts) {
    if (!left_out.contains(compared(text))) kept.push_back(letters.changed(text, change));
  }
  if (kept.empty()) kept.emplace_back();
  std::vector<std::int64_t> result_shape = shape;
  result_shape.back() = static_cast<std::int64_t>(kept.size());
  call.set_output(0, Tensor::of_strings(std::move(result_shape), std::move(kept)));
}

}  // namespace lapilli
