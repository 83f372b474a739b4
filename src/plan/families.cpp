#include "plan/families.h"

#include <array>
#include <typeinfo>

#include "base/failure.h"
#include "ops/contraction.h"
#include "ops/determinant.h"
#include "ops/gather.h"
#include "ops/grid_sampling.h"
#include "ops/linear_attention.h"
#include "ops/movement.h"
#include "ops/normalization.h"
#include "ops/pair_coupling.h"
#include "ops/pointwise.h"
#include "ops/random.h"
#include "ops/range.h"
#include "ops/recurrent.h"
#include "ops/reduction.h"
#include "ops/region_pooling.h"
#include "ops/sampling.h"
#include "ops/scan.h"
#include "ops/scatter.h"
#include "ops/sort.h"
#include "ops/suppression.h"
#include "ops/tree_ensemble.h"
#include "ops/window.h"
#include "plan/loop_nest.h"

namespace lapilli {
namespace {

// The loops within a row are not cut: with many axes, gaps between elements would leave more of them than kernels
// have.
LayoutChoice follow_inputs_in_rows(const LayoutQuery& query) {
  LayoutChoice choice = follow_inputs(query);
  if (query.inputs[0].rank() > most_loops) choice.inputs.push_back({query.inputs[0], std::nullopt});
  return choice;
}

const auto& family_table() {
  static const std::array table{
      Family{typeid(Pointwise), choose_pointwise_layouts, emit_pointwise},
      Family{typeid(Transpose), choose_movement_layouts, emit_movement},
      Family{typeid(Slice), choose_movement_layouts, emit_movement},
      Family{typeid(Concat), choose_movement_layouts, emit_movement},
      Family{typeid(Expand), choose_movement_layouts, emit_movement},
      Family{typeid(Pad), choose_movement_layouts, emit_movement},
      Family{typeid(MatMul), choose_contraction_layouts, emit_contraction},
      Family{typeid(Convolution), choose_contraction_layouts, emit_contraction},
      Family{typeid(Window), follow_inputs, emit_window},
      Family{typeid(Reduction), follow_inputs_in_rows, emit_reduction},
      Family{typeid(ExtremeIndex), follow_inputs_in_rows, emit_extreme_index},
      Family{typeid(Normalization), follow_inputs_in_rows, emit_normalization},
      Family{typeid(Gather), follow_inputs, emit_gather},
      Family{typeid(GatherElements), follow_inputs, emit_gather},
      Family{typeid(GatherTuples), follow_inputs, emit_gather},
      Family{typeid(Sampling), choose_sampling_layouts, emit_sampling},
      Family{typeid(GridSampling), choose_grid_sampling_layouts, emit_grid_sampling},
      Family{typeid(RegionPooling), choose_region_pooling_layouts, emit_region_pooling},
      Family{typeid(Determinant), require_row_major, emit_determinant},
      Family{typeid(Recurrent), row_major_outputs, emit_recurrent},
      Family{typeid(LinearAttention), row_major_outputs, emit_linear_attention},
      Family{typeid(Scatter), choose_scatter_layouts, emit_scatter},
      Family{typeid(Range), follow_inputs, emit_range},
      Family{typeid(Scan), follow_inputs_in_rows, emit_scan},
      Family{typeid(Sort), follow_inputs_in_rows, emit_sort},
      Family{typeid(Search), follow_inputs, emit_search},
      Family{typeid(Random), follow_inputs, emit_random},
      Family{typeid(Suppression), require_row_major, emit_suppression},
      Family{typeid(PairCoupling), choose_pair_coupling_layouts, emit_pair_coupling},
      Family{typeid(TreeEnsemble), choose_tree_ensemble_layouts, emit_tree_ensemble},
  };
  return table;
}

}  // namespace

const Family& family_of(const Operator& op) {
  const std::type_index type(typeid(op));
  for (const Family& family : family_table()) {
    if (family.operator_type == type) return family;
  }
  fail(ErrorCode::unsupported, "no kernel runs {}", op.name());
}

LayoutChoice follow_inputs(const LayoutQuery& query) {
  LayoutChoice choice;
  for (const ValueId output : query.node.outputs) {
    const Shape& shape = query.graph.fact(output).shape;
    std::optional<Layout> same_shape, same_rank;
    for (std::size_t i = 0; i < query.node.inputs.size(); ++i) {
      const ValueId input = query.node.inputs[i];
      if (input == no_value || query.graph.is_constant(input) || query.inputs[i].rank() != shape.size()) continue;
      // An operand that is broadcast says less about the whole than one that is not.
      if (!same_shape && query.graph.fact(input).shape == shape) same_shape = query.inputs[i];
      if (!same_rank) same_rank = query.inputs[i];
    }
    choice.outputs.push_back(same_shape ? *same_shape : same_rank ? *same_rank : Layout::row_major(shape.size()));
  }
  return choice;
}

LayoutChoice row_major_outputs(const LayoutQuery& query) {
  LayoutChoice choice;
  for (const ValueId output : query.node.outputs)
    choice.outputs.push_back(Layout::row_major(query.graph.fact(output).shape.size()));
  return choice;
}

LayoutChoice require_row_major(const LayoutQuery& query) {
  LayoutChoice choice = row_major_outputs(query);
  choice.dense_outputs = true;
  for (const ValueId input : query.node.inputs) {
    const std::size_t rank = input == no_value ? 0 : query.graph.fact(input).shape.size();
    choice.inputs.push_back({Layout::row_major(rank), std::nullopt});
  }
  return choice;
}

}  // namespace lapilli
