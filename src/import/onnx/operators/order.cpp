// Running sums and orders.
#include <array>
#include <format>

#include "import/onnx/operators/node_builder.h"
#include "ops/gather.h"
#include "ops/scan.h"
#include "ops/sort.h"

namespace lapilli::onnx {
namespace {

template <ReductionFunction function>
void build_scan(NodeBuilder& node) {
  const ValueId x = node.input(0);
  const std::vector<Dim> axes = node.integers(1);
  if (axes.size() != 1) node.fail_model(std::format("{} axes where one is needed", axes.size()));
  const int axis = node.axis(node.assumptions().number(axes[0]), node.rank(x));
  const bool exclusive = node.integer("exclusive", 0) != 0, reverse = node.integer("reverse", 0) != 0;
  node.set_output(0, node.add(std::make_shared<Scan>(function, axis, exclusive, reverse), {x}));
}

// Results are sorted whether that is asked for or not.
void build_top_k(NodeBuilder& node) {
  const ValueId x = node.input(0);
  const int axis = node.axis(node.integer("axis", -1), node.rank(x));
  const std::vector<Dim> wanted = node.opset() >= 10 ? node.integers(1) : std::vector{Dim(node.integer("k", 0))};
  if (wanted.size() != 1) node.fail_model(std::format("{} values of k where one is needed", wanted.size()));
  const bool largest = node.integer("largest", 1) != 0;
  const ValueId places = node.add(std::make_shared<Sort>(SortKey::element, axis, largest, wanted[0]), {x});
  node.set_output(0, node.add(std::make_shared<GatherElements>(axis), {x, places}));
  if (node.wants_output(1)) node.set_output(1, node.cast(places, DType::int64));
}

constexpr std::array records{
    OperatorRecord{"CumProd", 26, build_scan<ReductionFunction::product>, {types::wide_numbers, types::indices}},
    OperatorRecord{"CumSum", 11, build_scan<ReductionFunction::sum>, {types::wide_numbers, types::indices}},
    OperatorRecord{"TopK", 1, build_top_k, {types::numbers, types::sizes}},
};

}  // namespace

std::span<const OperatorRecord> order_operators() { return records; }

}  // namespace lapilli::onnx
