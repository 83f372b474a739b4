#include <algorithm>
#include <array>
#include <format>
#include <string_view>

#include "base/checked.h"
#include "base/failure.h"
#include "ops/movement.h"

namespace lapilli {
namespace {

// A run of output indices along one axis that reads the input at even steps.
struct Piece {
  Dim target_start, size, source_start;
  int source_step;
};

Piece middle_piece(const Dim& before, const Dim& size) { return {before, size, 0, 1}; }

std::vector<Piece> edge_pieces(const Dim& before, const Dim& size, const Dim& after) {
  return {{0, before, 0, 0}, middle_piece(before, size), {before + size, after, size - 1, 0}};
}

// Source index of reflection and wrapping for an output index relative to the first input element.
std::int64_t source_index(PadMode mode, std::int64_t index, std::int64_t size) {
  const std::int64_t period = mode == PadMode::wrap ? size : std::max<std::int64_t>(2 * (size - 1), 1);
  const std::int64_t phase = ((index % period) + period) % period;
  return phase < size ? phase : period - phase;
}

// What a file may ask for: elements to walk along, and copies to make.
constexpr std::int64_t longest_axis = std::int64_t{1} << 26U;
constexpr std::size_t most_pieces = 4096;

// Pads that are longer than the axis go back and forth several times, so the pieces are found by walking.
std::vector<Piece> periodic_pieces(PadMode mode, std::int64_t before, std::int64_t size, std::int64_t after) {
  std::vector<Piece> pieces;
  std::int64_t start = 0;
  const std::int64_t total = checked_add(checked_add(before, size), after);
  if (total > longest_axis) {
    fail(ErrorCode::limit_exceeded, "an axis of {} elements is padded by its own ones to {}; at most {}", size, total,
         longest_axis);
  }
  const auto source = [&](std::int64_t target) { return source_index(mode, target - before, size); };
  while (start < total) {
    std::int64_t end = start + 1;
    const std::int64_t step = end < total ? source(end) - source(start) : 1;
    const bool even = step == 1 || step == -1 || step == 0;
    while (even && end < total && source(end) - source(end - 1) == step) ++end;
    pieces.push_back({start, end - start, source(start), even ? static_cast<int>(step) : 1});
    start = end;
    if (pieces.size() > most_pieces) {
      fail(ErrorCode::limit_exceeded, "an axis of {} elements is repeated more than {} times to pad it", size,
           most_pieces);
    }
  }
  return pieces;
}

}  // namespace

std::string Pad::attributes() const {
  constexpr std::array<std::string_view, 4> modes{"constant", "edge", "reflect", "wrap"};
  return std::format("{}, before {}, after {}", modes[static_cast<std::size_t>(mode_)], shape_text(before_),
                     shape_text(after_));
}

Shape Pad::output_shape(std::span<const Fact> inputs, Assumptions& assumptions) const {
  Shape shape = inputs[0].shape;
  if (inputs.size() > 1 && (inputs[1].dtype != inputs[0].dtype || inputs[1].rank() != 0)) {
    fail(ErrorCode::invalid_model, "{} is padded with {}", inputs[0].to_string(), inputs[1].to_string());
  }
  if (before_.size() != shape.size() || after_.size() != shape.size()) {
    fail(ErrorCode::invalid_model, "{} pads for {}", before_.size() + after_.size(), inputs[0].to_string());
  }
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const bool padded = before_[i] != Dim(0) || after_[i] != Dim(0);
    if (mode_ != PadMode::constant && padded && assumptions.equal(shape[i], 0)) {
      fail(ErrorCode::invalid_model, "axis {} of {} has no element to pad with", i, inputs[0].to_string());
    }
    shape[i] = shape[i] + before_[i] + after_[i];
  }
  return shape;
}

std::vector<Region> Pad::regions(std::span<const Fact> inputs, Assumptions& assumptions) const {
  const Shape& shape = inputs[0].shape;
  std::vector<Region> result{{0, {}, {}, {}}};
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    std::vector<Piece> pieces;
    if (mode_ == PadMode::constant || (before_[axis] == Dim(0) && after_[axis] == Dim(0))) {
      pieces.push_back(middle_piece(before_[axis], shape[axis]));
    } else if (mode_ == PadMode::edge) {
      pieces = edge_pieces(before_[axis], shape[axis], after_[axis]);
    } else {
      pieces = periodic_pieces(mode_, assumptions.number(before_[axis]), assumptions.number(shape[axis]),
                               assumptions.number(after_[axis]));
    }
    std::vector<Region> extended;
    if (result.size() * pieces.size() > most_pieces) {
      fail(ErrorCode::limit_exceeded, "padding by {} takes more than {} copies", attributes(), most_pieces);
    }
    for (const Region& region : result) {
      for (const Piece& piece : pieces) {
        if (piece.size == Dim(0)) continue;
        Region next = region;
        next.loops.push_back({piece.size, static_cast<int>(axis), piece.source_step, static_cast<int>(axis), 1});
        next.source_start.push_back(piece.source_start);
        next.target_start.push_back(piece.target_start);
        extended.push_back(std::move(next));
      }
    }
    result = std::move(extended);
  }
  return result;
}

}  // namespace lapilli
