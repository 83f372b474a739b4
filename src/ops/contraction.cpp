#include "ops/contraction.h"

#include <algorithm>
#include <format>

#include "base/failure.h"
#include "base/small_float.h"
#include "base/text.h"

namespace lapilli {
namespace {

template <class T>
void fill_default(std::vector<T>& list, std::size_t spatial, const T& value) {
  if (list.empty()) list.assign(spatial, value);
}

void require_same_dtype(const Fact& left, const Fact& right, std::string_view operation) {
  if (left.dtype != right.dtype) {
    fail(ErrorCode::invalid_model, "{} of {} and {}, which differ in type", operation, left.to_string(),
         right.to_string());
  }
}

std::span<const Dim> without_matrix(const Shape& shape) { return std::span(shape).first(shape.size() - 2); }

}  // namespace

std::shared_ptr<const FusedOperator> MatMul::with_epilogue(PointwiseChain chain, DType output_dtype) const {
  return std::make_shared<MatMul>(transpose_a_, transpose_b_, std::move(chain), output_dtype);
}

std::vector<Fact> MatMul::infer_own(std::span<const Fact> inputs, Assumptions& assumptions) const {
  const Fact &a = inputs[0], &b = inputs[1];
  require_same_dtype(a, b, "a product");
  if ((!is_floating_point(a.dtype) && !is_integer(a.dtype)) || is_small_float(a.dtype)) {
    fail(ErrorCode::invalid_model, "a matrix product of {}", to_string(a.dtype));
  }
  if (a.shape.size() < 2 || b.shape.size() < 2) {
    fail(ErrorCode::invalid_model, "a matrix product of {} and {}: each needs two axes", a.to_string(),
         b.to_string());
  }
  const std::size_t rank_a = a.shape.size(), rank_b = b.shape.size();
  const Dim &rows = a.shape[rank_a - (transpose_a_ ? 1 : 2)], &depth = a.shape[rank_a - (transpose_a_ ? 2 : 1)];
  const Dim &columns = b.shape[rank_b - (transpose_b_ ? 2 : 1)], &depth_b = b.shape[rank_b - (transpose_b_ ? 1 : 2)];
  if (!assumptions.equal(depth, depth_b)) {
    fail(ErrorCode::invalid_model, "a matrix product of {} and {} sums over {} and {} elements", a.to_string(),
         b.to_string(), depth.to_string(), depth_b.to_string());
  }
  const std::span<const Dim> batch_a = without_matrix(a.shape), batch_b = without_matrix(b.shape);
  const std::array batches{Shape(batch_a.begin(), batch_a.end()), Shape(batch_b.begin(), batch_b.end())};
  Shape shape = broadcast(batches, assumptions);
  shape.push_back(rows);
  shape.push_back(columns);
  return {Fact::of(a.dtype, std::move(shape))};
}

Dim MatMul::operation_count(std::span<const Fact> inputs, std::span<const Fact> outputs) const {
  const Shape& a = inputs[0].shape;
  const Dim results = element_count(outputs[0].shape);
  return results * a[a.size() - (transpose_a_ ? 2 : 1)] * 2 +
         results * static_cast<std::int64_t>(epilogue().steps.size());
}

std::string MatMul::own_attributes() const {
  return std::format("{}{}{}", transpose_a_ ? "A transposed" : "", transpose_a_ && transpose_b_ ? ", " : "",
                     transpose_b_ ? "B transposed" : "");
}

std::shared_ptr<const FusedOperator> Convolution::with_epilogue(PointwiseChain chain, DType output_dtype) const {
  return std::make_shared<Convolution>(attributes_, std::move(chain), output_dtype);
}

ConvolutionAttributes Convolution::filled(std::size_t spatial) const {
  ConvolutionAttributes result = attributes_;
  fill_default<std::int64_t>(result.strides, spatial, 1);
  fill_default<std::int64_t>(result.dilations, spatial, 1);
  fill_default<Dim>(result.pads_begin, spatial, 0);
  fill_default<Dim>(result.pads_end, spatial, 0);
  fill_default<Dim>(result.output_padding, spatial, 0);
  return result;
}

void Convolution::check(std::size_t spatial) const {
  const auto require_size = [&](std::size_t size, std::string_view list) {
    if (size != 0 && size != spatial) {
      fail(ErrorCode::invalid_model, "a convolution over {} axes has {} {}", spatial, size, list);
    }
  };
  require_size(attributes_.strides.size(), "strides");
  require_size(attributes_.dilations.size(), "dilations");
  require_size(attributes_.pads_begin.size(), "pads at the beginning");
  require_size(attributes_.pads_end.size(), "pads at the end");
  require_size(attributes_.output_padding.size(), "output paddings");
  require_size(attributes_.output_size.size(), "output sizes");
  constexpr std::int64_t largest = 0x7FFFFFFF;
  const auto in_range = [](std::int64_t value) { return value >= 1 && value <= largest; };
  if (!std::ranges::all_of(attributes_.strides, in_range) || !std::ranges::all_of(attributes_.dilations, in_range) ||
      !in_range(attributes_.group)) {
    fail(ErrorCode::invalid_model, "strides {}, dilations {} and group {} must be from 1 to {}",
         shape_text(attributes_.strides), shape_text(attributes_.dilations), attributes_.group, largest);
  }
}

// The output's size along one spatial axis.
Dim Convolution::output_extent(std::size_t axis, const Dim& input, const Dim& kernel,
                               const ConvolutionAttributes& filled, Assumptions& assumptions) const {
  const Dim window = (kernel - 1) * filled.dilations[axis] + 1;
  const Dim pads = filled.pads_begin[axis] + filled.pads_end[axis];
  if (attributes_.transposed) {
    if (!attributes_.output_size.empty()) return attributes_.output_size[axis];
    const Dim size = (input - 1) * filled.strides[axis] + window - pads + filled.output_padding[axis];
    if (assumptions.less(size, 0)) {
      fail(ErrorCode::invalid_model, "spatial axis {} of the output would have {} elements", axis, size.to_string());
    }
    return size;
  }
  const Dim padded = input + pads;
  if (assumptions.less(padded, window)) {
    fail(ErrorCode::invalid_model, "the kernel spans {} elements of spatial axis {}, which has {} with its padding",
         window.to_string(), axis, padded.to_string());
  }
  return Dim::floor_divide(padded - window, filled.strides[axis]) + 1;
}

std::vector<Fact> Convolution::infer_own(std::span<const Fact> inputs, Assumptions& assumptions) const {
  const Fact &x = inputs[0], &w = inputs[1];
  require_same_dtype(x, w, "a convolution");
  if ((!is_floating_point(x.dtype) && !is_integer(x.dtype)) || is_small_float(x.dtype))
    fail(ErrorCode::invalid_model, "a convolution of {}", to_string(x.dtype));
  if (x.shape.size() < 3 || w.shape.size() != x.shape.size()) {
    fail(ErrorCode::invalid_model, "a convolution of {} with weights {}: both need [., ., spatial...]", x.to_string(),
         w.to_string());
  }
  const std::size_t spatial = x.shape.size() - 2;
  check(spatial);
  const Dim group = attributes_.group;
  const Dim channels = attributes_.transposed ? w.shape[0] : w.shape[1] * group;
  const Dim outputs = attributes_.transposed ? w.shape[1] * group : w.shape[0];
  const Dim& divided = w.shape[0];
  if (!assumptions.equal(x.shape[1], channels) ||
      !assumptions.equal(Dim::floor_divide(divided, group) * group, divided)) {
    fail(ErrorCode::invalid_model, "weights {} in {} groups do not fit {}", w.to_string(), attributes_.group,
         x.to_string());
  }
  const ConvolutionAttributes lists = filled(spatial);
  Shape shape{x.shape[0], outputs};
  for (std::size_t axis = 0; axis < spatial; ++axis) {
    if (assumptions.less(w.shape[2 + axis], 1)) {
      fail(ErrorCode::invalid_model, "weights {} have no elements along spatial axis {}", w.to_string(), axis);
    }
    shape.push_back(output_extent(axis, x.shape[2 + axis], w.shape[2 + axis], lists, assumptions));
  }
  return {Fact::of(x.dtype, std::move(shape))};
}

Dim Convolution::operation_count(std::span<const Fact> inputs, std::span<const Fact> outputs) const {
  const Shape& weights = inputs[1].shape;
  const Dim results = element_count(outputs[0].shape);
  // Each weight of a transposed one meets each input element once, each of the other kind each output element.
  const Dim meetings = attributes_.transposed ? element_count(inputs[0].shape) : results;
  return meetings * element_count(std::span(weights).subspan(1)) * 2 +
         results * static_cast<std::int64_t>(epilogue().steps.size());
}

std::string Convolution::own_attributes() const {
  std::string text = attributes_.transposed ? "transposed, " : "";
  const auto add = [&](std::string_view label, const std::string& value) {
    text += std::format("{} {}, ", label, value);
  };
  if (!attributes_.strides.empty()) add("strides", shape_text(attributes_.strides));
  if (!attributes_.dilations.empty()) add("dilations", shape_text(attributes_.dilations));
  if (!attributes_.pads_begin.empty()) add("pads_begin", shape_text(attributes_.pads_begin));
  if (!attributes_.pads_end.empty()) add("pads_end", shape_text(attributes_.pads_end));
  if (!attributes_.output_padding.empty()) add("output_padding", shape_text(attributes_.output_padding));
  if (!attributes_.output_size.empty()) add("output_size", shape_text(attributes_.output_size));
  if (attributes_.group != 1) add("group", std::format("{}", attributes_.group));
  if (!text.empty()) text.resize(text.size() - 2);
  return text;
}

}  // namespace lapilli
