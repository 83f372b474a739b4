// Contractions whose operands are larger than can be bound at once, in parts.
#include <algorithm>
#include <cstdlib>

#include "base/checked.h"
#include "base/packed.h"
#include "plan/contraction.h"
#include "plan/windows.h"

namespace lapilli {
namespace {

class ContractionCutter {
 public:
  ContractionCutter(const Contraction& whole, Emission& emission)
      : whole_(whole), assumptions_(emission.assumptions()) {
    const auto append = [&](std::span<const Dim> sizes) {
      const std::vector<std::int64_t> values = numbers(sizes, assumptions_);
      sizes_.insert(sizes_.end(), values.begin(), values.end());
    };
    append(whole.batch_sizes);
    append(whole.row_sizes);
    append({&whole.columns, 1});
    add(whole.output, whole.output.column, emission);
    for (const ContractionOperand& operand : whole.epilogue) add(operand, operand.column, emission);
    add_a(emission);
    if (!whole.weights.defined()) add_b(emission);
  }

  [[nodiscard]] std::vector<Contraction> cut(const BindingLimits& limits) const {
    std::vector<Contraction> parts;
    if (std::ranges::contains(sizes_, 0)) return {whole_};
    for (const LoopPart& part : cut_loops(sizes_, fixed_loops(), operands_, limits)) {
      parts.push_back(make_part(part, limits));
    }
    return parts;
  }

 private:
  [[nodiscard]] std::size_t batches() const { return whole_.batch_sizes.size(); }
  [[nodiscard]] std::size_t rows() const { return whole_.row_sizes.size(); }
  [[nodiscard]] bool transposed() const { return whole_.window.rank() != 0 && whole_.window.transposed; }

  // Groups of constant weights are packed together, and what a transposed window reads is no simple function of where
  // it is.
  [[nodiscard]] std::vector<bool> fixed_loops() const {
    std::vector<bool> fixed(sizes_.size(), false);
    if (whole_.weights.defined()) std::fill_n(fixed.begin(), batches(), true);
    if (transposed()) std::fill_n(fixed.begin() + static_cast<std::ptrdiff_t>(batches()) + 1, rows() - 1, true);
    return fixed;
  }

  CutOperand& add(const ContractionOperand& operand, const Dim& column, Emission& emission) {
    CutOperand& cut = operands_.emplace_back();
    cut.offset = assumptions_.number(operand.offset);
    cut.strides = numbers(operand.batch, assumptions_);
    const std::vector<std::int64_t> along = numbers(operand.rows, assumptions_);
    cut.strides.insert(cut.strides.end(), along.begin(), along.end());
    cut.strides.resize(batches() + rows(), 0);
    cut.strides.push_back(assumptions_.number(column));
    cut.width = static_cast<std::int64_t>(device_element_bytes(operand.dtype));
    cut.storage = assumptions_.number(emission.storage_bytes(operand.storage));
    return cut;
  }

  void add_a(Emission& emission) {
    CutOperand& cut = add(whole_.a, 0, emission);
    cut.reach(assumptions_.number(whole_.a.channel), assumptions_.number(whole_.channels) - 1);
    const ContractionWindow& window = whole_.window;
    for (std::size_t axis = 0; axis < window.rank(); ++axis) {
      std::int64_t& stride = cut.strides[batches() + 1 + axis];
      if (window.transposed) {
        cut.reach(stride, assumptions_.number(window.input[axis]) - 1);
        stride = 0;
        continue;
      }
      cut.offset -= checked_multiply(stride, assumptions_.number(window.pads[axis]));
      cut.reach(stride, checked_multiply(window.kernel[axis] - 1, window.dilations[axis]));
      stride = checked_multiply(stride, window.strides[axis]);
    }
  }

  void add_b(Emission& emission) {
    CutOperand& cut = add(whole_.b, whole_.b.column, emission);
    cut.reach(assumptions_.number(whole_.b.channel), assumptions_.number(whole_.channels) - 1);
    cut.reach(assumptions_.number(whole_.b.tap), whole_.window.taps() - 1);
  }

  [[nodiscard]] Contraction make_part(const LoopPart& part, const BindingLimits& limits) const {
    Contraction result = whole_;
    const std::size_t column = sizes_.size() - 1;
    for (std::size_t i = 0; i < batches(); ++i) result.batch_sizes[i] = part.sizes[i];
    for (std::size_t i = 0; i < rows(); ++i) result.row_sizes[i] = part.sizes[batches() + i];
    result.columns = part.sizes[column];
    std::size_t next = 0;
    const auto move = [&](ContractionOperand& operand) {
      const CutOperand& cut = operands_[next++];
      for (std::size_t i = 0; i < part.starts.size(); ++i) {
        const bool by_window = &operand == &result.a && i > batches() && i < column && whole_.window.rank() != 0;
        if (!by_window) operand.offset = operand.offset + Dim(checked_multiply(cut.strides[i], part.starts[i]));
      }
      operand.window = window_of(cut, part, limits);
      operand.offset = operand.offset - Dim(operand.window->begin / cut.width);
    };
    move(result.output);
    std::ranges::for_each(result.epilogue, move);
    move(result.a);
    if (!result.weights.defined()) {
      move(result.b);
    } else {
      result.b.offset = result.b.offset + Dim(part.starts[column]) * result.b.column;
    }
    // Windows begin later: the padding in front becomes less, and may become negative.
    for (std::size_t axis = 0; axis < result.window.rank(); ++axis) {
      const std::int64_t start = part.starts[batches() + 1 + axis];
      result.window.pads[axis] = result.window.pads[axis] - Dim(checked_multiply(start, result.window.strides[axis]));
    }
    return result;
  }

  const Contraction& whole_;
  Assumptions& assumptions_;
  std::vector<std::int64_t> sizes_;  // batch axes, row axes, columns
  std::vector<CutOperand> operands_;
};

}  // namespace

std::vector<Contraction> cut_to_batch_axes(const Contraction& contraction, Emission& emission) {
  std::vector<Contraction> parts{contraction};
  const auto without = [](Contraction whole, std::size_t axis, std::int64_t step) {
    const auto at = static_cast<std::ptrdiff_t>(axis);
    const auto drop = [&](ContractionOperand& operand) {
      operand.offset = operand.offset + operand.batch[axis] * Dim(step);
      operand.batch.erase(operand.batch.begin() + at);
    };
    whole.batch_sizes.erase(whole.batch_sizes.begin() + at);
    for (ContractionOperand* operand : {&whole.a, &whole.b, &whole.output}) drop(*operand);
    std::ranges::for_each(whole.epilogue, drop);
    return whole;
  };
  while (!parts.empty() && parts.front().batch_sizes.size() > most_batch_axes) {
    const auto [axis, steps] = loop_to_unroll(parts.front().batch_sizes, most_batch_axes, parts.size(), emission);
    std::vector<Contraction> cut;
    for (const Contraction& part : parts) {
      for (std::int64_t step = 0; step < steps; ++step) cut.push_back(without(part, axis, step));
    }
    parts = std::move(cut);
  }
  return parts;
}

std::vector<Contraction> cut_to_bindings(const Contraction& contraction, Emission& emission) {
  std::vector<StorageId> storages{contraction.output.storage, contraction.a.storage};
  if (!contraction.weights.defined()) storages.push_back(contraction.b.storage);
  for (const ContractionOperand& operand : contraction.epilogue) storages.push_back(operand.storage);
  if (!exceeds_bindings(storages, emission)) return {contraction};
  return ContractionCutter(contraction, emission).cut(binding_limits(emission.traits()));
}

}  // namespace lapilli
