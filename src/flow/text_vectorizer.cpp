// TfIdfVectorizer: how often the n-grams of a pool are in each row.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/checked.h"
#include "base/text.h"
#include "flow/host_elements.h"
#include "flow/text.h"

namespace lapilli {
namespace {

using Integers = std::vector<std::int64_t>;

/// The n-grams of the pool as a tree of their words; its edges are words, its nodes beginnings of n-grams.
class Pool {
 public:
  static constexpr std::int64_t none = -1;

  /// `starts[n - 1]` is the first word of the n-grams of n words. Only those of `least` to `most` words are kept.
  Pool(std::span<const std::int64_t> words, const Integers& starts, std::int64_t least, std::int64_t most) {
    const auto total = static_cast<std::int64_t>(words.size());
    for (std::size_t i = 0; i < starts.size(); ++i) {
      const auto length = static_cast<std::int64_t>(i) + 1;
      const std::int64_t end = i + 1 < starts.size() ? starts[i + 1] : total;
      if (starts[i] < 0 || end < starts[i] || end > total || (end - starts[i]) % length != 0) {
        fail(ErrorCode::invalid_model, "ngram_counts {} do not divide a pool of {} words", shape_text(starts), total);
      }
      for (std::int64_t at = starts[i]; at < end; at += length, ++count_) {
        if (length < least || length > most) continue;
        std::size_t node = 0;
        for (std::int64_t word = at; word < at + length; ++word)
          node = enter(node, words[static_cast<std::size_t>(word)]);
        nodes_[node].ngram = count_;
      }
    }
  }

  /// All n-grams of the pool, those left out included.
  [[nodiscard]] std::int64_t count() const noexcept { return count_; }

  /// Calls found(n-gram) for each n-gram of `least` words and more whose words stand `step` apart from `first` on.
  template <class Found>
  void find(std::span<const std::int64_t> row, std::size_t first, std::size_t step, std::int64_t least,
            Found&& found) const {
    const Node* node = nodes_.data();
    std::int64_t length = 1;
    for (std::size_t at = first; at < row.size(); at += step, ++length) {
      const auto next = node->next.find(row[at]);
      if (next == node->next.end()) return;
      node = &nodes_[next->second];
      if (length >= least && node->ngram != none) found(node->ngram);
    }
  }

 private:
  struct Node {
    std::map<std::int64_t, std::size_t> next;
    std::int64_t ngram = none;
  };

  std::size_t enter(std::size_t node, std::int64_t word) {
    const auto [place, added] = nodes_[node].next.try_emplace(word, nodes_.size());
    const std::size_t next = place->second;
    if (added) nodes_.emplace_back();
    return next;
  }

  std::vector<Node> nodes_{1};
  std::int64_t count_ = 0;
};

/// The attributes, checked.
struct Vectorizer {
  std::int64_t least, most, skips;
  bool counts, weighs;  // TF counts, IDF weighs, TFIDF does both
  Integers places;      // of each n-gram in the result
  std::vector<float> weights;
  std::int64_t size = 0;

  explicit Vectorizer(const HostCall& call)
      : least(call.attribute<std::int64_t>("min_gram_length", 1)),
        most(call.attribute<std::int64_t>("max_gram_length", 1)),
        skips(call.attribute<std::int64_t>("max_skip_count", 0)),
        places(call.attribute<Integers>("ngram_indexes", {})),
        weights(call.attribute<std::vector<float>>("weights", {})) {
    const auto mode = call.attribute<std::string>("mode", "");
    if (mode != "TF" && mode != "IDF" && mode != "TFIDF") {
      fail(ErrorCode::invalid_model, "mode '{}' is none of TF, IDF, TFIDF", onnx::printable(mode));
    }
    counts = mode != "IDF";
    weighs = mode != "TF";
    if (least < 1 || most < least || skips < 0) {
      fail(ErrorCode::invalid_model, "n-grams of {} to {} words with up to {} skipped", least, most, skips);
    }
    for (const std::int64_t place : places) {
      if (place < 0) fail(ErrorCode::invalid_model, "ngram_indexes has {}", place);
      size = std::max(size, checked_add<std::int64_t>(place, 1));
    }
    if (!weights.empty() && weights.size() != places.size()) {
      fail(ErrorCode::invalid_model, "{} weights for {} n-grams", weights.size(), places.size());
    }
  }

  // Single words count once, since nothing can be skipped in them.
  void add_row(const Pool& pool, std::span<const std::int64_t> row, std::span<float> result) const {
    std::vector<std::int64_t> found(places.size(), 0);
    std::int64_t length = least;
    for (std::int64_t step = 1; step - 1 <= skips; ++step) {
      if (length > 1 && step > static_cast<std::int64_t>(row.size()) / (length - 1)) break;
      for (std::size_t first = 0; first < row.size(); ++first) {
        pool.find(row, first, static_cast<std::size_t>(step), length,
                  [&](std::int64_t ngram) { ++found[static_cast<std::size_t>(ngram)]; });
      }
      length = std::max<std::int64_t>(length, 2);
      if (length > most) break;
    }
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (found[i] == 0) continue;
      const float weight = weighs && !weights.empty() ? weights[i] : 1.0F;
      float& place = result[static_cast<std::size_t>(places[i])];
      place = counts ? place + weight * static_cast<float>(found[i]) : weight;
    }
  }
};

/// Words as numbers: those of a pool of strings by where they stand in it first, others as -1.
struct Words {
  Integers pool, row;
};

Words words_of(const HostCall& call) {
  const Tensor& tensor = call.tensor(0);
  const auto strings = call.attribute<std::vector<std::string>>("pool_strings", {});
  Words words{call.attribute<Integers>("pool_int64s", {}), {}};
  const bool text = tensor.dtype() == DType::string;
  if (text == strings.empty() || strings.empty() == words.pool.empty()) {
    fail(ErrorCode::invalid_model, "an input of {} with pools of {} strings and {} integers",
         to_string(tensor.dtype()), strings.size(), words.pool.size());
  }
  if (!text) {
    const Tensor wide = convert_elements(tensor, DType::int64);
    words.row.assign(wide.elements<std::int64_t>().begin(), wide.elements<std::int64_t>().end());
    return words;
  }
  std::map<std::string_view, std::int64_t> numbers;
  for (const std::string& word : strings) {
    words.pool.push_back(numbers.try_emplace(word, static_cast<std::int64_t>(numbers.size())).first->second);
  }
  for (const std::string& word : tensor.strings()) {
    const auto found = numbers.find(word);
    words.row.push_back(found == numbers.end() ? -1 : found->second);
  }
  return words;
}

}  // namespace

void vectorize_text(HostCall& call) {
  const std::vector<std::int64_t>& shape = call.tensor(0).shape();
  if (shape.empty() || shape.size() > 2) {
    fail(ErrorCode::invalid_model, "the input is of shape {}, neither [C] nor [N, C]", shape_text(shape));
  }
  const Vectorizer vectorizer(call);
  const Words words = words_of(call);
  const Pool pool(words.pool, call.attribute<Integers>("ngram_counts", {}), vectorizer.least, vectorizer.most);
  if (std::cmp_not_equal(pool.count(), vectorizer.places.size())) {
    fail(ErrorCode::invalid_model, "{} ngram_indexes for a pool of {} n-grams", vectorizer.places.size(),
         pool.count());
  }
  std::vector<std::int64_t> result_shape = shape;
  result_shape.back() = vectorizer.size;
  host_element_count(result_shape);
  Tensor result = Tensor::allocate(DType::float32, result_shape);
  const std::span<float> numbers = result.mutable_elements<float>();
  const auto length = static_cast<std::size_t>(shape.back()), size = static_cast<std::size_t>(vectorizer.size);
  const std::size_t rows = shape.size() == 1 ? 1 : static_cast<std::size_t>(shape[0]);
  for (std::size_t i = 0; i < rows; ++i) {
    vectorizer.add_row(pool, std::span(words.row).subspan(i * length, length), numbers.subspan(i * size, size));
  }
  call.set_output(0, std::move(result));
}

}  // namespace lapilli
