#pragma once

#include <cstdint>
#include <vector>

#include "ops/fused.h"

namespace lapilli {

/// What happens to each row x:
///   softmax           exp(x) / sum(exp(x)); a row of only -infinity is not a number
///   log_softmax       its logarithm
///   standard_score    (x - mean(x)) / sqrt(variance(x) + epsilon), with the variance of the whole row
///   root_mean_square  x / sqrt(mean(x * x) + epsilon)
enum class NormalizationKind : std::uint8_t {
#define KIND(name, code) name = (code),
#include "ops/normalization_kinds.def"
#undef KIND
};

std::string_view to_string(NormalizationKind kind) noexcept;

struct NormalizationAttributes {
  NormalizationKind kind = NormalizationKind::softmax;
  std::vector<int> axes;  ///< a row goes along them; in rising order
  double epsilon = 0;
  /// More than 1: axis 1, which is one of `axes`, is cut into as many groups, each with rows of its own.
  std::int64_t channel_groups = 1;
  /// Of a standard_score: two more outputs, the mean and 1 / sqrt(variance + epsilon), float32, with `axes` at
  /// size 1.
  bool statistics = false;
};

/// Rows of elements brought to a common scale. Arithmetic is float32 whatever the type of the input. Scale and bias
/// are the epilogue: see scale_and_shift.
class Normalization final : public FusedOperator {
 public:
  explicit Normalization(NormalizationAttributes attributes, PointwiseChain epilogue = {},
                         DType output_dtype = DType::undefined)
      : FusedOperator(std::move(epilogue), output_dtype), attributes_(std::move(attributes)) {}

  [[nodiscard]] std::string_view name() const override { return "Normalization"; }
  [[nodiscard]] std::size_t own_input_count() const override { return 1; }
  [[nodiscard]] bool takes_epilogue() const override { return !attributes_.statistics; }
  [[nodiscard]] std::shared_ptr<const FusedOperator> with_epilogue(PointwiseChain chain,
                                                                   DType output_dtype) const override;
  [[nodiscard]] Dim operation_count(std::span<const Fact> inputs, std::span<const Fact> outputs) const override;
  [[nodiscard]] const NormalizationAttributes& normalization() const noexcept { return attributes_; }

 protected:
  [[nodiscard]] std::vector<Fact> infer_own(std::span<const Fact> inputs, Assumptions& assumptions) const override;
  [[nodiscard]] std::vector<Tensor> evaluate_own(std::span<const Tensor> inputs) const override;
  [[nodiscard]] std::string own_attributes() const override;

 private:
  NormalizationAttributes attributes_;
};

/// The chain x * scale + bias, with scale as input 1 and bias, if there is one, as input 2. Both broadcast to x.
PointwiseChain scale_and_shift(DType dtype, bool has_bias);

}  // namespace lapilli
