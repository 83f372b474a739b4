#include "ops/reduction.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <format>
#include <limits>

#include "base/failure.h"
#include "base/text.h"
#include "ops/host_loop.h"

namespace lapilli {
namespace {

constexpr std::array function_names{
#define FUNCTION(name, code) std::string_view(#name),
#include "ops/reduction_functions.def"
#undef FUNCTION
};

constexpr std::array preparation_names{
#define PREPARATION(name, code) std::string_view(#name),
#include "ops/preparation.def"
#undef PREPARATION
};

std::string axes_text(std::span<const int> axes) {
  return shape_text(std::vector<std::int64_t>(axes.begin(), axes.end()));
}

bool is_index(ReductionFunction function) { return function >= ReductionFunction::first_largest; }
bool is_last(ReductionFunction function) {
  return function == ReductionFunction::last_largest || function == ReductionFunction::last_smallest;
}
bool is_largest(ReductionFunction function) {
  return function == ReductionFunction::first_largest || function == ReductionFunction::last_largest;
}

template <class T>
bool is_not_a_number(T value) {
  if constexpr (std::is_floating_point_v<T>) return std::isnan(value);
  return false;
}

// Whether `candidate` takes the place of `best`; among equals, the later one where `last`.
template <class T>
bool wins(T candidate, T best, bool largest, bool last) {
  const bool candidate_nan = is_not_a_number(candidate), best_nan = is_not_a_number(best);
  if (candidate_nan || best_nan) return candidate_nan && (last || !best_nan);
  if (candidate == best) return last;
  return largest ? candidate > best : candidate < best;
}

double sum_of(std::span<const double> row) {
  double sum = 0, compensation = 0;
  for (const double value : row) {
    const double total = sum + value, part = total - sum;
    compensation += (sum - (total - part)) + (value - part);
    sum = total;
  }
  return std::isfinite(compensation) ? sum + compensation : sum;
}

double extreme_of(std::span<const double> row, bool largest) {
  double best = largest ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  for (const double value : row) {
    if (wins(value, best, largest, false)) best = value;
  }
  return best;
}

double log_sum_exp(std::span<const double> row) {
  const double largest = extreme_of(row, true);
  if (!std::isfinite(largest)) return largest;
  double sum = 0;
  for (const double value : row) sum += std::exp(value - largest);
  return largest + std::log(sum);
}

double reduce_row(ReductionFunction function, std::span<const double> row, DType /*dtype*/) {
  switch (function) {
    case ReductionFunction::mean: return sum_of(row) / static_cast<double>(row.size());
    case ReductionFunction::product: {
      double product = 1;
      for (const double value : row) product *= value;
      return product;
    }
    case ReductionFunction::maximum: return extreme_of(row, true);
    case ReductionFunction::minimum: return extreme_of(row, false);
    case ReductionFunction::log_sum_exp: return log_sum_exp(row);
    default: return sum_of(row);
  }
}

std::int64_t lowest_integer(DType dtype) {
  if (!is_signed_integer(dtype)) return 0;
  return std::numeric_limits<std::int64_t>::min() >> (64 - bit_width(dtype));
}

std::int64_t highest_integer(DType dtype) {
  if (dtype == DType::boolean) return 1;
  const auto all = ~std::uint64_t{0} >> (64 - bit_width(dtype));
  return static_cast<std::int64_t>(is_signed_integer(dtype) ? all >> 1U : all);
}

std::int64_t extreme_of(std::span<const std::int64_t> row, bool largest, DType dtype) {
  std::int64_t best = largest ? lowest_integer(dtype) : highest_integer(dtype);
  for (const std::int64_t value : row) {
    const bool better = dtype == DType::uint64 ? wins(static_cast<std::uint64_t>(value),
                                                      static_cast<std::uint64_t>(best), largest, false)
                                               : wins(value, best, largest, false);
    if (better) best = value;
  }
  return best;
}

// Integers wrap, as they do on the device.
std::int64_t reduce_row(ReductionFunction function, std::span<const std::int64_t> row, DType dtype) {
  if (function == ReductionFunction::maximum) return extreme_of(row, true, dtype);
  if (function == ReductionFunction::minimum) return extreme_of(row, false, dtype);
  std::uint64_t sum = 0, product = 1;
  for (const std::int64_t value : row) {
    sum += static_cast<std::uint64_t>(value);
    product *= static_cast<std::uint64_t>(value);
  }
  if (function == ReductionFunction::product) return static_cast<std::int64_t>(product);
  if (function != ReductionFunction::mean) return static_cast<std::int64_t>(sum);
  return row.empty() ? 0 : static_cast<std::int64_t>(sum) / static_cast<std::int64_t>(row.size());
}

// Calls use(output offset, elements of the row) for every row of `input`, whose elements are T.
template <class T, class Use>
void for_each_row(const Tensor& input, std::span<const int> axes, Use&& use) {
  std::vector<std::int64_t> outer = input.shape(), inner(input.shape().size(), 1);
  for (const int axis : axes) std::swap(outer[static_cast<std::size_t>(axis)], inner[static_cast<std::size_t>(axis)]);
  const std::vector<std::int64_t> strides = row_major_strides(input.shape());
  const std::int64_t rows = element_count(outer), length = element_count(inner);
  const auto elements = input.elements<T>();
  std::vector<std::int64_t> outer_index(outer.size(), 0), inner_index(inner.size(), 0);
  std::vector<T> row(static_cast<std::size_t>(length));
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int64_t start = offset_of(outer_index, strides);
    for (T& element : row) {
      element = elements[static_cast<std::size_t>(start + offset_of(inner_index, strides))];
      next_index(inner_index, inner);
    }
    use(static_cast<std::size_t>(i), std::span<T>(row));
    next_index(outer_index, outer);
  }
}

std::vector<std::int64_t> reduced_sizes(const Tensor& input, std::span<const int> axes) {
  return *to_numbers(reduced_shape(Fact::of(input.dtype(), to_shape(input.shape())), axes));
}

Tensor widened(const Tensor& tensor) {
  return evaluate_chain({}, {&tensor, 1}, is_floating_point(tensor.dtype()) ? DType::float64 : DType::int64);
}

template <class T>
Tensor reduce(const Tensor& input, std::span<const int> axes, ReductionFunction function, Preparation preparation) {
  const Tensor wide = widened(input);
  Tensor result = Tensor::allocate(wide.dtype(), reduced_sizes(input, axes));
  const auto results = result.mutable_elements<T>();
  for_each_row<T>(wide, axes, [&](std::size_t i, std::span<T> row) {
    for (T& element : row) {
      if constexpr (std::is_same_v<T, double>) {
        element = prepare(preparation, 1, element);
      } else {
        element = prepare(preparation, element);
      }
    }
    results[i] = reduce_row(function, row, input.dtype());
  });
  return evaluate_chain({}, {&result, 1}, input.dtype());
}

template <class T>
std::int64_t find_extreme(std::span<const T> row, ReductionFunction function) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < row.size(); ++i) {
    if (wins(row[i], row[best], is_largest(function), is_last(function))) best = i;
  }
  return static_cast<std::int64_t>(best);
}

void require_numbers(const Fact& fact, std::string_view operation) {
  if (!is_floating_point(fact.dtype) && !is_integer(fact.dtype) && fact.dtype != DType::boolean) {
    fail(ErrorCode::invalid_model, "{} of {}", operation, fact.to_string());
  }
}

}  // namespace

std::string_view to_string(ReductionFunction function) noexcept {
  return function_names[static_cast<std::size_t>(function)];
}

std::string_view to_string(Preparation preparation) noexcept {
  return preparation_names[static_cast<std::size_t>(preparation)];
}

double prepare(Preparation preparation, double exponent, double value) noexcept {
  switch (preparation) {
    case Preparation::none: return value;
    case Preparation::absolute: return std::abs(value);
    case Preparation::square: return value * value;
    case Preparation::absolute_power: return std::pow(std::abs(value), exponent);
  }
  return value;
}

std::int64_t prepare(Preparation preparation, std::int64_t value) noexcept {
  const auto bits = static_cast<std::uint64_t>(value);
  if (preparation == Preparation::absolute) return static_cast<std::int64_t>(value < 0 ? 0 - bits : bits);
  if (preparation == Preparation::square) return static_cast<std::int64_t>(bits * bits);
  return value;
}

Shape reduced_shape(const Fact& input, std::span<const int> axes) {
  Shape shape = input.shape;
  int previous = -1;
  for (const int axis : axes) {
    if (axis <= previous || axis >= input.rank()) {
      fail(ErrorCode::invalid_model, "axes {} do not name axes of {}, each once", axes_text(axes), input.to_string());
    }
    shape[static_cast<std::size_t>(axis)] = 1;
    previous = axis;
  }
  return shape;
}

Reduction::Reduction(ReductionFunction function, Preparation preparation, std::vector<int> axes,
                     PointwiseChain epilogue, DType output_dtype)
    : FusedOperator(std::move(epilogue), output_dtype),
      function_(function),
      preparation_(preparation),
      axes_(std::move(axes)) {
  std::ranges::sort(axes_);
}

std::shared_ptr<const FusedOperator> Reduction::with_epilogue(PointwiseChain chain, DType output_dtype) const {
  return std::make_shared<Reduction>(function_, preparation_, axes_, std::move(chain), output_dtype);
}

std::string Reduction::own_attributes() const {
  const std::string_view prepared = preparation_ == Preparation::none ? "" : to_string(preparation_);
  return std::format("{}{}{} over {}", to_string(function_), prepared.empty() ? "" : " of ", prepared,
                     axes_text(axes_));
}

std::vector<Fact> Reduction::infer_own(std::span<const Fact> inputs, Assumptions& /*assumptions*/) const {
  require_numbers(inputs[0], to_string(function_));
  const bool powers = preparation_ == Preparation::absolute_power;
  if (is_index(function_) || powers) fail(ErrorCode::internal, "no reduction has {}", own_attributes());
  if (function_ == ReductionFunction::log_sum_exp && !is_floating_point(inputs[0].dtype)) {
    fail(ErrorCode::invalid_model, "log_sum_exp of {}", inputs[0].to_string());
  }
  return {Fact::of(inputs[0].dtype, reduced_shape(inputs[0], axes_))};
}

std::vector<Tensor> Reduction::evaluate_own(std::span<const Tensor> inputs) const {
  const DType dtype = inputs[0].dtype();
  if (bit_width(dtype) < 8) return {};
  return {is_floating_point(dtype) ? reduce<double>(inputs[0], axes_, function_, preparation_)
                                   : reduce<std::int64_t>(inputs[0], axes_, function_, preparation_)};
}

Dim Reduction::operation_count(std::span<const Fact> inputs, std::span<const Fact> /*outputs*/) const {
  return element_count(inputs[0].shape);
}

std::string ExtremeIndex::attributes() const { return std::format("{} along {}", to_string(function_), axis_); }

std::vector<Fact> ExtremeIndex::infer(std::span<const Fact> inputs, Assumptions& /*assumptions*/) const {
  require_numbers(inputs[0], to_string(function_));
  const std::array axes{axis_};
  const Shape shape = reduced_shape(inputs[0], axes);
  if (!is_index(function_)) fail(ErrorCode::internal, "{} is no index", to_string(function_));
  if (inputs[0].shape[static_cast<std::size_t>(axis_)] == Dim(0)) {
    fail(ErrorCode::invalid_model, "no element is the extreme of {} along axis {}", inputs[0].to_string(), axis_);
  }
  return {Fact::of(DType::int64, shape)};
}

std::vector<Tensor> ExtremeIndex::evaluate(std::span<const Tensor> inputs) const {
  if (bit_width(inputs[0].dtype()) < 8) return {};
  const std::array axes{axis_};
  const Tensor wide = widened(inputs[0]);
  Tensor result = Tensor::allocate(DType::int64, reduced_sizes(inputs[0], axes));
  const auto results = result.mutable_elements<std::int64_t>();
  const auto search = [&]<class T>(T) {
    for_each_row<T>(wide, axes,
                    [&](std::size_t i, std::span<const T> row) { results[i] = find_extreme(row, function_); });
  };
  if (wide.dtype() == DType::float64) {
    search(double{});
  } else {
    search(std::int64_t{});
  }
  return {result};
}

Dim ExtremeIndex::operation_count(std::span<const Fact> inputs, std::span<const Fact> /*outputs*/) const {
  return element_count(inputs[0].shape);
}

}  // namespace lapilli
