#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ir/operator.h"

namespace lapilli {

/// The cell: ONNX's RNN, GRU (the reset gate applied before or after the recurrent product) and LSTM.
enum class RecurrentKind : std::uint8_t {
#define KIND(name, code) name = (code),
#include "ops/recurrent_kinds.def"
#undef KIND
};

enum class RecurrentActivation : std::uint8_t {
#define ACTIVATION(name, code, alpha, beta) name = (code),
#include "ops/recurrent_activations.def"
#undef ACTIVATION
};

std::string_view to_string(RecurrentKind kind) noexcept;
/// Rows of weights for each hidden unit: 1, 3 or 4.
std::int64_t gate_count(RecurrentKind kind) noexcept;
/// Activations of one direction: 1, 2 or 3.
std::size_t activation_count(RecurrentKind kind) noexcept;

struct ActivationCall {
  RecurrentActivation function = RecurrentActivation::tanh;
  float alpha = 0, beta = 0;
};

struct RecurrentAttributes {
  RecurrentKind kind = RecurrentKind::simple;
  /// One a direction: whether it goes from the last step to the first.
  std::vector<bool> backwards{false};
  /// activation_count(kind) for each direction, in ONNX's order f, g, h.
  std::vector<ActivationCall> activations;
  float clip = 0;             ///< what goes into the activations of gates is kept within it; 0 does not clip
  bool input_forget = false;  ///< of long_short_term: the forget gate is 1 - the input gate
};

/// A recurrent layer over all steps, D directions at once. Gates are in ONNX's order; arithmetic is float32 whatever
/// the types. Inputs, of which all but the first two may be left out:
///   0  X * W^T + Wb, [T, B, D * gates * H]
///   1  R, [D, gates * H, H]
///   2  Rb, [D, gates * H]
///   3  lengths of sequences, int32 [B]; within 0 and T
///   4  initial hidden state, [D, B, H]
///   5  initial cell, [D, B, H]
///   6  peepholes, [D, 3 * H]
/// Outputs: Y [T, D, B, H], zero past the end of a sequence; the last hidden state and the last cell, [D, B, H]. A
/// kind without a cell has two.
class Recurrent final : public Operator {
 public:
  explicit Recurrent(RecurrentAttributes attributes) : attributes_(std::move(attributes)) {}

  [[nodiscard]] std::string_view name() const override { return "Recurrent"; }
  [[nodiscard]] std::string attributes() const override;
  [[nodiscard]] std::vector<Fact> infer(std::span<const Fact> inputs, Assumptions& assumptions) const override;
  [[nodiscard]] std::vector<Tensor> evaluate(std::span<const Tensor> inputs) const override;
  [[nodiscard]] std::int64_t largest_fold() const override { return 0; }
  [[nodiscard]] Dim operation_count(std::span<const Fact> inputs, std::span<const Fact> outputs) const override;
  [[nodiscard]] const RecurrentAttributes& recurrent() const noexcept { return attributes_; }

 private:
  RecurrentAttributes attributes_;
};

}  // namespace lapilli
