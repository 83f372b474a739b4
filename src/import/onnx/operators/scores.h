#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "import/onnx/operators/node_builder.h"
#include "ops/reduction.h"

/// What classifiers and regressors of ai.onnx.ml share: rows of features, and scores that come out.
namespace lapilli::onnx {

using Reals = std::vector<float>;

/// A list attribute; empty where the node does not have it.
Reals reals(const NodeBuilder& node, std::string_view name);
ValueId real_constant(NodeBuilder& node, std::vector<std::int64_t> shape, const Reals& values);

/// The input as rows [N, C] of this type; a vector is one row. Throws Error (invalid_model) for other ranks.
ValueId feature_rows(NodeBuilder& node, DType dtype = DType::float32);
std::int64_t width_of(NodeBuilder& node, ValueId rows);

ValueId largest_of_rows(NodeBuilder& node, ValueId rows);
ValueId sum_of_rows(NodeBuilder& node, ValueId rows, Preparation preparation = Preparation::none);

/// The numbers are those of TreeEnsemble.
enum class ScoreTransform : std::uint8_t { none, softmax, logistic, softmax_zero, probit };

/// The node's attribute post_transform. Throws Error (invalid_model).
ScoreTransform score_transform_of(const NodeBuilder& node);
/// What it makes of scores [N, classes].
ValueId transform_scores(NodeBuilder& node, ScoreTransform transform, ValueId scores);
/// Both classes' scores from the one that a model of two classes computes, [N, 1]: complements where it is a
/// probability, opposites where not.
ValueId binary_scores(NodeBuilder& node, ScoreTransform transform, ValueId score, bool probability);

/// The place of each row's largest score, the first one among equals: int64 [N].
ValueId largest_places(NodeBuilder& node, ValueId scores);
/// The labels at these places.
ValueId labels_at(NodeBuilder& node, std::span<const std::int64_t> labels, ValueId places);

}  // namespace lapilli::onnx
