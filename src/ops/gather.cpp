#include "ops/gather.h"

#include <algorithm>
#include <cstring>

#include "base/failure.h"
#include "base/packed.h"
#include "ops/host_loop.h"

namespace lapilli {
namespace {

constexpr std::size_t most_chosen_axes = 8;  // src/kernels/gather.comp

// The sizes of the output, one an axis, from whichever input moves with it.
Shape output_shape(const GatherMap& map, std::span<const Fact> inputs) {
  Shape shape;
  for (std::size_t i = 0; i < map.data_axis.size(); ++i) {
    const bool by_index = map.index_axis[i] >= 0;
    const int axis = by_index ? map.index_axis[i] : map.data_axis[i];
    shape.push_back(inputs[by_index ? 1 : 0].shape[static_cast<std::size_t>(axis)]);
  }
  return shape;
}

// Strides of one input along the output's axes.
std::vector<std::int64_t> along_output(std::span<const int> axes, std::span<const std::int64_t> strides) {
  std::vector<std::int64_t> result;
  for (const int axis : axes) result.push_back(axis < 0 ? 0 : strides[static_cast<std::size_t>(axis)]);
  return result;
}

// Calls take(output element, data element) for each element of the output.
template <class Take>
void for_each_taken(const GatherMap& map, std::span<const std::int64_t> data, std::span<const std::int64_t> indices,
                    std::span<const std::int64_t> output, std::span<const std::int64_t> values, Take&& take) {
  const std::vector<std::int64_t> data_strides = row_major_strides(data), index_strides = row_major_strides(indices);
  const std::vector<std::int64_t> data_steps = along_output(map.data_axis, data_strides);
  const std::vector<std::int64_t> index_steps = along_output(map.index_axis, index_strides);
  const std::int64_t tuple_step = map.tuple_axis < 0 ? 0 : index_strides[static_cast<std::size_t>(map.tuple_axis)];
  const std::int64_t count = element_count(output);
  std::vector<std::int64_t> index(output.size(), 0);
  for (std::int64_t i = 0; i < count; ++i, next_index(index, output)) {
    std::int64_t place = offset_of(index, data_steps), at = offset_of(index, index_steps);
    for (const int axis : map.chosen) {
      const std::int64_t extent = data[static_cast<std::size_t>(axis)];
      const std::int64_t chosen = values[static_cast<std::size_t>(at)];
      if (chosen < -extent || chosen >= extent) {
        fail(ErrorCode::invalid_model, "index {} is out of range for axis {}, which has {} elements", chosen, axis,
             extent);
      }
      place += (chosen < 0 ? chosen + extent : chosen) * data_strides[static_cast<std::size_t>(axis)];
      at += tuple_step;
    }
    take(static_cast<std::size_t>(i), static_cast<std::size_t>(place));
  }
}

std::vector<std::int64_t> index_values(const Tensor& indices) {
  const Tensor wide = evaluate_chain({}, {&indices, 1}, DType::int64);
  return {wide.elements<std::int64_t>().begin(), wide.elements<std::int64_t>().end()};
}

// Shape arithmetic: the same over expressions.
std::optional<std::vector<Dim>> gather_expressions(const GatherMap& map, std::span<const Fact> inputs,
                                                   std::span<const Dim> shape) {
  constexpr std::int64_t longest_shape_arithmetic = 4096;
  const Fact &data = inputs[0], &indices = inputs[1];
  const auto sizes = to_numbers(shape), data_sizes = to_numbers(data.shape);
  if (!data.elements || !indices.constant.defined() || !sizes || !data_sizes) return std::nullopt;
  if (element_count(*sizes) > longest_shape_arithmetic) return std::nullopt;
  std::vector<Dim> result(static_cast<std::size_t>(element_count(*sizes)));
  for_each_taken(map, *data_sizes, indices.constant.shape(), *sizes, index_values(indices.constant),
                 [&](std::size_t to, std::size_t from) { result[to] = (*data.elements)[from]; });
  return result;
}

void require_axis(int axis, const Fact& fact) {
  if (axis < 0 || axis >= fact.rank()) fail(ErrorCode::invalid_model, "axis {} of {}", axis, fact.to_string());
}

}  // namespace

std::vector<Fact> GatherOperator::infer_own(std::span<const Fact> inputs, Assumptions& assumptions) const {
  if (inputs[1].dtype != DType::int64 && inputs[1].dtype != DType::int32) {
    fail(ErrorCode::invalid_model, "indices of {}", inputs[1].to_string());
  }
  check(inputs, assumptions);
  const GatherMap gather = map(inputs);
  Shape shape = output_shape(gather, inputs);
  if (auto elements = gather_expressions(gather, inputs, shape)) {
    return {Fact::of_elements(inputs[0].dtype, std::move(shape), std::move(*elements))};
  }
  return {Fact::of(inputs[0].dtype, std::move(shape))};
}

std::vector<Tensor> GatherOperator::evaluate_own(std::span<const Tensor> inputs) const {
  const Tensor& data = inputs[0];
  const DType dtype = data.dtype();
  std::vector<Fact> facts;
  for (const Tensor& input : inputs) facts.push_back(Fact::of(input.dtype(), to_shape(input.shape())));
  const GatherMap gather = map(facts);
  const std::vector<std::int64_t> sizes = *to_numbers(output_shape(gather, facts));
  const std::vector<std::int64_t> values = index_values(inputs[1]);
  if (dtype == DType::string) {
    std::vector<std::string> strings(static_cast<std::size_t>(element_count(sizes)));
    for_each_taken(gather, data.shape(), inputs[1].shape(), sizes, values,
                   [&](std::size_t to, std::size_t from) { strings[to] = data.strings()[from]; });
    return {Tensor::of_strings(sizes, std::move(strings))};
  }
  const Tensor source = unpacked_tensor(data);
  Tensor result = Tensor::allocate(source.dtype(), sizes);
  const std::size_t width = device_element_bytes(dtype);
  std::byte* target = result.mutable_bytes().data();
  for_each_taken(gather, data.shape(), inputs[1].shape(), sizes, values, [&](std::size_t to, std::size_t from) {
    std::memcpy(target + to * width, source.bytes().data() + from * width, width);
  });
  return {packed_tensor(dtype, result)};
}

void Gather::check(std::span<const Fact> inputs, Assumptions& /*assumptions*/) const {
  require_axis(axis_, inputs[0]);
}

GatherMap Gather::map(std::span<const Fact> inputs) const {
  GatherMap map;
  for (int axis = 0; axis < inputs[0].rank(); ++axis) {
    if (axis != axis_) {
      map.data_axis.push_back(axis);
      map.index_axis.push_back(-1);
      continue;
    }
    for (int index_axis = 0; index_axis < inputs[1].rank(); ++index_axis) {
      map.data_axis.push_back(-1);
      map.index_axis.push_back(index_axis);
    }
  }
  map.chosen = {axis_};
  return map;
}

std::shared_ptr<const FusedOperator> Gather::with_epilogue(PointwiseChain chain, DType output_dtype) const {
  return std::make_shared<Gather>(axis_, std::move(chain), output_dtype);
}

void GatherElements::check(std::span<const Fact> inputs, Assumptions& assumptions) const {
  require_axis(axis_, inputs[0]);
  bool fits = inputs[0].rank() == inputs[1].rank();
  for (std::size_t i = 0; fits && i < inputs[0].shape.size(); ++i) {
    fits = static_cast<int>(i) == axis_ || !assumptions.less(inputs[0].shape[i], inputs[1].shape[i]);
  }
  if (!fits) {
    fail(ErrorCode::invalid_model, "indices {} do not fit into {} along axis {}", inputs[1].to_string(),
         inputs[0].to_string(), axis_);
  }
}

GatherMap GatherElements::map(std::span<const Fact> inputs) const {
  GatherMap map;
  for (int axis = 0; axis < inputs[0].rank(); ++axis) {
    map.data_axis.push_back(axis == axis_ ? -1 : axis);
    map.index_axis.push_back(axis);
  }
  map.chosen = {axis_};
  return map;
}

std::shared_ptr<const FusedOperator> GatherElements::with_epilogue(PointwiseChain chain, DType output_dtype) const {
  return std::make_shared<GatherElements>(axis_, std::move(chain), output_dtype);
}

void GatherTuples::check(std::span<const Fact> inputs, Assumptions& assumptions) const {
  const Fact &data = inputs[0], &indices = inputs[1];
  const auto length = indices.rank() == 0 ? std::nullopt : indices.shape.back().constant();
  bool fits = length && *length >= 0 && batch_axes_ >= 0 && batch_axes_ < indices.rank() &&
              *length <= data.rank() - batch_axes_;
  for (std::size_t i = 0; fits && i < static_cast<std::size_t>(batch_axes_); ++i) {
    fits = assumptions.equal(data.shape[i], indices.shape[i]);
  }
  if (!fits) {
    fail(ErrorCode::invalid_model, "tuples {} with {} batch axes do not fit {}", indices.to_string(), batch_axes_,
         data.to_string());
  }
  if (static_cast<std::size_t>(*length) > most_chosen_axes) {
    fail(ErrorCode::unsupported, "tuples of {} indices; kernels take {}", *length, most_chosen_axes);
  }
}

GatherMap GatherTuples::map(std::span<const Fact> inputs) const {
  GatherMap map;
  const int tuple_axis = inputs[1].rank() - 1;
  for (int axis = 0; axis < tuple_axis; ++axis) {
    map.data_axis.push_back(axis < batch_axes_ ? axis : -1);
    map.index_axis.push_back(axis);
  }
  const int chosen_end = batch_axes_ + static_cast<int>(*inputs[1].shape.back().constant());
  for (int axis = batch_axes_; axis < inputs[0].rank(); ++axis) {
    if (axis < chosen_end) {
      map.chosen.push_back(axis);
    } else {
      map.data_axis.push_back(axis);
      map.index_axis.push_back(-1);
    }
  }
  map.tuple_axis = tuple_axis;
  return map;
}

std::shared_ptr<const FusedOperator> GatherTuples::with_epilogue(PointwiseChain chain, DType output_dtype) const {
  return std::make_shared<GatherTuples>(batch_axes_, std::move(chain), output_dtype);
}

}  // namespace lapilli
