#include "vision/classification.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>

#include "base/failure.h"
#include "base/mapped_file.h"
#include "base/text.h"

namespace lapilli {
namespace {

constexpr std::size_t most_label_bytes = std::size_t{1} << 24U;

void require_numbers(std::span<const float> scores) {
  const auto bad = std::ranges::find_if(scores, [](float score) { return std::isnan(score); });
  if (bad != scores.end()) {
    fail(ErrorCode::invalid_argument, "the network's answer for class {} is not a number (NaN)",
         bad - scores.begin());
  }
}

}  // namespace

std::vector<std::string> read_labels(const std::filesystem::path& path) {
  const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  if (file->bytes().size() > most_label_bytes) {
    fail(ErrorCode::limit_exceeded, "{}: a label file of {} is larger than {}", path.string(),
         byte_text(file->bytes().size()), byte_text(most_label_bytes));
  }
  std::string_view text(reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size());
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // a byte order mark
  std::vector<std::string> labels;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    labels.emplace_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (labels.empty()) fail(ErrorCode::invalid_argument, "{}: holds no labels", path.string());
  return labels;
}

std::vector<float> softmax(std::span<const float> scores) {
  require_numbers(scores);
  if (scores.empty()) return {};
  const double largest = std::ranges::max(scores);
  if (std::isinf(largest)) fail(ErrorCode::invalid_argument, "the network's answer is infinite");
  std::vector<double> powers(scores.size());
  std::ranges::transform(scores, powers.begin(), [&](float score) { return std::exp(score - largest); });
  const double sum = std::accumulate(powers.begin(), powers.end(), 0.0);
  std::vector<float> result(scores.size());
  std::ranges::transform(powers, result.begin(), [&](double power) { return static_cast<float>(power / sum); });
  return result;
}

bool are_probabilities(std::span<const float> scores) noexcept {
  double sum = 0;
  for (const float score : scores) {
    if (!(score >= 0 && score <= 1)) return false;
    sum += score;
  }
  return std::abs(sum - 1) < 1e-2;  // room for float16
}

std::vector<float> to_probabilities(std::span<const float> scores) {
  return are_probabilities(scores) ? std::vector<float>(scores.begin(), scores.end()) : softmax(scores);
}

std::vector<Prediction> top_k(std::span<const float> probabilities, std::size_t count, float threshold,
                              std::span<const std::string> labels) {
  require_numbers(probabilities);
  if (!labels.empty() && labels.size() != probabilities.size()) {
    fail(ErrorCode::invalid_argument, "the network has {} classes, but there are {} labels", probabilities.size(),
         labels.size());
  }
  std::vector<std::size_t> order(probabilities.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  count = std::min(count, order.size());
  std::ranges::partial_sort(
      order, order.begin() + static_cast<std::ptrdiff_t>(count), [&](std::size_t a, std::size_t b) {
        return probabilities[a] != probabilities[b] ? probabilities[a] > probabilities[b] : a < b;
      });
  std::vector<Prediction> result;
  for (const std::size_t index : std::span(order).first(count)) {
    if (probabilities[index] < threshold) break;
    result.push_back({index, probabilities[index], labels.empty() ? std::format("class {}", index) : labels[index]});
  }
  return result;
}

}  // namespace lapilli
