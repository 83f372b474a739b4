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

// Copies that a file may ask for.
constexpr std::size_t most_pieces = 4096;

// The longest even run of source indices that begins at an output index relative to the first input element.
Piece reflected_run(std::int64_t index, std::int64_t size) {
  const std::int64_t period = 2 * (size - 1), phase = ((index % period) + period) % period;
  if (phase < size - 1) return {0, size - phase, phase, 1};
  const std::int64_t source = period - phase;
  return {0, source + 1, source, -1};
}

Piece wrapped_run(std::int64_t index, std::int64_t size) {
  const std::int64_t phase = ((index % size) + size) % size;
  return {0, size - phase, phase, 1};
}

// Pads that are longer than the axis go back and forth several times.
std::vector<Piece> periodic_pieces(PadMode mode, std::int64_t before, std::int64_t size, std::int64_t after) {
  const std::int64_t total = checked_add(checked_add(before, size), after);
  if (size == 1) return {{0, total, 0, 0}};
  static_cast<void>(checked_multiply<std::int64_t>(size, 4));  // a period and an index in it
  const auto first = checked_subtract<std::int64_t>(0, before);
  std::vector<Piece> pieces;
  std::int64_t start = 0;
  while (start < total) {
    const std::int64_t index = checked_add(first, start);
    Piece piece = mode == PadMode::wrap ? wrapped_run(index, size) : reflected_run(index, size);
    const std::int64_t length = std::min(*piece.size.constant(), total - start);
    piece.target_start = start;
    piece.size = length;
    pieces.push_back(std::move(piece));
    start += length;
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
