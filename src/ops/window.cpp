#include "ops/window.h"

#include <algorithm>
#include <format>
#include <limits>

#include "base/checked.h"
#include "base/text.h"
#include "ops/host_loop.h"

namespace lapilli {
namespace {

// Past this a window is no window: a hostile model could keep a device busy for hours with one element.
constexpr std::int64_t largest_window = std::int64_t{1} << 24U;
constexpr std::size_t most_axes = 4;

std::int64_t span_of(const WindowAxis& axis) {
  return checked_add(checked_multiply(axis.size - 1, axis.dilation), std::int64_t{1});
}

void require_valid(const WindowAttributes& window, const Fact& input) {
  if (window.axes.empty() || window.axes.size() > most_axes) {
    fail(ErrorCode::unsupported, "windows over {} axes; kernels have one to {}", window.axes.size(), most_axes);
  }
  std::vector<int> axes;
  std::int64_t elements = 1;
  for (const WindowAxis& axis : window.axes) {
    if (axis.size <= 0 || axis.stride <= 0 || axis.dilation <= 0) {
      fail(ErrorCode::invalid_model, "a window of {} elements with stride {} and dilation {}", axis.size, axis.stride,
           axis.dilation);
    }
    if (axis.size > largest_window || elements * axis.size > largest_window) {
      fail(ErrorCode::limit_exceeded, "a window of more than {} elements", largest_window);
    }
    elements *= axis.size;
    axes.push_back(axis.axis);
  }
  (void)reduced_shape(input, axes);
  const bool known = window.function == ReductionFunction::sum || window.function == ReductionFunction::mean ||
                     window.function == ReductionFunction::maximum;
  if (!known || (window.indices && window.function != ReductionFunction::maximum)) {
    fail(ErrorCode::internal, "no window has {}{}", to_string(window.function),
         window.indices ? " with indices" : "");
  }
}

// The places of one window that lie in the data.
struct Place {
  std::int64_t in_data = 0;  // flat offset
  std::int64_t index = 0;    // what an index output says
};

// Everything about one input as numbers.
struct HostWindow {
  const WindowAttributes& attributes;
  std::vector<std::int64_t> input_sizes, output_sizes, input_strides, index_strides;
  std::vector<std::int64_t> window_sizes, pad_begin, pad_end;

  HostWindow(const WindowAttributes& window, const Tensor& input, std::vector<std::int64_t> output)
      : attributes(window), input_sizes(input.shape()), output_sizes(std::move(output)) {
    input_strides = row_major_strides(input_sizes);
    index_strides = input_strides;
    if (window.index_order == IndexOrder::column_major) {
      std::int64_t stride = 1;
      for (const WindowAxis& axis : window.axes) {
        index_strides[static_cast<std::size_t>(axis.axis)] = stride;
        stride *= input_sizes[static_cast<std::size_t>(axis.axis)];
      }
    }
    for (const WindowAxis& axis : window.axes) {
      window_sizes.push_back(axis.size);
      pad_begin.push_back(*axis.pad_begin.constant());
      pad_end.push_back(*axis.pad_end.constant());
    }
  }

  // Calls use(place) for each place in the data; returns how many places the mean counts.
  template <class Use>
  std::int64_t visit(std::span<const std::int64_t> output, Use&& use) const {
    std::vector<std::int64_t> position(output.begin(), output.end()), step(window_sizes.size(), 0);
    std::int64_t counted = 0;
    do {
      bool in_data = true, in_padding = true;
      for (std::size_t i = 0; i < step.size(); ++i) {
        const WindowAxis& axis = attributes.axes[i];
        const auto at = static_cast<std::size_t>(axis.axis);
        position[at] = output[at] * axis.stride - pad_begin[i] + step[i] * axis.dilation;
        in_data = in_data && position[at] >= 0 && position[at] < input_sizes[at];
        in_padding = in_padding && position[at] < input_sizes[at] + pad_end[i];
      }
      if (in_data) use(Place{offset_of(position, input_strides), offset_of(position, index_strides)});
      counted += in_data || (attributes.count_padding && in_padding) ? 1 : 0;
    } while (next_index(step, window_sizes));
    return counted;
  }

  [[nodiscard]] std::int64_t first_index(std::span<const std::int64_t> output) const {
    std::vector<std::int64_t> first(output.begin(), output.end());
    for (const WindowAxis& axis : attributes.axes) first[static_cast<std::size_t>(axis.axis)] = 0;
    return offset_of(first, index_strides);
  }
};

template <class T>
T lowest(DType dtype) {
  if constexpr (std::is_same_v<T, double>) return -std::numeric_limits<double>::infinity();
  if (!is_signed_integer(dtype)) return 0;
  return static_cast<T>(std::numeric_limits<std::int64_t>::min() >> (64 - bit_width(dtype)));
}

template <class T>
void evaluate_windows(const HostWindow& window, const Tensor& input, DType dtype, Tensor& output, Tensor& indices) {
  const WindowAttributes& attributes = window.attributes;
  const auto elements = input.elements<T>();
  std::vector<std::int64_t> index(window.output_sizes.size(), 0);
  for (std::int64_t i = 0; i < output.element_count(); ++i, next_index(index, window.output_sizes)) {
    T sum = 0, best = lowest<T>(dtype);
    std::int64_t best_index = window.first_index(index);
    bool found = false;
    const std::int64_t counted = window.visit(index, [&](const Place& place) {
      T element = elements[static_cast<std::size_t>(place.in_data)];
      if constexpr (std::is_same_v<T, double>) {
        element = prepare(attributes.preparation, attributes.exponent, element);
      } else {
        element = prepare(attributes.preparation, element);
      }
      sum += element;
      if (!found || element > best || (element != element && best == best)) {
        best = element;
        best_index = place.index;
        found = true;
      }
    });
    const T mean = counted == 0 ? T{0} : sum / static_cast<T>(counted);
    output.mutable_elements<T>()[static_cast<std::size_t>(i)] =
        attributes.function == ReductionFunction::maximum ? best
        : attributes.function == ReductionFunction::mean  ? mean
                                                          : sum;
    if (attributes.indices) indices.mutable_elements<std::int64_t>()[static_cast<std::size_t>(i)] = best_index;
  }
}

}  // namespace

std::shared_ptr<const FusedOperator> Window::with_epilogue(PointwiseChain chain, DType output_dtype) const {
  return std::make_shared<Window>(attributes_, std::move(chain), output_dtype);
}

std::string Window::own_attributes() const {
  std::vector<std::string> parts;
  for (const WindowAxis& axis : attributes_.axes) {
    parts.push_back(std::format("axis {} size {} stride {} dilation {} pads {} {}", axis.axis, axis.size, axis.stride,
                                axis.dilation, axis.pad_begin.to_string(), axis.pad_end.to_string()));
  }
  return std::format(
      "{}{}{}, {}", to_string(attributes_.function), attributes_.preparation == Preparation::none ? "" : " of ",
      attributes_.preparation == Preparation::none ? "" : to_string(attributes_.preparation), join(parts, ", "));
}

Dim Window::window_count(const WindowAxis& axis, const Dim& extent, bool round_up, Assumptions& assumptions) {
  const Dim room = extent + axis.pad_begin + axis.pad_end - Dim(span_of(axis));
  if (assumptions.less(room, 0)) {
    fail(ErrorCode::invalid_model, "a window of {} elements does not fit into {} with padding {} and {}",
         span_of(axis), extent.to_string(), axis.pad_begin.to_string(), axis.pad_end.to_string());
  }
  if (!round_up) return Dim::floor_divide(room, axis.stride) + Dim(1);
  const Dim count = Dim::ceil_divide(room, axis.stride) + Dim(1);
  const Dim last_begin = (count - Dim(1)) * Dim(axis.stride);
  return assumptions.less(last_begin, extent + axis.pad_begin) ? count : count - Dim(1);
}

std::vector<Fact> Window::infer_own(std::span<const Fact> inputs, Assumptions& assumptions) const {
  require_valid(attributes_, inputs[0]);
  Shape shape = inputs[0].shape;
  for (const WindowAxis& axis : attributes_.axes) {
    if (assumptions.less(axis.pad_begin, 0) || assumptions.less(axis.pad_end, 0)) {
      fail(ErrorCode::invalid_model, "windows with padding {} and {}", axis.pad_begin.to_string(),
           axis.pad_end.to_string());
    }
    Dim& dim = shape[static_cast<std::size_t>(axis.axis)];
    dim = window_count(axis, dim, attributes_.round_up, assumptions);
  }
  std::vector<Fact> facts{Fact::of(inputs[0].dtype, shape)};
  if (attributes_.indices) facts.push_back(Fact::of(DType::int64, shape));
  return facts;
}

std::vector<Tensor> Window::evaluate_own(std::span<const Tensor> inputs) const {
  const DType dtype = inputs[0].dtype();
  if (bit_width(dtype) < 8) return {};
  const Fact fact = Fact::of(dtype, to_shape(inputs[0].shape()));
  Assumptions none({});
  const std::vector<std::int64_t> sizes = *to_numbers(infer_own({&fact, 1}, none)[0].shape);
  const bool real = is_floating_point(dtype);
  const Tensor wide = evaluate_chain({}, {inputs.data(), 1}, real ? DType::float64 : DType::int64);
  Tensor output = Tensor::allocate(wide.dtype(), sizes), indices;
  if (attributes_.indices) indices = Tensor::allocate(DType::int64, sizes);
  const HostWindow window(attributes_, wide, sizes);
  if (real) {
    evaluate_windows<double>(window, wide, dtype, output, indices);
  } else {
    evaluate_windows<std::int64_t>(window, wide, dtype, output, indices);
  }
  std::vector<Tensor> results{evaluate_chain({}, {&output, 1}, dtype)};
  if (attributes_.indices) results.push_back(std::move(indices));
  return results;
}

Dim Window::operation_count(std::span<const Fact> /*inputs*/, std::span<const Fact> outputs) const {
  Dim count = element_count(outputs[0].shape);
  for (const WindowAxis& axis : attributes_.axes) count = count * Dim(axis.size);
  return count;
}

}  // namespace lapilli
