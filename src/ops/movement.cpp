#include "ops/movement.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <format>
#include <numeric>

#include "base/failure.h"
#include "base/packed.h"
#include "base/text.h"
#include "ops/host_loop.h"
#include "ops/pointwise.h"

namespace lapilli {
namespace {

std::string dims_text(std::string_view name, std::span<const Dim> dims) {
  return std::format("{} {}", name, shape_text(dims));
}

RegionLoop straight_loop(const Dim& size, int axis) {
  return {.size = size, .source_axis = axis, .source_step = 1, .target_axis = axis, .target_step = 1};
}

std::vector<Dim> zeros(std::size_t count) { return std::vector<Dim>(count, Dim(0)); }

// A region with numbers, as flat offsets into row-major tensors.
struct FlatRegion {
  std::size_t input = 0;
  std::int64_t source_offset = 0, target_offset = 0;
  std::vector<std::int64_t> sizes, source_strides, target_strides;
};

FlatRegion flatten(const Region& region, std::span<const std::int64_t> source, std::span<const std::int64_t> target) {
  const SymbolValues none;
  const auto source_strides = row_major_strides(source), target_strides = row_major_strides(target);
  FlatRegion flat;
  flat.input = region.input;
  for (std::size_t i = 0; i < source.size(); ++i)
    flat.source_offset += region.source_start[i].evaluate(none) * source_strides[i];
  for (std::size_t i = 0; i < target.size(); ++i)
    flat.target_offset += region.target_start[i].evaluate(none) * target_strides[i];
  for (const RegionLoop& loop : region.loops) {
    const auto stride = [&](int axis, const Dim& step, std::span<const std::int64_t> strides) {
      return axis < 0 ? 0 : strides[static_cast<std::size_t>(axis)] * step.evaluate(none);
    };
    flat.sizes.push_back(loop.size.evaluate(none));
    flat.source_strides.push_back(stride(loop.source_axis, loop.source_step, source_strides));
    flat.target_strides.push_back(stride(loop.target_axis, loop.target_step, target_strides));
  }
  return flat;
}

// Calls `move(source index, target index)` for each element.
template <class Move>
void for_each_element(const FlatRegion& region, Move&& move) {
  if (std::ranges::contains(region.sizes, 0)) return;
  std::vector<std::int64_t> index(region.sizes.size(), 0);
  std::int64_t source = region.source_offset, target = region.target_offset;
  while (true) {
    move(static_cast<std::size_t>(source), static_cast<std::size_t>(target));
    std::size_t loop = index.size();
    while (loop-- > 0) {
      source += region.source_strides[loop];
      target += region.target_strides[loop];
      if (++index[loop] < region.sizes[loop]) break;
      source -= region.source_strides[loop] * region.sizes[loop];
      target -= region.target_strides[loop] * region.sizes[loop];
      index[loop] = 0;
    }
    if (loop == static_cast<std::size_t>(-1)) return;
  }
}

Tensor move_elements(const Movement& movement, std::span<const Tensor> inputs, std::span<const std::int64_t> sizes,
                     std::span<const Region> regions) {
  const DType dtype = inputs[0].dtype();
  const Tensor& gap = inputs.size() > 1 ? inputs[1] : movement.fill();
  const bool fills = movement.has_gaps() && gap.defined();
  if (dtype == DType::string) {
    std::vector<std::string> values(static_cast<std::size_t>(element_count(sizes)),
                                    fills ? gap.strings()[0] : std::string());
    for (const Region& region : regions) {
      const auto source = inputs[region.input].strings();
      for_each_element(flatten(region, inputs[region.input].shape(), sizes),
                       [&](std::size_t from, std::size_t to) { values[to] = source[from]; });
    }
    return Tensor::of_strings({sizes.begin(), sizes.end()}, std::move(values));
  }
  const std::size_t width = device_element_bytes(dtype);
  Tensor output = Tensor::allocate(is_packed(dtype) ? DType::uint8 : dtype, {sizes.begin(), sizes.end()});
  std::byte* target = output.mutable_bytes().data();
  if (fills) {
    const Tensor element = unpacked_tensor(gap);
    const std::byte* fill = element.bytes().data();
    for (std::int64_t i = 0; i < output.element_count(); ++i)
      std::memcpy(target + static_cast<std::size_t>(i) * width, fill, width);
  }
  for (const Region& region : regions) {
    const Tensor input = unpacked_tensor(inputs[region.input]);
    const std::byte* source = input.bytes().data();
    for_each_element(flatten(region, inputs[region.input].shape(), sizes), [&](std::size_t from, std::size_t to) {
      std::memcpy(target + to * width, source + from * width, width);
    });
  }
  return packed_tensor(dtype, output);
}

// Shape arithmetic: the same movement over expressions.
std::optional<std::vector<Dim>> move_expressions(const Movement& movement, std::span<const Fact> inputs,
                                                 std::span<const Dim> shape, std::span<const Region> regions) {
  const auto sizes = to_numbers(shape);
  constexpr std::int64_t longest_shape_arithmetic = 4096;
  if (!sizes || element_count(*sizes) > longest_shape_arithmetic || movement.has_gaps()) return std::nullopt;
  std::vector<Dim> result(static_cast<std::size_t>(element_count(*sizes)));
  for (const Region& region : regions) {
    const Fact& input = inputs[region.input];
    const auto source = input.integers();
    const auto source_sizes = to_numbers(input.shape);
    if (!source || !source_sizes) return std::nullopt;
    for_each_element(flatten(region, *source_sizes, *sizes),
                     [&](std::size_t from, std::size_t to) { result[to] = (*source)[from]; });
  }
  return result;
}

}  // namespace

std::vector<Fact> Movement::infer(std::span<const Fact> inputs, Assumptions& assumptions) const {
  Shape shape = output_shape(inputs, assumptions);
  const DType dtype = inputs[0].dtype;
  const bool symbolic = std::ranges::any_of(inputs, [](const Fact& fact) { return fact.elements.has_value(); });
  if (symbolic) {
    const auto all_regions = regions(inputs, assumptions);
    if (auto elements = move_expressions(*this, inputs, shape, all_regions)) {
      return {Fact::of_elements(dtype, std::move(shape), std::move(*elements))};
    }
  }
  return {Fact::of(dtype, std::move(shape))};
}

std::vector<Tensor> Movement::evaluate(std::span<const Tensor> inputs) const {
  std::vector<Fact> facts;
  for (const Tensor& input : inputs) facts.push_back(Fact::of(input.dtype(), to_shape(input.shape())));
  Assumptions none({});
  const auto sizes = to_numbers(output_shape(facts, none));
  return {move_elements(*this, inputs, *sizes, regions(facts, none))};
}

const Tensor& Movement::fill() const {
  static const Tensor zero;
  return zero;
}

std::string Transpose::attributes() const {
  std::vector<std::int64_t> axes(permutation_.begin(), permutation_.end());
  return lapilli::shape_text(std::span<const std::int64_t>(axes));
}

Shape Transpose::output_shape(std::span<const Fact> inputs, Assumptions& /*assumptions*/) const {
  std::vector<int> sorted = permutation_;
  std::ranges::sort(sorted);
  std::vector<int> axes(inputs[0].shape.size());
  std::iota(axes.begin(), axes.end(), 0);
  if (sorted != axes) {
    fail(ErrorCode::invalid_model, "perm {} does not name each axis of {} once", attributes(), inputs[0].to_string());
  }
  Shape shape;
  for (const int axis : permutation_) shape.push_back(inputs[0].shape[static_cast<std::size_t>(axis)]);
  return shape;
}

std::vector<Region> Transpose::regions(std::span<const Fact> inputs, Assumptions& /*assumptions*/) const {
  Region region{0, {}, zeros(permutation_.size()), zeros(permutation_.size())};
  for (std::size_t i = 0; i < permutation_.size(); ++i) {
    RegionLoop loop = straight_loop(inputs[0].shape[static_cast<std::size_t>(permutation_[i])], permutation_[i]);
    loop.target_axis = static_cast<int>(i);
    region.loops.push_back(loop);
  }
  return {region};
}

std::string Slice::attributes() const {
  return std::format("{}, {}, {}", dims_text("start", start_), dims_text("size", size_), dims_text("step", step_));
}

Shape Slice::output_shape(std::span<const Fact> inputs, Assumptions& /*assumptions*/) const {
  if (inputs[0].shape.size() != size_.size()) {
    fail(ErrorCode::invalid_model, "{} slices for {}", size_.size(), inputs[0].to_string());
  }
  return size_;
}

std::vector<Region> Slice::regions(std::span<const Fact> /*inputs*/, Assumptions& /*assumptions*/) const {
  Region region{0, {}, start_, zeros(start_.size())};
  for (std::size_t i = 0; i < size_.size(); ++i) {
    RegionLoop loop = straight_loop(size_[i], static_cast<int>(i));
    loop.source_step = step_[i];
    region.loops.push_back(loop);
  }
  return {region};
}

bool Slice::takes_all(std::span<const Dim> shape) const {
  return std::ranges::equal(shape, size_) &&
         std::ranges::all_of(start_, [](const Dim& dim) { return dim == Dim(0); }) &&
         std::ranges::all_of(step_, [](const Dim& dim) { return dim == Dim(1); });
}

std::string Concat::attributes() const { return std::format("axis {}", axis_); }

Shape Concat::output_shape(std::span<const Fact> inputs, Assumptions& assumptions) const {
  Shape shape = inputs[0].shape;
  const auto axis = static_cast<std::size_t>(axis_);
  for (const Fact& fact : inputs.subspan(1)) {
    if (fact.dtype != inputs[0].dtype || fact.shape.size() != shape.size()) {
      fail(ErrorCode::invalid_model, "{} cannot be joined with {}", fact.to_string(), inputs[0].to_string());
    }
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (i == axis) {
        shape[i] = shape[i] + fact.shape[i];
      } else if (!assumptions.equal(shape[i], fact.shape[i])) {
        fail(ErrorCode::invalid_model, "{} cannot be joined with {} along axis {}: axis {} differs", fact.to_string(),
             inputs[0].to_string(), axis_, i);
      }
    }
  }
  return shape;
}

std::vector<Region> Concat::regions(std::span<const Fact> inputs, Assumptions& /*assumptions*/) const {
  std::vector<Region> result;
  Dim position = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Shape& shape = inputs[i].shape;
    Region region{i, {}, zeros(shape.size()), zeros(shape.size())};
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
      region.loops.push_back(straight_loop(shape[axis], static_cast<int>(axis)));
    const auto axis = static_cast<std::size_t>(axis_);
    region.target_start[axis] = position;
    position = position + shape[axis];
    result.push_back(std::move(region));
  }
  return result;
}

Shape Expand::output_shape(std::span<const Fact> inputs, Assumptions& assumptions) const {
  const std::array shapes{inputs[0].shape, shape_};
  Shape shape = broadcast(shapes, assumptions);
  if (shape.size() != shape_.size()) {
    fail(ErrorCode::invalid_model, "{} does not expand to {}", inputs[0].to_string(), shape_text(shape_));
  }
  return shape;
}

std::vector<Region> Expand::regions(std::span<const Fact> inputs, Assumptions& assumptions) const {
  const Shape target = output_shape(inputs, assumptions);
  const Shape& source = inputs[0].shape;
  const std::size_t added = target.size() - source.size();
  Region region{0, {}, zeros(source.size()), zeros(target.size())};
  for (std::size_t i = 0; i < target.size(); ++i) {
    RegionLoop loop = straight_loop(target[i], static_cast<int>(i));
    const bool repeated = i < added || (source[i - added] != target[i] && assumptions.equal(source[i - added], 1));
    loop.source_axis = repeated ? -1 : static_cast<int>(i - added);
    region.loops.push_back(loop);
  }
  return {region};
}

std::vector<Fact> Reshape::infer(std::span<const Fact> inputs, Assumptions& assumptions) const {
  const Fact& input = inputs[0];
  if (!assumptions.equal(element_count(input.shape), element_count(shape_))) {
    fail(ErrorCode::invalid_model, "{} cannot become {}: the element counts differ", input.to_string(),
         shape_text(shape_));
  }
  Fact fact = Fact::of(input.dtype, shape_);
  if (const auto sizes = to_numbers(shape_); sizes && input.constant.defined()) {
    fact.constant = input.constant.reshaped(*sizes);
  } else {
    fact.elements = input.integers();
  }
  return {fact};
}

std::vector<Tensor> Reshape::evaluate(std::span<const Tensor> inputs) const {
  const auto sizes = to_numbers(shape_);
  return sizes ? std::vector{inputs[0].reshaped(*sizes)} : std::vector<Tensor>{};
}

std::vector<Fact> BitCast::infer(std::span<const Fact> inputs, Assumptions& /*assumptions*/) const {
  const std::size_t from = bit_width(inputs[0].dtype), to = bit_width(dtype_);
  if (from != to || from == 0) {
    fail(ErrorCode::invalid_model, "{} has {} bits an element, {} has {}", inputs[0].to_string(), from,
         to_string(dtype_), to);
  }
  return {Fact::of(dtype_, inputs[0].shape)};
}

std::vector<Tensor> BitCast::evaluate(std::span<const Tensor> inputs) const {
  return {bit_cast_tensor(dtype_, inputs[0])};
}

}  // namespace lapilli
