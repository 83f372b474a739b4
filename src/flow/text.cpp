// Strings: joined, cut, matched.
#include "flow/text.h"

#include <re2/re2.h>
#include <algorithm>
#include <array>
#include <limits>

#include "base/checked.h"
#include "flow/host_call.h"
#include "flow/host_elements.h"

namespace lapilli {
namespace {

constexpr std::string_view spaces = " \t\n\v\f\r";

void concatenate(HostCall& call) {
  const auto left = strings_of(call, 0), right = strings_of(call, 1);
  const std::array tensors{call.tensor(0), call.tensor(1)};
  Broadcast broadcast = broadcast_tensors(tensors);
  std::vector<std::string> texts;
  texts.reserve(broadcast.positions[0].size());
  for (std::size_t i = 0; i < broadcast.positions[0].size(); ++i) {
    texts.push_back(left[broadcast.positions[0][i]] + right[broadcast.positions[1][i]]);
  }
  call.set_output(0, Tensor::of_strings(std::move(broadcast.shape), std::move(texts)));
}

// At most `most` cuts, from the left; the last piece is what is left.
std::vector<std::string_view> split_at(std::string_view text, std::string_view delimiter, std::size_t most) {
  std::vector<std::string_view> pieces;
  while (pieces.size() < most) {
    const std::size_t end = text.find(delimiter);
    if (end == std::string_view::npos) break;
    pieces.push_back(text.substr(0, end));
    text.remove_prefix(end + delimiter.size());
  }
  pieces.push_back(text);
  return pieces;
}

// The words between runs of spaces; the last piece, when there are more, is what is left.
std::vector<std::string_view> split_words(std::string_view text, std::size_t most) {
  std::vector<std::string_view> pieces;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(spaces), text.size()));
    if (text.empty()) return pieces;
    if (pieces.size() == most) break;
    const std::size_t end = std::min(text.find_first_of(spaces), text.size());
    pieces.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  pieces.push_back(text);
  return pieces;
}

void split(HostCall& call) {
  const auto texts = strings_of(call, 0);
  const auto delimiter = call.attribute<std::string>("delimiter", "");
  const auto wanted = call.attribute<std::int64_t>("maxsplit", -1);
  const std::size_t most = wanted < 0 ? std::numeric_limits<std::size_t>::max() : static_cast<std::size_t>(wanted);
  const std::vector<std::int64_t>& shape = call.tensor(0).shape();
  Tensor counts = Tensor::allocate(DType::int64, shape);
  const std::span<std::int64_t> numbers = counts.mutable_elements<std::int64_t>();
  std::vector<std::vector<std::string_view>> pieces;
  std::int64_t longest = 0;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    pieces.push_back(delimiter.empty() ? split_words(texts[i], most) : split_at(texts[i], delimiter, most));
    numbers[i] = static_cast<std::int64_t>(pieces.back().size());
    longest = std::max(longest, numbers[i]);
  }
  std::vector<std::int64_t> result_shape = shape;
  result_shape.push_back(longest);
  std::vector<std::string> result(host_element_count(result_shape));
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    std::ranges::copy(pieces[i], result.begin() + static_cast<std::ptrdiff_t>(i) * longest);
  }
  call.set_output(0, Tensor::of_strings(std::move(result_shape), std::move(result)));
  call.set_output(1, std::move(counts));
}

// RE2 takes time in proportion to the text, whatever the pattern, and bounds its memory.
void match(HostCall& call) {
  const auto texts = strings_of(call, 0);
  const auto pattern = call.attribute<std::string>("pattern", "");
  const RE2 expression(pattern, RE2::Quiet);
  if (!expression.ok()) fail(ErrorCode::invalid_model, "the pattern '{}': {}", pattern, expression.error());
  Tensor result = Tensor::allocate(DType::boolean, call.tensor(0).shape());
  const std::span<std::byte> matches = result.mutable_bytes();
  for (std::size_t i = 0; i < texts.size(); ++i) matches[i] = std::byte{RE2::FullMatch(texts[i], expression)};
  call.set_output(0, std::move(result));
}

constexpr onnx::TypeSet text{DType::string};

constexpr std::array operators{
    HostOperator{"Cast", 1, cast_text, strings_reason},
    HostOperator{"CastLike", 15, cast_text_like, strings_reason},
    HostOperator{"RegexFullMatch", 20, match, strings_reason, {}, {text}},
    HostOperator{"StringConcat", 20, concatenate, strings_reason, {}, {text}},
    HostOperator{"StringNormalizer", 10, normalize_text, strings_reason, {}, {text}},
    HostOperator{"StringSplit", 20, split, strings_reason, {}, {text}},
    HostOperator{
        "TfIdfVectorizer", 9, vectorize_text, "n-grams are looked up in a table", {}, {text | onnx::types::indices}},
    HostOperator{"UniquePadded", 1, unique_text, strings_reason, "lapilli"},
};

}  // namespace

std::span<const HostOperator> text_operators() { return operators; }

}  // namespace lapilli
