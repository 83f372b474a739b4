#pragma once

#include <optional>
#include <span>
#include <typeindex>
#include <vector>

#include "ir/graph.h"
#include "plan/emission.h"

namespace lapilli {

/// How an input has to lie in memory for a kernel; what is not set does not matter. Where an input lies in a larger
/// tensor, there are gaps between its rows.
struct OperandRequirement {
  std::optional<Layout> layout;
  std::optional<DType> dtype;
  std::int64_t multiple = 0;  ///< with gaps, what offset and strides are multiples of, but the innermost, which is 1;
                              ///< where it is 0, an input with a layout has no gaps, and any other has what it has
};

/// What a family wants for one node. Inputs that lie otherwise are copied first.
struct LayoutChoice {
  std::vector<OperandRequirement> inputs;  ///< may be shorter than the node's inputs
  std::vector<Layout> outputs;             ///< one an output
  bool dense_outputs = false;              ///< kernels write outputs without gaps, from the start of their storage on
  /// Inputs whose elements are read by nobody but the invocation that writes the element at the same index of output
  /// 0, and before it does: the output may take their memory.
  std::vector<std::size_t> replaceable = {};
};

/// The layouts that the inputs of a node have now; row-major for constants, whose layout a kernel chooses freely.
struct LayoutQuery {
  const Graph& graph;
  const Node& node;
  const PlanOptions& options;
  const DeviceTraits& traits;
  std::span<const Layout> inputs;
};

/// A family of kernels: how its operator becomes dispatches.
struct Family {
  std::type_index operator_type;
  LayoutChoice (*choose_layouts)(const LayoutQuery&);
  void (*emit)(const Node&, Emission&);
};

/// The family that runs an operator. Throws Error (unsupported) when there is none.
const Family& family_of(const Operator& op);

/// Inputs as they come; every output in the layout of the largest input of its rank, else row-major.
LayoutChoice follow_inputs(const LayoutQuery& query);
/// Inputs as they come, outputs row-major.
LayoutChoice row_major_outputs(const LayoutQuery& query);
/// Everything row-major, and outputs without gaps.
LayoutChoice require_row_major(const LayoutQuery& query);

// The parts of the table, one file each.
void emit_pointwise(const Node& node, Emission& emission);
LayoutChoice choose_pointwise_layouts(const LayoutQuery& query);
void emit_movement(const Node& node, Emission& emission);
LayoutChoice choose_movement_layouts(const LayoutQuery& query);
void emit_contraction(const Node& node, Emission& emission);
LayoutChoice choose_contraction_layouts(const LayoutQuery& query);
void emit_gather(const Node& node, Emission& emission);
void emit_scatter(const Node& node, Emission& emission);
LayoutChoice choose_scatter_layouts(const LayoutQuery& query);
void emit_normalization(const Node& node, Emission& emission);
void emit_window(const Node& node, Emission& emission);
void emit_sampling(const Node& node, Emission& emission);
LayoutChoice choose_sampling_layouts(const LayoutQuery& query);
void emit_grid_sampling(const Node& node, Emission& emission);
LayoutChoice choose_grid_sampling_layouts(const LayoutQuery& query);
void emit_region_pooling(const Node& node, Emission& emission);
LayoutChoice choose_region_pooling_layouts(const LayoutQuery& query);
void emit_determinant(const Node& node, Emission& emission);
void emit_recurrent(const Node& node, Emission& emission);
void emit_linear_attention(const Node& node, Emission& emission);
void emit_reduction(const Node& node, Emission& emission);
void emit_scan(const Node& node, Emission& emission);
void emit_sort(const Node& node, Emission& emission);
void emit_search(const Node& node, Emission& emission);
void emit_random(const Node& node, Emission& emission);
void emit_suppression(const Node& node, Emission& emission);
void emit_range(const Node& node, Emission& emission);
void emit_pair_coupling(const Node& node, Emission& emission);
LayoutChoice choose_pair_coupling_layouts(const LayoutQuery& query);
void emit_tree_ensemble(const Node& node, Emission& emission);
LayoutChoice choose_tree_ensemble_layouts(const LayoutQuery& query);
void emit_extreme_index(const Node& node, Emission& emission);

/// A strided copy between two placements of the same shape, converting the type.
void emit_copy(const Placement& source, const Placement& target, std::span<const Dim> shape, Emission& emission);

/// Writes `fill`, or zero where it is undefined, to every element of a value. Returns the numbers of its
/// dispatches.
std::vector<std::uint32_t> emit_fill(const Placement& target, std::span<const Dim> shape, const Tensor& fill,
                                     Emission& emission);

}  // namespace lapilli
