#pragma once

#include <cstdint>
#include <vector>

#include "ops/fused.h"

namespace lapilli {

/// C[..., M, N] = A[..., M, K] * B[..., K, N]; the dimensions in front broadcast as in NumPy. Integers wrap.
/// Inputs: A and B, of one dtype and of rank 2 at least, then those of the epilogue.
class MatMul final : public FusedOperator {
 public:
  /// With a flag set, the last two axes of that input are exchanged: A is [..., K, M], B is [..., N, K].
  explicit MatMul(bool transpose_a = false, bool transpose_b = false, PointwiseChain epilogue = {},
                  DType output_dtype = DType::undefined)
      : FusedOperator(std::move(epilogue), output_dtype), transpose_a_(transpose_a), transpose_b_(transpose_b) {}

  [[nodiscard]] std::string_view name() const override { return "MatMul"; }
  [[nodiscard]] std::size_t own_input_count() const override { return 2; }
  [[nodiscard]] std::shared_ptr<const FusedOperator> with_epilogue(PointwiseChain chain,
                                                                   DType output_dtype) const override;
  [[nodiscard]] Dim operation_count(std::span<const Fact> inputs, std::span<const Fact> outputs) const override;
  [[nodiscard]] bool transpose_a() const noexcept { return transpose_a_; }
  [[nodiscard]] bool transpose_b() const noexcept { return transpose_b_; }

 protected:
  [[nodiscard]] std::vector<Fact> infer_own(std::span<const Fact> inputs, Assumptions& assumptions) const override;
  [[nodiscard]] std::vector<Tensor> evaluate_own(std::span<const Tensor> inputs) const override;
  [[nodiscard]] std::string own_attributes() const override;

 private:
  bool transpose_a_, transpose_b_;
};

/// Lists have one entry a spatial axis, or none for the default that is noted.
struct ConvolutionAttributes {
  std::vector<std::int64_t> strides;    ///< 1
  std::vector<std::int64_t> dilations;  ///< 1
  std::vector<Dim> pads_begin;          ///< 0; negative ones crop
  std::vector<Dim> pads_end;            ///< 0
  std::int64_t group = 1;
  bool transposed = false;
  std::vector<Dim> output_padding;  ///< 0; of a transposed one, rows added at the end
  /// The spatial sizes of the output of a transposed one, instead of those that pads_end and output_padding give.
  std::vector<Dim> output_size;
};

/// Y[n, o, p...] = sum over c, k... of X[n, c, p*stride - pad_begin + k*dilation] * W[o, c, k...], with X zero
/// outside, c and o in the same group. The transposed one scatters instead: X[n, c, p] * W[c, o, k] is added to Y[n,
/// o, p*stride - pad_begin + k*dilation].
///
/// Inputs: X [N, C, spatial...] and W [O, C/group, kernel...], transposed W [C, O/group, kernel...], of
/// one dtype, then those of the epilogue, where a bias is [O, 1...]. Integers wrap.
class Convolution final : public FusedOperator {
 public:
  explicit Convolution(ConvolutionAttributes attributes, PointwiseChain epilogue = {},
                       DType output_dtype = DType::undefined)
      : FusedOperator(std::move(epilogue), output_dtype), attributes_(std::move(attributes)) {}

  [[nodiscard]] std::string_view name() const override { return "Convolution"; }
  [[nodiscard]] std::size_t own_input_count() const override { return 2; }
  [[nodiscard]] std::shared_ptr<const FusedOperator> with_epilogue(PointwiseChain chain,
                                                                   DType output_dtype) const override;
  [[nodiscard]] Dim operation_count(std::span<const Fact> inputs, std::span<const Fact> outputs) const override;

  /// The attributes with all lists but output_size filled for `spatial` axes.
  [[nodiscard]] ConvolutionAttributes filled(std::size_t spatial) const;

 protected:
  [[nodiscard]] std::vector<Fact> infer_own(std::span<const Fact> inputs, Assumptions& assumptions) const override;
  [[nodiscard]] std::vector<Tensor> evaluate_own(std::span<const Tensor> inputs) const override;
  [[nodiscard]] std::string own_attributes() const override;

 private:
  void check(std::size_t spatial) const;
  [[nodiscard]] Dim output_extent(std::size_t axis, const Dim& input, const Dim& kernel,
                                  const ConvolutionAttributes& filled, Assumptions& assumptions) const;

  ConvolutionAttributes attributes_;
};

}  // namespace lapilli
