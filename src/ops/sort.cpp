#include "ops/sort.h"

#include <algorithm>
#include <cmath>
#include <format>
#include <numeric>

#include "base/failure.h"
#include "ops/host_loop.h"
#include "ops/pointwise.h"

namespace lapilli {
namespace {

// Not-a-number is equal to itself and larger than the rest.
int order_of(double a, double b) {
  const bool a_nan = std::isnan(a), b_nan = std::isnan(b);
  if (a_nan || b_nan) return static_cast<int>(a_nan) - static_cast<int>(b_nan);
  return a < b ? -1 : b < a ? 1 : 0;
}

template <class Integer>
int order_of_integers(std::int64_t a, std::int64_t b) {
  const auto x = static_cast<Integer>(a), y = static_cast<Integer>(b);
  return x < y ? -1 : y < x ? 1 : 0;
}

using Order = int (*)(const Tensor&, std::size_t, std::size_t);

int order_reals(const Tensor& wide, std::size_t a, std::size_t b) {
  return order_of(wide.elements<double>()[a], wide.elements<double>()[b]);
}

template <class Integer>
int order_integers(const Tensor& wide, std::size_t a, std::size_t b) {
  return order_of_integers<Integer>(wide.elements<std::int64_t>()[a], wide.elements<std::int64_t>()[b]);
}

Order order_for(DType dtype) {
  if (is_floating_point(dtype)) return order_reals;
  return dtype == DType::uint64 ? order_integers<std::uint64_t> : order_integers<std::int64_t>;
}

Tensor widened(const Tensor& tensor) {
  return evaluate_chain({}, {&tensor, 1}, is_floating_point(tensor.dtype()) ? DType::float64 : DType::int64);
}

bool has_order(DType dtype) { return is_floating_point(dtype) || is_integer(dtype) || dtype == DType::boolean; }

}  // namespace

std::string Sort::attributes() const {
  return std::format("{} {} along {}, {} first", count_.to_string(), key_ == SortKey::element ? "elements" : "slices",
                     axis_, largest_first_ ? "largest" : "smallest");
}

std::vector<Fact> Sort::infer(std::span<const Fact> inputs, Assumptions& assumptions) const {
  const Fact& fact = inputs[0];
  if (axis_ < 0 || axis_ >= fact.rank()) fail(ErrorCode::invalid_model, "axis {} of {}", axis_, fact.to_string());
  if (!has_order(fact.dtype)) fail(ErrorCode::invalid_model, "an order of {}", fact.to_string());
  const Dim& length = fact.shape[static_cast<std::size_t>(axis_)];
  if (assumptions.less(length, count_) || assumptions.less(count_, 0)) {
    fail(ErrorCode::invalid_model, "{} elements of {} along axis {} are wanted, and there are {}", count_.to_string(),
         fact.to_string(), axis_, length.to_string());
  }
  Shape shape{count_};
  if (key_ == SortKey::element) {
    shape = fact.shape;
    shape[static_cast<std::size_t>(axis_)] = count_;
  }
  return {Fact::of(DType::int32, std::move(shape))};
}

std::vector<Tensor> Sort::evaluate(std::span<const Tensor> inputs) const {
  const Tensor& input = inputs[0];
  if (bit_width(input.dtype()) < 8 || !count_.is_constant()) return {};
  const Tensor wide = widened(input);
  const Order order = order_for(input.dtype());
  std::vector<std::int64_t> across = input.shape();
  const auto axis = static_cast<std::size_t>(axis_);
  const std::vector<std::int64_t> strides = row_major_strides(across);
  const std::int64_t length = across[axis], count = *count_.constant(), stride = strides[axis];
  across[axis] = 1;
  const bool slices = key_ == SortKey::slice;
  // Offsets of the rows; those of a key's elements, where slices are sorted.
  std::vector<std::int64_t> starts, index(across.size(), 0);
  for (std::int64_t i = 0; i < element_count(across); ++i, next_index(index, across)) {
    starts.push_back(offset_of(index, strides));
  }
  const std::vector<std::int64_t> key = slices ? starts : std::vector<std::int64_t>{0};
  if (slices) starts = {0};
  std::vector<std::int64_t> shape{count};
  if (!slices) {
    shape = input.shape();
    shape[axis] = count;
  }
  Tensor result = Tensor::allocate(DType::int32, shape);
  const std::int64_t result_stride = slices ? 1 : row_major_strides(shape)[axis];
  std::vector<std::int32_t> places(static_cast<std::size_t>(length));
  for (std::size_t row = 0; row < starts.size(); ++row) {
    std::iota(places.begin(), places.end(), 0);
    std::ranges::stable_sort(places, [&](std::int32_t a, std::int32_t b) {
      for (const std::int64_t element : key) {
        const std::int64_t start = starts[row] + element;
        const int found =
            order(wide, static_cast<std::size_t>(start + a * stride), static_cast<std::size_t>(start + b * stride));
        if (found != 0) return largest_first_ ? found > 0 : found < 0;
      }
      return false;
    });
    const auto before = static_cast<std::int64_t>(row);
    const std::int64_t target = before / result_stride * result_stride * count + before % result_stride;
    for (std::int64_t i = 0; i < count; ++i) {
      result.mutable_elements<std::int32_t>()[static_cast<std::size_t>(target + i * result_stride)] =
          places[static_cast<std::size_t>(i)];
    }
  }
  return {result};
}

std::vector<Fact> Search::infer(std::span<const Fact> inputs, Assumptions& assumptions) const {
  if (inputs.size() != 2) fail(ErrorCode::invalid_model, "{} inputs where Search takes 2", inputs.size());
  const Fact &rows = inputs[0], &values = inputs[1];
  bool fits = rows.dtype == values.dtype && has_order(rows.dtype) && rows.rank() == values.rank() && rows.rank() > 0;
  for (std::size_t i = 0; fits && i + 1 < rows.shape.size(); ++i) {
    fits = assumptions.equal(rows.shape[i], values.shape[i]);
  }
  if (!fits) fail(ErrorCode::invalid_model, "a search for {} in {}", values.to_string(), rows.to_string());
  return {Fact::of(DType::int32, values.shape)};
}

std::vector<Tensor> Search::evaluate(std::span<const Tensor> inputs) const {
  if (bit_width(inputs[0].dtype()) < 8) return {};
  const Tensor rows = widened(inputs[0]), values = widened(inputs[1]);
  const std::int64_t length = rows.shape().back(), wanted = values.shape().back();
  Tensor result = Tensor::allocate(DType::int32, values.shape());
  const bool reals = is_floating_point(inputs[0].dtype()), natural = inputs[0].dtype() == DType::uint64;
  for (std::int64_t i = 0; i < values.element_count(); ++i) {
    const auto value = static_cast<std::size_t>(i);
    std::int32_t& found = result.mutable_elements<std::int32_t>()[value];
    found = 0;
    for (std::int64_t j = 0; j < length; ++j) {
      const auto element = static_cast<std::size_t>(i / wanted * length + j);
      int order = 0;
      if (reals) {
        order = order_of(rows.elements<double>()[element], values.elements<double>()[value]);
      } else {
        const std::int64_t a = rows.elements<std::int64_t>()[element], b = values.elements<std::int64_t>()[value];
        order = natural ? order_of_integers<std::uint64_t>(a, b) : order_of_integers<std::int64_t>(a, b);
      }
      if (order < 0 || (order == 0 && equals_)) ++found;
    }
  }
  return {result};
}

}  // namespace lapilli
