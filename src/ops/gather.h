#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ops/fused.h"

namespace lapilli {

/// How the output of a gather comes about: each output axis moves along an axis of the data, of the indices or of
/// both, and indices choose the place along further axes of the data.
struct GatherMap {
  std::vector<int> data_axis;   ///< of each output axis; -1: it does not move the data
  std::vector<int> index_axis;  ///< of each output axis; -1: it does not move the indices
  std::vector<int> chosen;      ///< axes of the data along which indices choose the place
  int tuple_axis = -1;          ///< the axis of the indices with one index for each of `chosen`; -1: there is one
};

/// Elements of the data (input 0) whose places the indices (input 1, int32 or int64) say. A negative index counts
/// from the end. The host refuses indices out of range; the device takes the nearest element instead, as it cannot
/// stop.
class GatherOperator : public FusedOperator {
 public:
  [[nodiscard]] std::size_t own_input_count() const final { return 2; }
  [[nodiscard]] Dim operation_count(std::span<const Fact>, std::span<const Fact>) const final { return 0; }
  /// For inputs that infer accepts.
  [[nodiscard]] virtual GatherMap map(std::span<const Fact> inputs) const = 0;

 protected:
  using FusedOperator::FusedOperator;
  [[nodiscard]] std::vector<Fact> infer_own(std::span<const Fact> inputs, Assumptions& assumptions) const final;
  [[nodiscard]] std::vector<Tensor> evaluate_own(std::span<const Tensor> inputs) const final;
  /// Throws Error (invalid_model) where the inputs do not fit.
  virtual void check(std::span<const Fact> inputs, Assumptions& assumptions) const = 0;
};

/// Whole slices: the indices take the place of one axis of the data.
class Gather final : public GatherOperator {
 public:
  explicit Gather(int axis, PointwiseChain epilogue = {}, DType output_dtype = DType::undefined)
      : GatherOperator(std::move(epilogue), output_dtype), axis_(axis) {}
  [[nodiscard]] std::string_view name() const override { return "Gather"; }
  [[nodiscard]] GatherMap map(std::span<const Fact> inputs) const override;
  [[nodiscard]] std::shared_ptr<const FusedOperator> with_epilogue(PointwiseChain chain,
                                                                   DType output_dtype) const override;

 protected:
  void check(std::span<const Fact> inputs, Assumptions& assumptions) const override;
  [[nodiscard]] std::string own_attributes() const override { return "axis " + std::to_string(axis_); }

 private:
  int axis_;
};

/// Single elements: the output has the shape of the indices, which say the place along one axis.
class GatherElements final : public GatherOperator {
 public:
  explicit GatherElements(int axis, PointwiseChain epilogue = {}, DType output_dtype = DType::undefined)
      : GatherOperator(std::move(epilogue), output_dtype), axis_(axis) {}
  [[nodiscard]] std::string_view name() const override { return "GatherElements"; }
  [[nodiscard]] GatherMap map(std::span<const Fact> inputs) const override;
  [[nodiscard]] std::shared_ptr<const FusedOperator> with_epilogue(PointwiseChain chain,
                                                                   DType output_dtype) const override;

 protected:
  void check(std::span<const Fact> inputs, Assumptions& assumptions) const override;
  [[nodiscard]] std::string own_attributes() const override { return "axis " + std::to_string(axis_); }

 private:
  int axis_;
};

/// Slices by tuples: the last axis of the indices says a place along as many axes of the data, which follow the first
/// `batch_axes`, those that data and indices share.
class GatherTuples final : public GatherOperator {
 public:
  explicit GatherTuples(int batch_axes, PointwiseChain epilogue = {}, DType output_dtype = DType::undefined)
      : GatherOperator(std::move(epilogue), output_dtype), batch_axes_(batch_axes) {}
  [[nodiscard]] std::string_view name() const override { return "GatherTuples"; }
  [[nodiscard]] GatherMap map(std::span<const Fact> inputs) const override;
  [[nodiscard]] std::shared_ptr<const FusedOperator> with_epilogue(PointwiseChain chain,
                                                                   DType output_dtype) const override;

 protected:
  void check(std::span<const Fact> inputs, Assumptions& assumptions) const override;
  [[nodiscard]] std::string own_attributes() const override { return std::to_string(batch_axes_) + " batch axes"; }

 private:
  int batch_axes_;
};

}  // namespace lapilli
