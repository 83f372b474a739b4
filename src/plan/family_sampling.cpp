#include <algorithm>
#include <bit>

#include "ops/sampling.h"
#include "plan/epilogue.h"
#include "plan/families.h"
#include "plan/rows.h"

namespace lapilli {
namespace {

bool has_weights(const Sampling& op) { return op.sampling().kernel != SamplingKernel::nearest; }

bool is_wide(const Node& node, const Emission& emission) {
  return needs_double(emission.graph().fact(node.inputs[0]).dtype, emission.traits());
}

// Words of a table's row: the first element, then the weights.
Dim row_words(const Sampling& op, const SamplingAxis& axis, bool wide) {
  return has_weights(op) ? op.taps(axis) * Dim(wide ? 2 : 1) + Dim(1) : Dim(1);
}

void write_weight(double weight, bool wide, std::vector<std::int32_t>& words) {
  if (wide) {
    const auto bits = std::bit_cast<std::uint64_t>(weight);
    words.push_back(static_cast<std::int32_t>(bits & 0xFFFFFFFFU));
    words.push_back(static_cast<std::int32_t>(bits >> 32U));
  } else {
    words.push_back(std::bit_cast<std::int32_t>(static_cast<float>(weight)));
  }
}

// The table made on the host, where all that it depends on is known and it is not large.
std::optional<Tensor> known_table(const Sampling& op, const Node& node, const Graph& graph, bool wide) {
  const SamplingAttributes& sampling = op.sampling();
  constexpr std::int64_t most_words = std::int64_t{1} << 20U;
  if (sampling.crop && !graph.is_constant(node.inputs[1])) return std::nullopt;
  const Tensor edges =
      sampling.crop ? evaluate_chain({}, {&graph.fact(node.inputs[1]).constant, 1}, DType::float64) : Tensor();
  const std::span<const double> region = sampling.crop ? edges.elements<double>() : std::span<const double>();
  std::vector<std::int32_t> words;
  for (std::size_t i = 0; i < sampling.axes.size(); ++i) {
    const SamplingAxis& axis = sampling.axes[i];
    const auto extent = graph.fact(node.inputs[0]).shape[static_cast<std::size_t>(axis.axis)].constant();
    const std::array numbers{axis.size, axis.step, axis.begin, axis.divisor, axis.spread, axis.spread_divisor};
    if (!extent || !to_numbers(numbers)) return std::nullopt;
    const auto size = (axis.size * row_words(op, axis, wide)).constant();
    if (!size || *axis.size.constant() > most_words || *size > most_words) return std::nullopt;
    const SamplingTable table = op.table(i, *extent, region);
    for (std::size_t row = 0; row < table.first.size(); ++row) {
      words.push_back(table.first[row]);
      if (table.weights.empty()) continue;
      const auto taps = static_cast<std::size_t>(table.taps);
      for (const double weight : std::span(table.weights).subspan(row * taps, taps))
        write_weight(weight, wide, words);
    }
  }
  if (words.empty()) words.push_back(0);
  return Tensor::of<std::int32_t>(DType::int32, {static_cast<std::int64_t>(words.size())}, words);
}

// One axis of the table, made on the device from the sizes of the run.
void emit_table(const Sampling& op, const Node& node, std::size_t index, const Dim& first_row, StorageId table,
                Emission& emission) {
  const SamplingAttributes& sampling = op.sampling();
  const SamplingAxis& axis = sampling.axes[index];
  const bool wide = is_wide(node, emission);
  const std::uint32_t invocations = choose_invocations(emission.traits());
  SymbolicDispatch dispatch;
  dispatch.kernel = "sampling_table";
  const bool wide_region = sampling.crop && emission.graph().fact(node.inputs[1]).dtype == DType::float64;
  if (wide_region || (wide && has_weights(op))) dispatch.capabilities = KernelLevel::float64;
  dispatch.specialization = {invocations,
                             static_cast<std::uint32_t>(sampling.kernel),
                             static_cast<std::uint32_t>(axis.rounding),
                             sampling.exclude_outside ? 1U : 0U,
                             sampling.crop ? 1U : 0U,
                             wide_region ? 1U : 0U};
  dispatch.bindings.push_back({table, Access::write});
  ParameterWriter parameters;
  parameters.value(axis.size).value(first_row).value(row_words(op, axis, wide));
  parameters.value(axis.step).value(axis.begin).value(axis.divisor);
  parameters.value(emission.graph().fact(node.inputs[0]).shape[static_cast<std::size_t>(axis.axis)]);
  parameters.value(op.taps(axis)).value(sampling.antialias ? axis.spread : Dim(1));
  parameters.value(sampling.antialias ? axis.spread_divisor : Dim(1)).real(sampling.cubic_coefficient);
  if (sampling.crop) {
    const Placement& region = emission.placement(node.inputs[1]);
    for (const std::size_t at : {index, index + sampling.axes.size()}) {
      parameters.value(region.offset + Dim(static_cast<std::int64_t>(at)) * region.strides[0]);
    }
    dispatch.bindings.push_back({region.storage, Access::read});
  } else {
    dispatch.bindings.push_back(dispatch.bindings.back());
  }
  dispatch.parameters = parameters.take();
  dispatch.groups = Dim::ceil_divide(axis.size, std::int64_t{invocations});
  emission.add_dispatch(std::move(dispatch));
}

StorageId place_table(const Sampling& op, const Node& node, Emission& emission) {
  const bool wide = is_wide(node, emission);
  if (const auto table = known_table(op, node, emission.graph(), wide)) {
    return emission.add_constant(*table, {DType::int32, table->shape(), table->shape(), {1}, 0});
  }
  Dim words = 0;
  for (const SamplingAxis& axis : op.sampling().axes) words = words + axis.size * row_words(op, axis, wide);
  const StorageId table = emission.add_storage({SegmentKind::arena, words * Dim(4), std::nullopt});
  Dim first_row = 0;
  for (std::size_t i = 0; i < op.sampling().axes.size(); ++i) {
    emit_table(op, node, i, first_row, table, emission);
    first_row = first_row + op.sampling().axes[i].size * row_words(op, op.sampling().axes[i], wide);
  }
  return table;
}

// Output, source, epilogue, and a row of the table for each axis.
LoopNest sampling_nest(const Sampling& op, const Node& node, Emission& emission) {
  LoopNest nest;
  nest.sizes = emission.graph().fact(node.outputs[0]).shape;
  nest.output = placed_operand(emission.placement(node.outputs[0]));
  nest.inputs = {placed_operand(emission.placement(node.inputs[0]))};
  const std::vector<NestOperand> operands = epilogue_operands(op, node, emission);
  nest.inputs.insert(nest.inputs.end(), operands.begin(), operands.end());
  Dim first_row = 0;
  const bool wide = is_wide(node, emission);
  for (const SamplingAxis& axis : op.sampling().axes) {
    const auto at = static_cast<std::size_t>(axis.axis);
    nest.inputs[0].strides[at] = 0;
    NestOperand row{{}, DType::undefined, first_row, std::vector<Dim>(nest.sizes.size(), Dim(0))};
    row.strides[at] = row_words(op, axis, wide);
    nest.inputs.push_back(std::move(row));
    first_row = first_row + axis.size * row_words(op, axis, wide);
  }
  return nest;
}

void write_axes(const Sampling& op, const Node& node, Emission& emission, ParameterWriter& parameters) {
  const Shape& shape = emission.graph().fact(node.inputs[0]).shape;
  const Placement& source = emission.placement(node.inputs[0]);
  for (const SamplingAxis& axis : op.sampling().axes) {
    const auto at = static_cast<std::size_t>(axis.axis);
    parameters.value(shape[at]).value(source.strides[at]).value(op.taps(axis));
  }
}

// Elements along each axis as the kernel's constant; 0 where only the run knows.
std::uint32_t tap_constant(const SamplingAttributes& sampling) {
  if (sampling.antialias) return 0;
  return sampling.kernel == SamplingKernel::nearest ? 1 : sampling.kernel == SamplingKernel::linear ? 2 : 4;
}

}  // namespace

void emit_sampling(const Node& node, Emission& emission) {
  const auto& op = static_cast<const Sampling&>(*node.op);
  const StorageId table = place_table(op, node, emission);
  const DType result = op.result_dtype(emission.graph().fact(node.inputs[0]).dtype);
  ElementDispatch dispatch("sampling", sampling_nest(op, node, emission), op, node, result,
                           choose_invocations(emission.traits()), emission);
  if (has_weights(op) && is_wide(node, emission)) dispatch.compute_in_double();
  const std::array constants{dispatch.invocations(),
                             dispatch.loops(),
                             static_cast<std::uint32_t>(op.sampling().axes.size()),
                             tap_constant(op.sampling()),
                             static_cast<std::uint32_t>(dispatch.source().dtype),
                             static_cast<std::uint32_t>(dispatch.nest().output.dtype),
                             static_cast<std::uint32_t>(result),
                             dispatch.operand_count(),
                             dispatch.operand_dtypes()};
  dispatch.bind(table);
  dispatch.parameters_before().real(op.sampling().extrapolation);
  write_axes(op, node, emission, dispatch.parameters_after());
  dispatch.emit(constants);
}

LayoutChoice choose_sampling_layouts(const LayoutQuery& query) {
  LayoutChoice choice;
  choice.outputs.push_back(query.inputs[0]);
  const auto& op = static_cast<const Sampling&>(*query.node.op);
  const DType region = Sampling::region_dtype(query.graph.fact(query.node.inputs[0]).dtype);
  if (op.sampling().crop) choice.inputs = {OperandRequirement{}, {Layout::row_major(1), region}};
  return choice;
}

}  // namespace lapilli
