#pragma once

#include <optional>
#include <vector>

#include "import/onnx/operators/node_builder.h"

namespace lapilli::onnx {

/// A chain that is built step by step. It becomes one node, so that what lies between its steps is not rounded to
/// float16 when intermediate results are.
class StepBuilder {
 public:
  /// Inputs are what steps call 0, 1, ...
  StepBuilder(NodeBuilder& node, std::vector<ValueId> inputs);

  /// A float32 number; only before the first step.
  std::uint8_t number(double value);
  /// In the type of the first argument. For functions whose result has that type.
  std::uint8_t add(PointwiseFunction function, std::uint8_t first, std::uint8_t second = 0, std::uint8_t third = 0);
  std::uint8_t cast(std::uint8_t value, DType to, Overflow overflow = Overflow::saturate);
  /// The node, with the result of the last step.
  ValueId finish();

 private:
  NodeBuilder& node_;
  std::vector<ValueId> inputs_;
  std::vector<DType> dtypes_;  // of inputs, numbers and results of steps
  PointwiseChain chain_;
};

/// The numbers of a quantized type: for an integer type, of 16 bits at most, what values are clamped to.
class QuantizedRange {
 public:
  /// Before the first of `steps`, which have to outlive it.
  QuantizedRange(StepBuilder& steps, DType target);

  /// round(value) + zero point, saturated, as the integer type. Ties go to the even number.
  void quantize(std::uint8_t value, std::optional<std::uint8_t> zero_point) const;

 private:
  StepBuilder& steps_;
  DType target_;
  std::uint8_t low_ = 0, high_ = 0;
};

}  // namespace lapilli::onnx
