// Reductions along axes, and what follows from them.
#include "ops/reduction.h"

#include <algorithm>
#include <array>
#include <format>
#include <numeric>

#include "import/onnx/operators/node_builder.h"

namespace lapilli::onnx {
namespace {

struct Axes {
  std::vector<int> axes;
  bool keep = true;
  bool nothing = false;  // no axes are named, and that means none rather than all
};

// `axes` became an input in `since`.
Axes reduced_axes(NodeBuilder& node, std::int64_t since) {
  const std::size_t rank = node.rank(node.input(0));
  Axes result;
  result.keep = node.integer("keepdims", 1) != 0;
  const auto wanted = node.integers_from("axes", 1, since);
  if (wanted && !wanted->empty()) {
    for (const Dim& axis : *wanted) result.axes.push_back(node.axis(node.assumptions().number(axis), rank));
    std::ranges::sort(result.axes);
    const auto repeated = std::ranges::unique(result.axes);
    result.axes.erase(repeated.begin(), repeated.end());
  } else if (node.integer("noop_with_empty_axes", 0) != 0) {
    result.nothing = true;
  } else {
    result.axes.resize(rank);
    std::iota(result.axes.begin(), result.axes.end(), 0);
  }
  return result;
}

ValueId finish(NodeBuilder& node, ValueId reduced, const Axes& axes) {
  if (axes.keep) return reduced;
  Shape shape;
  for (std::size_t i = 0; i < node.rank(reduced); ++i) {
    if (!std::ranges::contains(axes.axes, static_cast<int>(i))) shape.push_back(node.shape(reduced)[i]);
  }
  return node.reshape(reduced, std::move(shape));
}

enum class After : std::uint8_t { nothing, square_root, logarithm };

// Roots and logarithms of integers are cut off.
template <ReductionFunction function, Preparation preparation = Preparation::none, After after = After::nothing>
void build_reduction(NodeBuilder& node) {
  constexpr bool is_sum =
      function == ReductionFunction::sum && preparation == Preparation::none && after == After::nothing;
  constexpr bool is_real = after != After::nothing || function == ReductionFunction::log_sum_exp;
  const Axes axes = reduced_axes(node, is_sum ? 13 : 18);
  const DType dtype = node.dtype(node.input(0));
  const ValueId x = is_real ? node.as_real(node.input(0)) : node.input(0);
  ValueId result = node.add(std::make_shared<Reduction>(function, preparation, axes.axes), {x});
  if (after == After::square_root) result = node.pointwise(PointwiseFunction::square_root, {result});
  if (after == After::logarithm) result = node.pointwise(PointwiseFunction::logarithm, {result});
  node.set_output(0, finish(node, node.cast(result, dtype), axes));
}

template <ReductionFunction first, ReductionFunction last>
void build_extreme_index(NodeBuilder& node) {
  const ValueId x = node.input(0);
  Axes axes;
  axes.axes = {node.axis(node.integer("axis", 0), node.rank(x))};
  axes.keep = node.integer("keepdims", 1) != 0;
  const ReductionFunction function = node.integer("select_last_index", 0) != 0 ? last : first;
  node.set_output(0, finish(node, node.add(std::make_shared<ExtremeIndex>(function, axes.axes[0]), {x}), axes));
}

using Function = ReductionFunction;

constexpr std::array records{
    OperatorRecord{
        "ArgMax", 1, build_extreme_index<Function::first_largest, Function::last_largest>, {types::numbers}},
    OperatorRecord{
        "ArgMin", 1, build_extreme_index<Function::first_smallest, Function::last_smallest>, {types::numbers}},
    OperatorRecord{
        "ReduceL1", 1, build_reduction<Function::sum, Preparation::absolute>, {types::wide_numbers, types::sizes}},
    OperatorRecord{"ReduceL2",
                   1,
                   build_reduction<Function::sum, Preparation::square, After::square_root>,
                   {types::wide_numbers, types::sizes}},
    OperatorRecord{"ReduceLogSum",
                   1,
                   build_reduction<Function::sum, Preparation::none, After::logarithm>,
                   {types::wide_numbers, types::sizes}},
    OperatorRecord{"ReduceLogSumExp", 1, build_reduction<Function::log_sum_exp>, {types::wide_numbers, types::sizes}},
    OperatorRecord{"ReduceMax",
                   1,
                   build_reduction<Function::maximum>,
                   {types::wide_numbers | types::bytes | types::condition, types::sizes}},
    OperatorRecord{"ReduceMean", 1, build_reduction<Function::mean>, {types::wide_numbers, types::sizes}},
    OperatorRecord{"ReduceMin",
                   1,
                   build_reduction<Function::minimum>,
                   {types::wide_numbers | types::bytes | types::condition, types::sizes}},
    OperatorRecord{"ReduceProd", 1, build_reduction<Function::product>, {types::wide_numbers, types::sizes}},
    OperatorRecord{"ReduceSum", 1, build_reduction<Function::sum>, {types::wide_numbers, types::sizes}},
    OperatorRecord{"ReduceSumSquare",
                   1,
                   build_reduction<Function::sum, Preparation::square>,
                   {types::wide_numbers, types::sizes}},
};

}  // namespace

std::span<const OperatorRecord> reduction_operators() { return records; }

}  // namespace lapilli::onnx
