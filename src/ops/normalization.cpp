#include "ops/normalization.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <format>
#include <limits>

#include "base/failure.h"
#include "base/text.h"
#include "ops/host_loop.h"
#include "ops/reduction.h"

namespace lapilli {
namespace {

constexpr std::array kind_names{
#define KIND(name, code) std::string_view(#name),
#include "ops/normalization_kinds.def"
#undef KIND
};

struct Statistics {
  double mean = 0, inverse_deviation = 0;
};

Statistics statistics_of(std::span<const double> row, double epsilon, bool centered) {
  Statistics result;
  const auto count = static_cast<double>(row.size());
  if (centered) {
    for (const double x : row) result.mean += x;
    result.mean /= count;
  }
  double squares = 0;
  for (const double x : row) squares += (x - result.mean) * (x - result.mean);
  result.inverse_deviation = 1 / std::sqrt(squares / count + epsilon);
  return result;
}

void soften(std::span<double> row, bool logarithm) {
  double largest = -std::numeric_limits<double>::infinity();
  for (const double x : row) largest = std::max(largest, x);
  double sum = 0;
  for (const double x : row) sum += std::exp(x - largest);
  for (double& x : row) x = logarithm ? x - largest - std::log(sum) : std::exp(x - largest) / sum;
}

Statistics normalize(const NormalizationAttributes& attributes, std::span<double> row) {
  if (attributes.kind == NormalizationKind::softmax || attributes.kind == NormalizationKind::log_softmax) {
    soften(row, attributes.kind == NormalizationKind::log_softmax);
    return {};
  }
  const Statistics statistics =
      statistics_of(row, attributes.epsilon, attributes.kind == NormalizationKind::standard_score);
  for (double& x : row) x = (x - statistics.mean) * statistics.inverse_deviation;
  return statistics;
}

// Sizes with axis 1 cut in two where there are groups; the axes of rows among them.
struct RowShape {
  std::vector<std::int64_t> outer, inner, strides;
};

RowShape row_shape(const NormalizationAttributes& attributes, std::vector<std::int64_t> sizes) {
  std::vector<bool> is_inner(sizes.size(), false);
  for (const int axis : attributes.axes) is_inner[static_cast<std::size_t>(axis)] = true;
  if (attributes.channel_groups > 1) {
    sizes.insert(sizes.begin() + 1, attributes.channel_groups);
    sizes[2] /= attributes.channel_groups;
    is_inner.insert(is_inner.begin() + 1, false);
  }
  RowShape shape{sizes, sizes, row_major_strides(sizes)};
  for (std::size_t i = 0; i < sizes.size(); ++i) (is_inner[i] ? shape.outer : shape.inner)[i] = 1;
  return shape;
}

}  // namespace

std::string_view to_string(NormalizationKind kind) noexcept { return kind_names[static_cast<std::size_t>(kind)]; }

std::shared_ptr<const FusedOperator> Normalization::with_epilogue(PointwiseChain chain, DType output_dtype) const {
  return std::make_shared<Normalization>(attributes_, std::move(chain), output_dtype);
}

std::string Normalization::own_attributes() const {
  const std::vector<std::int64_t> axes(attributes_.axes.begin(), attributes_.axes.end());
  std::string text = std::format("{} along {}", to_string(attributes_.kind), shape_text(axes));
  if (attributes_.epsilon != 0) text += std::format(", epsilon {}", attributes_.epsilon);
  if (attributes_.channel_groups > 1) text += std::format(", {} groups", attributes_.channel_groups);
  return text;
}

std::vector<Fact> Normalization::infer_own(std::span<const Fact> inputs, Assumptions& assumptions) const {
  const Fact& input = inputs[0];
  if (!is_floating_point(input.dtype))
    fail(ErrorCode::invalid_model, "{} of {}", own_attributes(), input.to_string());
  const Shape reduced = reduced_shape(input, attributes_.axes);
  const std::int64_t groups = attributes_.channel_groups;
  if (groups > 1) {
    const bool cuts = std::ranges::contains(attributes_.axes, 1);
    if (!cuts || !assumptions.equal(Dim::floor_divide(input.shape[1], groups) * Dim(groups), input.shape[1])) {
      fail(ErrorCode::invalid_model, "the channels of {} cannot be cut into {} groups", input.to_string(), groups);
    }
  }
  std::vector<Fact> facts{Fact::of(input.dtype, input.shape)};
  if (!attributes_.statistics) return facts;
  if (attributes_.kind != NormalizationKind::standard_score || groups > 1) {
    fail(ErrorCode::internal, "{} has no statistics", own_attributes());
  }
  facts.resize(3, Fact::of(DType::float32, reduced));
  return facts;
}

std::vector<Tensor> Normalization::evaluate_own(std::span<const Tensor> inputs) const {
  const std::vector<std::int64_t>& sizes = inputs[0].shape();
  const RowShape shape = row_shape(attributes_, sizes);
  const Tensor values = evaluate_chain({}, inputs.first(1), DType::float64);
  Tensor result = Tensor::allocate(DType::float64, sizes);
  const auto elements = values.elements<double>();
  const auto results = result.mutable_elements<double>();
  const std::int64_t rows = element_count(shape.outer);
  std::vector<Tensor> statistics;
  if (attributes_.statistics) {
    const Fact fact = Fact::of(inputs[0].dtype(), to_shape(sizes));
    statistics.assign(2, {});
    for (Tensor& tensor : statistics)
      tensor = Tensor::allocate(DType::float32, *to_numbers(reduced_shape(fact, attributes_.axes)));
  }
  std::vector<double> row(static_cast<std::size_t>(element_count(shape.inner)));
  std::vector<std::int64_t> outer(shape.outer.size(), 0), inner(shape.inner.size(), 0);
  for (std::int64_t i = 0; i < rows; ++i, next_index(outer, shape.outer)) {
    const std::int64_t start = offset_of(outer, shape.strides);
    for (double& x : row) {
      x = elements[static_cast<std::size_t>(start + offset_of(inner, shape.strides))];
      next_index(inner, shape.inner);
    }
    const Statistics found = normalize(attributes_, row);
    for (const double x : row) {
      results[static_cast<std::size_t>(start + offset_of(inner, shape.strides))] = x;
      next_index(inner, shape.inner);
    }
    if (!attributes_.statistics) continue;
    statistics[0].mutable_elements<float>()[static_cast<std::size_t>(i)] = static_cast<float>(found.mean);
    statistics[1].mutable_elements<float>()[static_cast<std::size_t>(i)] =
        static_cast<float>(found.inverse_deviation);
  }
  std::vector<Tensor> outputs{evaluate_chain({}, {&result, 1}, inputs[0].dtype())};
  outputs.insert(outputs.end(), statistics.begin(), statistics.end());
  return outputs;
}

Dim Normalization::operation_count(std::span<const Fact> inputs, std::span<const Fact> /*outputs*/) const {
  return element_count(inputs[0].shape) * Dim(4);
}

PointwiseChain scale_and_shift(DType dtype, bool has_bias) {
  PointwiseChain chain;
  chain.input_count = has_bias ? 3 : 2;
  const std::uint8_t scaled = chain.add(PointwiseFunction::multiply, dtype, {0, 1, 0});
  if (has_bias) chain.add(PointwiseFunction::add, dtype, {scaled, 2, 0});
  return chain;
}

}  // namespace lapilli
