#pragma once

#include <span>
#include <vector>

#include "ops/graph_builder.h"

namespace lapilli {

/// Reverse-mode differentiation: adds nodes for the gradient of the sum of all elements of `y` with respect to each
/// of `xs`, in the shapes and types of these. It is zero where `y` does not depend on one of them, and where a
/// function goes by steps. Each of `xs` counts as a value of its own, whatever it is made of.
///
/// For graphs as importers build them, before rewriting. Throws Error (unsupported) that names the family or the
/// function which has no derivative here.
std::vector<ValueId> differentiate(GraphBuilder& builder, ValueId y, std::span<const ValueId> xs);

/// The gradients of a chain's inputs from that of its result, in the result's shape; no_value where it is zero.
std::vector<ValueId> differentiate_chain(GraphBuilder& builder, const PointwiseChain& chain,
                                         std::span<const ValueId> inputs, ValueId gradient);

/// `gradient` summed along the axes along which a value of this shape was broadcast.
ValueId sum_to_shape(GraphBuilder& builder, ValueId gradient, const Shape& shape);

}  // namespace lapilli
