#include "ops/sort.h"

#include <array>
#include <utility>

#include "plan/families.h"
#include "plan/rows.h"

namespace lapilli {
namespace {

constexpr std::int64_t first_run = 32;  // of the keys that each rank themselves by counting

struct SortCall {
  bool largest_first = false;
  LoopNest rows;  // over the rows, with the source as input 0
  LoopNest key;   // over the elements of a key; no loops where it has one
  Dim length, wanted, stride;
};

void emit_pass(const SortCall& call, std::int64_t run, const Placement* unsorted, const Placement& sorted,
               Emission& emission) {
  const NestOperand& source = call.rows.inputs[0];
  const std::uint32_t invocations = choose_invocations(emission.traits());
  const Dim keys = element_count(call.rows.sizes) * call.length;
  SymbolicDispatch dispatch;
  dispatch.kernel = "sort";
  dispatch.capabilities = level_of(source.dtype);
  dispatch.specialization = {invocations,
                             unsorted != nullptr ? 1U : 0U,
                             call.largest_first ? 1U : 0U,
                             static_cast<std::uint32_t>(call.rows.sizes.size()),
                             static_cast<std::uint32_t>(call.key.sizes.size()),
                             static_cast<std::uint32_t>(source.dtype)};
  dispatch.bindings = {{sorted.storage, Access::write},
                       {unsorted != nullptr ? unsorted->storage : source.storage, Access::read},
                       {source.storage, Access::read}};
  ParameterWriter parameters;
  parameters.value(keys).divisor(call.length).value(run).value(call.wanted).value(call.stride);
  write_operand(source, parameters);
  write_divisors(call.rows.sizes, parameters);
  parameters.value(element_count(call.key.sizes));
  if (!call.key.sizes.empty()) {
    for (const Dim& stride : call.key.inputs[0].strides) parameters.value(stride);
    write_divisors(call.key.sizes, parameters);
  }
  dispatch.parameters = parameters.take();
  dispatch.groups = Dim::ceil_divide(keys, std::int64_t{invocations});
  emission.add_dispatch(std::move(dispatch));
}

// Axes of size 1 are left out, but their order, which is that of comparison, stays.
LoopNest key_nest(const LoopNest& across) {
  LoopNest key;
  key.inputs = {across.inputs[0]};
  key.inputs[0].strides.clear();
  for (std::size_t i = 0; i < across.sizes.size(); ++i) {
    if (across.sizes[i] == Dim(1)) continue;
    key.sizes.push_back(across.sizes[i]);
    key.inputs[0].strides.push_back(across.inputs[0].strides[i]);
  }
  return key;
}

LoopNest single_row(const NestOperand& source) {
  LoopNest rows;
  rows.sizes = {1};
  rows.inputs = {{source.storage, source.dtype, source.offset, {Dim(0)}}};
  return rows;
}

// Where the sorted places lie, seen in the shape of the output.
Placement in_output_shape(const Placement& sorted, const Shape& output, std::size_t axis, const Dim& length) {
  Placement view{sorted.storage, sorted.dtype, 0, std::vector<Dim>(output.size(), Dim(1))};
  Dim stride = length;
  for (std::size_t i = output.size(); i-- > 0;) {
    if (i == axis) continue;
    view.strides[i] = stride;
    stride = stride * output[i];
  }
  return view;
}

}  // namespace

void emit_sort(const Node& node, Emission& emission) {
  const auto& op = static_cast<const Sort&>(*node.op);
  const Shape &shape = emission.graph().fact(node.inputs[0]).shape,
              &output = emission.graph().fact(node.outputs[0]).shape;
  const auto axis = static_cast<std::size_t>(op.axis());
  LoopNest nest;
  nest.sizes = shape;
  nest.inputs = {placed_operand(emission.placement(node.inputs[0]))};
  nest.output = {{}, DType::undefined, 0, Layout::row_major(shape.size()).strides(shape)};
  std::vector<bool> along(shape.size(), false);
  along[axis] = true;
  const LoopNest across = cut_into_rows(nest, along).outer;
  SortCall call{op.largest_first(), {}, {}, shape[axis], op.count(), nest.inputs[0].strides[axis]};
  const bool slices = op.key() == SortKey::slice;
  if (slices) {
    call.rows = single_row(nest.inputs[0]);
    call.key = key_nest(across);
  } else {
    call.rows = across;
    simplify_loops(call.rows, emission.assumptions().sizes());
  }
  const std::array places_shape{element_count(call.rows.sizes), call.length};
  Placement sorted = emission.add_arena(DType::int32, places_shape, Layout::row_major(2));
  emit_pass(call, first_run, nullptr, sorted, emission);
  if (emission.assumptions().less(first_run, call.length)) {
    Placement unsorted = emission.add_arena(DType::int32, places_shape, Layout::row_major(2));
    for (std::int64_t run = first_run; emission.assumptions().less(run, call.length); run *= 2) {
      std::swap(sorted, unsorted);
      emit_pass(call, run, &unsorted, sorted, emission);
    }
  }
  emit_copy(in_output_shape(sorted, output, slices ? 0 : axis, call.length), emission.placement(node.outputs[0]),
            output, emission);
}

void emit_search(const Node& node, Emission& emission) {
  const auto& op = static_cast<const Search&>(*node.op);
  const Placement rows = emission.placement(node.inputs[0]);
  LoopNest nest;
  nest.sizes = emission.graph().fact(node.inputs[1]).shape;
  nest.output = placed_operand(emission.placement(node.outputs[0]));
  nest.inputs = {placed_operand(rows), placed_operand(emission.placement(node.inputs[1]))};
  nest.inputs[0].strides.back() = 0;
  const Dim count = element_count(nest.sizes), length = emission.graph().fact(node.inputs[0]).shape.back();
  simplify_loops(nest, emission.assumptions().sizes());
  const std::uint32_t invocations = choose_invocations(emission.traits());

  SymbolicDispatch dispatch;
  dispatch.kernel = "search";
  dispatch.capabilities = level_of_all(nest.inputs, KernelLevel::narrow);
  dispatch.specialization = {invocations, op.equals() ? 1U : 0U, static_cast<std::uint32_t>(nest.sizes.size()),
                             static_cast<std::uint32_t>(nest.inputs[0].dtype),
                             static_cast<std::uint32_t>(nest.inputs[1].dtype)};
  dispatch.bindings.push_back({nest.output.storage, Access::write});
  for (const NestOperand& input : nest.inputs) dispatch.bindings.push_back({input.storage, Access::read});
  ParameterWriter parameters;
  parameters.value(count).value(length).value(rows.strides.back());
  write_operand(nest.output, parameters);
  for (const NestOperand& input : nest.inputs) write_operand(input, parameters);
  write_divisors(nest.sizes, parameters);
  dispatch.parameters = parameters.take();
  dispatch.groups = Dim::ceil_divide(count, std::int64_t{invocations});
  emission.add_dispatch(std::move(dispatch));
}

}  // namespace lapilli
