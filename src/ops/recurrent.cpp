#include "ops/recurrent.h"

#include <array>
#include <format>

#include "base/failure.h"

namespace lapilli {
namespace {

constexpr std::array kind_names{
#define KIND(name, code) std::string_view(#name),
#include "ops/recurrent_kinds.def"
#undef KIND
};

struct Expected {
  std::string_view what;
  Shape shape;
};

void check(const Expected& expected, const Fact& fact, DType dtype, Assumptions& assumptions) {
  if (fact.dtype == DType::undefined) return;
  bool fits = fact.dtype == dtype && fact.shape.size() == expected.shape.size();
  for (std::size_t i = 0; fits && i < fact.shape.size(); ++i)
    fits = assumptions.equal(fact.shape[i], expected.shape[i]);
  if (fits) return;
  fail(ErrorCode::invalid_model, "{} of a recurrent layer are {}, expected {}", expected.what, fact.to_string(),
       Fact::of(dtype, expected.shape).to_string());
}

}  // namespace

std::string_view to_string(RecurrentKind kind) noexcept { return kind_names[static_cast<std::size_t>(kind)]; }

std::int64_t gate_count(RecurrentKind kind) noexcept {
  return kind == RecurrentKind::simple ? 1 : kind == RecurrentKind::long_short_term ? 4 : 3;
}

std::size_t activation_count(RecurrentKind kind) noexcept {
  return kind == RecurrentKind::simple ? 1 : kind == RecurrentKind::long_short_term ? 3 : 2;
}

std::string Recurrent::attributes() const {
  std::string text(to_string(attributes_.kind));
  for (const bool backwards : attributes_.backwards) text += backwards ? ", backwards" : ", forwards";
  return text;
}

std::vector<Fact> Recurrent::infer(std::span<const Fact> inputs, Assumptions& assumptions) const {
  const Fact &projected = inputs[0], &weights = inputs[1];
  const auto directions = static_cast<std::int64_t>(attributes_.backwards.size());
  const std::int64_t gates = gate_count(attributes_.kind);
  if (!is_floating_point(projected.dtype) || projected.shape.size() != 3 || weights.shape.size() != 3) {
    fail(ErrorCode::invalid_model, "a recurrent layer over {} with weights {}", projected.to_string(),
         weights.to_string());
  }
  if (attributes_.activations.size() != activation_count(attributes_.kind) * attributes_.backwards.size()) {
    fail(ErrorCode::internal, "{} activations of {}", attributes_.activations.size(), attributes());
  }
  const DType dtype = projected.dtype;
  const Dim &steps = projected.shape[0], &batch = projected.shape[1], &hidden = weights.shape[2];
  const Dim rows = hidden * Dim(gates);
  const Shape state{directions, batch, hidden};
  check({"products with the input", {steps, batch, rows * Dim(directions)}}, projected, dtype, assumptions);
  check({"recurrent weights", {directions, rows, hidden}}, weights, dtype, assumptions);
  check({"biases", {directions, rows}}, inputs[2], dtype, assumptions);
  check({"lengths of sequences", {batch}}, inputs[3], DType::int32, assumptions);
  check({"initial hidden states", state}, inputs[4], dtype, assumptions);
  check({"initial cells", state}, inputs[5], dtype, assumptions);
  check({"peepholes", {directions, hidden * Dim(3)}}, inputs[6], dtype, assumptions);
  std::vector<Fact> facts{Fact::of(dtype, {steps, directions, batch, hidden}), Fact::of(dtype, state)};
  if (attributes_.kind == RecurrentKind::long_short_term) facts.push_back(Fact::of(dtype, state));
  return facts;
}

Dim Recurrent::operation_count(std::span<const Fact> inputs, std::span<const Fact> /*outputs*/) const {
  return element_count(inputs[0].shape) * inputs[1].shape[2] * Dim(2);
}

}  // namespace lapilli
