// Matrix products and convolutions: which variant runs one, and what layouts it wants.
#include <algorithm>

#include "plan/contraction.h"

namespace lapilli {
namespace {

bool always(const ContractionTraits&, const DeviceTraits&, const PlanOptions&) { return true; }

// Convolutions like their channels innermost; with few of them that is not worth a copy.
OperandRequirement channels_last_if_vectors(const ContractionTraits& traits, std::size_t operand, std::size_t rank,
                                            const PlanOptions& options) {
  if (operand == 1) {
    return {traits.convolution ? std::optional(Layout::row_major(rank)) : std::nullopt, std::nullopt};
  }
  const bool vectors = traits.channels && *traits.channels * traits.group % 4 == 0;
  if (!traits.convolution || !options.channels_last || !vectors) return {};
  return {Layout::channels_last(rank), std::nullopt};
}

// Ordered by preference.
constexpr std::array variants{
    ContractionVariant{"contraction_depthwise", depthwise_contraction_applies, depthwise_contraction_requirement,
                       emit_depthwise_contraction},
    ContractionVariant{"contraction_matrix", matrix_contraction_applies, matrix_contraction_requirement,
                       emit_matrix_contraction},
    ContractionVariant{"contraction", always, channels_last_if_vectors, emit_plain_contraction},
};

const ContractionVariant& choose_variant(const ContractionTraits& traits, const DeviceTraits& device,
                                         const PlanOptions& options) {
  return *std::ranges::find_if(variants, [&](const ContractionVariant& variant) {
    const bool forced = options.contraction.variant.empty() || options.contraction.variant == variant.name;
    return &variant == &variants.back() || (forced && variant.applies(traits, device, options));
  });
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
  return choice;
}

void emit_contraction(const Node& node, Emission& emission) {
  const ContractionTraits traits = contraction_traits(emission.graph(), node, emission.options());
  Contraction contraction = make_contraction(node, emission);
  choose_variant(traits, emission.traits(), emission.options()).emit(contraction, emission);
}

}  // namespace lapilli
