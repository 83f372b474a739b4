#pragma once

#include "ir/operator.h"

namespace lapilli {

struct LinearAttentionAttributes {
  std::int64_t query_heads = 1, key_heads = 1;  ///< the second divides the first; neighbours share a head of keys
  float scale = 1;
};

/// Attention without a softmax, by a state of keys by values that goes from step to step. For each head of keys:
///   S = exp(decay) * S;  S += key * beta * (value - S^T key);  result = scale * query^T S
/// Where beta is left out, S += key * value. Arithmetic is float32 whatever the types.
/// Inputs, of which the last three may be left out:
///   0  queries, [B, T, query_heads * K]
///   1  keys, [B, T, key_heads * K]
///   2  values, [B, T, key_heads * V]
///   3  the state before the first step, [B, key_heads, K, V]
///   4  decay, [B, T, key_heads * K], or [B, T, key_heads] for all keys of a head at once
///   5  beta, [B, T, key_heads], or [B, T, 1] for all heads at once
/// Outputs: [B, T, query_heads * V] of the queries' type, and the state after the last step, [B, key_heads, K, V], of
/// the type of input 3, or of the queries'.
class LinearAttention final : public Operator {
 public:
  explicit LinearAttention(const LinearAttentionAttributes& attributes) : attributes_(attributes) {}

  [[nodiscard]] std::string_view name() const override { return "LinearAttention"; }
  [[nodiscard]] std::string attributes() const override;
  [[nodiscard]] std::vector<Fact> infer(std::span<const Fact> inputs, Assumptions& assumptions) const override;
  [[nodiscard]] std::vector<Tensor> evaluate(std::span<const Tensor> inputs) const override;
  [[nodiscard]] std::int64_t largest_fold() const override { return 0; }
  [[nodiscard]] Dim operation_count(std::span<const Fact> inputs, std::span<const Fact> outputs) const override;
  [[nodiscard]] const LinearAttentionAttributes& linear_attention() const noexcept { return attributes_; }

 private:
  LinearAttentionAttributes attributes_;
};

}  // namespace lapilli
