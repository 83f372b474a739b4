#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace lapilli {

/// One name a line; the line's number, from 0, is the class. Throws Error that names the file.
std::vector<std::string> read_labels(const std::filesystem::path& path);

/// exp(x) / sum of exp, computed so that large values do not overflow. Throws Error (invalid_argument) on NaN.
std::vector<float> softmax(std::span<const float> scores);

/// Whether all values lie in [0, 1] and sum to one, as those of a network that ends in a softmax.
bool are_probabilities(std::span<const float> scores) noexcept;

/// `scores` when they are probabilities already, their softmax otherwise.
std::vector<float> to_probabilities(std::span<const float> scores);

struct Prediction {
  std::size_t class_index = 0;
  float probability = 0;
  std::string label;  ///< "class 17" without labels

  friend bool operator==(const Prediction&, const Prediction&) = default;
};

/// The `count` most probable classes of at least `threshold`, the most probable first, the lower index where two are
/// equal. `labels` is empty or has one for each class; otherwise Error (invalid_argument) is thrown.
std::vector<Prediction> top_k(std::span<const float> probabilities, std::size_t count, float threshold,
                              std::span<const std::string> labels);

}  // namespace lapilli
