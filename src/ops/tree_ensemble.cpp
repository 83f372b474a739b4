#include "ops/tree_ensemble.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <format>
#include <optional>
#include <utility>

#include "base/failure.h"
#include "ops/pointwise.h"

namespace lapilli {
namespace {

using enum TreeEnsemble::Input;

bool holds(std::int32_t code, double value, double split) {
  if (std::isnan(value)) return code >= missing_is_true;
  switch (static_cast<TreeMode>(code % missing_is_true)) {
    case TreeMode::less_or_equal: return value <= split;
    case TreeMode::less: return value < split;
    case TreeMode::greater_or_equal: return value >= split;
    case TreeMode::greater: return value > split;
    case TreeMode::equal: return value == split;
    case TreeMode::unequal: return value != split;
  }
  return false;
}

// Trees as they are computed on the host: numbers as double.
class HostTrees {
 public:
  explicit HostTrees(std::span<const Tensor> inputs) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const DType dtype = i == rows_input || i == splits_input || i == weights_input ? DType::float64 : DType::int32;
      tables_.push_back(evaluate_chain({}, inputs.subspan(i, 1), dtype));
    }
  }

  [[nodiscard]] std::span<const std::int32_t> integers(TreeEnsemble::Input input) const {
    return tables_[input].elements<std::int32_t>();
  }
  [[nodiscard]] std::span<const double> reals(TreeEnsemble::Input input) const {
    return tables_[input].elements<double>();
  }

  [[nodiscard]] std::size_t leaf_for(std::int32_t next, std::span<const double> row) const {
    while (next >= 0) {
      const auto place = static_cast<std::size_t>(next);
      const auto node = integers(nodes_input).subspan(4 * place, 4);
      next = holds(node[1], row[static_cast<std::size_t>(node[0])], reals(splits_input)[place]) ? node[2] : node[3];
    }
    return static_cast<std::size_t>(-1 - next);
  }

 private:
  std::vector<Tensor> tables_;
};

}  // namespace

std::string TreeEnsemble::attributes() const {
  return std::format("{} for {} targets", to_string(function_), targets_);
}

std::vector<Fact> TreeEnsemble::infer(std::span<const Fact> inputs, Assumptions& assumptions) const {
  if (inputs.size() != 7) fail(ErrorCode::invalid_model, "{} inputs where TreeEnsemble takes 7", inputs.size());
  const Fact& rows = inputs[rows_input];
  const auto has = [&](TreeEnsemble::Input input, DType dtype, int rank) {
    return inputs[input].dtype == dtype && inputs[input].rank() == rank;
  };
  const bool fits = (rows.dtype == DType::float32 || rows.dtype == DType::float64) && rows.rank() == 2 &&
                    has(nodes_input, DType::int32, 2) && assumptions.equal(inputs[nodes_input].shape[1], 4) &&
                    has(splits_input, rows.dtype, 1) &&
                    assumptions.equal(inputs[splits_input].shape[0], inputs[nodes_input].shape[0]) &&
                    has(roots_input, DType::int32, 1) && has(starts_input, DType::int32, 1) &&
                    has(targets_input, DType::int32, 1) && has(weights_input, rows.dtype, 1) &&
                    assumptions.equal(inputs[weights_input].shape[0], inputs[targets_input].shape[0]);
  if (!fits) fail(ErrorCode::invalid_model, "rows {} and tables of trees that do not fit", rows.to_string());
  return {Fact::of(rows.dtype, {rows.shape[0], Dim(targets_)})};
}

std::vector<Tensor> TreeEnsemble::evaluate(std::span<const Tensor> inputs) const {
  const HostTrees trees(inputs);
  const std::vector<std::int64_t>& shape = inputs[rows_input].shape();
  const auto rows = static_cast<std::size_t>(shape[0]), width = static_cast<std::size_t>(shape[1]);
  const auto targets = static_cast<std::size_t>(targets_);
  Tensor result = Tensor::allocate(DType::float64, {shape[0], targets_});
  for (std::size_t i = 0; i < rows; ++i) {
    std::vector<std::optional<double>> totals(targets);
    for (const std::int32_t root : trees.integers(roots_input)) {
      const std::size_t leaf = trees.leaf_for(root, trees.reals(rows_input).subspan(i * width, width));
      const auto starts = trees.integers(starts_input).subspan(leaf, 2);
      for (auto share = static_cast<std::size_t>(starts[0]); std::cmp_less(share, starts[1]); ++share) {
        const double weight = trees.reals(weights_input)[share];
        std::optional<double>& total = totals[static_cast<std::size_t>(trees.integers(targets_input)[share])];
        if (!total) {
          total = weight;
        } else if (function_ == ReductionFunction::sum) {
          *total += weight;
        } else {
          *total = function_ == ReductionFunction::minimum ? std::min(*total, weight) : std::max(*total, weight);
        }
      }
    }
    for (std::size_t j = 0; j < targets; ++j) {
      result.mutable_elements<double>()[i * targets + j] = totals[j].value_or(0);
    }
  }
  return {evaluate_chain({}, {&result, 1}, inputs[rows_input].dtype())};
}

Dim TreeEnsemble::operation_count(std::span<const Fact> inputs, std::span<const Fact> outputs) const {
  return element_count(outputs[0].shape) * inputs[roots_input].shape[0];
}

}  // namespace lapilli
