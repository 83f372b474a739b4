// Matrix products and convolutions: which variant runs one, and what layouts it wants.
#include <algorithm>

#include "base/checked.h"
#include "plan/contraction.h"

namespace lapilli {
namespace {

constexpr std::int64_t vector_elements = 8;  // the most that a kernel loads or stores at once

bool always(const ContractionTraits&, const DeviceTraits&, const PlanOptions&) { return true; }

// Convolutions like their channels innermost; with few of them that is not worth a copy.
OperandRequirement channels_last_if_vectors(const ContractionTraits& traits, std::size_t operand, std::size_t rank,
                                            const PlanOptions& options) {
  if (operand == 1 && traits.convolution) return {Layout::row_major(rank), std::nullopt};
  const bool vectors = traits.channels && *traits.channels * traits.group % 4 == 0;
  if (!traits.convolution) return {std::nullopt, std::nullopt, 4};
  if (!options.channels_last || !vectors) return {};
  return {Layout::channels_last(rank), std::nullopt, 4};
}

// Ordered by preference.
constexpr std::array variants{
    ContractionVariant{"contraction_depthwise", depthwise_contraction_applies, depthwise_contraction_requirement,
                       emit_depthwise_contraction},
    ContractionVariant{"contraction_matrix", matrix_contraction_applies, matrix_contraction_requirement,
                       emit_matrix_contraction},
    ContractionVariant{"contraction_tiled", scalar_contraction_applies, channels_last_if_vectors,
                       emit_scalar_contraction},
    ContractionVariant{"contraction", always, channels_last_if_vectors, emit_plain_contraction},
};

const ContractionVariant& choose_variant(const ContractionTraits& traits, const DeviceTraits& device,
                                         const PlanOptions& options) {
  return *std::ranges::find_if(variants, [&](const ContractionVariant& variant) {
    const bool forced = options.contraction.variant.empty() || options.contraction.variant == variant.name;
    return &variant == &variants.back() || (forced && variant.applies(traits, device, options));
  });
}

// Columns that fit into one binding as packed weights; all of them when they do.
std::int64_t columns_at_once(const Contraction& contraction, Emission& emission) {
  const std::int64_t columns = emission.assumptions().number(contraction.columns);
  const std::int64_t taps = contraction.window.taps();
  const std::int64_t channels = emission.assumptions().number(contraction.channels);
  // Variants pad columns to 8 at most, and fill their tiles with more of them.
  constexpr std::int64_t padding = 8, tile = 256;
  const std::int64_t width = bit_width(contraction.weights.dtype()) > 32 ? 8 : 4;
  std::int64_t column_bytes = checked_multiply(checked_multiply(taps, channels), width);
  for (std::size_t axis = 0; axis < contraction.b.batch.size(); ++axis) {
    if (contraction.b.batch[axis] == Dim(0)) continue;
    column_bytes = checked_multiply(column_bytes, emission.assumptions().number(contraction.batch_sizes[axis]));
  }
  const DeviceTraits& traits = emission.traits();
  const auto most =
      static_cast<std::int64_t>(std::min({traits.max_storage_range, traits.max_allocation, 1UL << 62U}));
  if (column_bytes == 0 || align_up(columns, padding) <= most / column_bytes) return columns;
  const std::int64_t fitting = most / column_bytes;
  return std::max(padding, fitting < tile ? fitting / padding * padding : fitting / tile * tile);
}

// The part of a contraction that makes `count` columns from `first` on.
Contraction some_columns(const Contraction& whole, std::int64_t first, std::int64_t count) {
  Contraction part = whole;
  part.columns = count;
  const auto shift = [&](ContractionOperand& operand) {
    operand.offset = operand.offset + Dim(first) * operand.column;
  };
  shift(part.b);
  shift(part.output);
  std::ranges::for_each(part.epilogue, shift);
  return part;
}

}  // namespace

LayoutChoice choose_contraction_layouts(const LayoutQuery& query) {
  const ContractionTraits traits = contraction_traits(query.graph, query.node, query.options);
  const ContractionVariant& variant = choose_variant(traits, query.traits, query.options);
  const auto rank_of = [&](ValueId value) { return query.graph.fact(value).shape.size(); };
  LayoutChoice choice;
  for (std::size_t operand = 0; operand < 2; ++operand) {
    choice.inputs.push_back(variant.requirement(traits, operand, rank_of(query.node.inputs[operand]), query.options));
  }
  const std::size_t output_rank = rank_of(query.node.outputs[0]);
  const bool channels_last = traits.convolution && query.options.channels_last;
  choice.outputs.push_back(channels_last ? Layout::channels_last(output_rank) : Layout::row_major(output_rank));
  // A residual lies as the result does, so that both are read and written in whole vectors.
  const Shape& shape = query.graph.fact(query.node.outputs[0]).shape;
  for (std::size_t operand = 2; operand < query.node.inputs.size(); ++operand) {
    OperandRequirement& requirement = choice.inputs.emplace_back();
    if (query.graph.fact(query.node.inputs[operand]).shape != shape) continue;
    requirement.layout = choice.outputs[0];
    requirement.multiple = vector_elements;
    choice.replaceable.push_back(operand);
  }
  return choice;
}

void emit_contraction(const Node& node, Emission& emission) {
  const ContractionTraits traits = contraction_traits(emission.graph(), node, emission.options());
  const Contraction contraction = make_contraction(node, emission);
  const ContractionVariant& variant = choose_variant(traits, emission.traits(), emission.options());
  const auto emit_parts = [&](const Contraction& whole) {
    for (const Contraction& batch : cut_to_batch_axes(whole, emission)) {
      for (Contraction& part : cut_to_bindings(batch, emission)) variant.emit(part, emission);
    }
  };
  if (!contraction.weights.defined()) return emit_parts(contraction);
  const std::int64_t columns = emission.assumptions().number(contraction.columns);
  const std::int64_t at_once = columns_at_once(contraction, emission);
  for (std::int64_t first = 0; first < columns; first += at_once) {
    emit_parts(some_columns(contraction, first, std::min(at_once, columns - first)));
  }
}

}  // namespace lapilli
