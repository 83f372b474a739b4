#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/small_float.h"
#include "ir/graph.h"
#include "ops/pointwise.h"

namespace lapilli {

/// Adds nodes of the families to a graph, all with the same origins.
class GraphBuilder {
 public:
  GraphBuilder(Graph& graph, Assumptions& assumptions, std::vector<std::string> origins)
      : graph_(graph), assumptions_(assumptions), origins_(std::move(origins)) {}

  [[nodiscard]] Graph& graph() const noexcept { return graph_; }
  [[nodiscard]] Assumptions& assumptions() const noexcept { return assumptions_; }
  [[nodiscard]] const Fact& fact(ValueId value) const { return graph_.fact(value); }
  [[nodiscard]] const Shape& shape(ValueId value) const { return graph_.fact(value).shape; }
  [[nodiscard]] DType dtype(ValueId value) const { return graph_.fact(value).dtype; }
  [[nodiscard]] std::size_t rank(ValueId value) const { return shape(value).size(); }

  ValueId add(OperatorPointer op, std::vector<ValueId> inputs);
  std::vector<ValueId> add_all(OperatorPointer op, std::vector<ValueId> inputs);
  ValueId constant(Tensor tensor);
  /// An int64 vector of sizes.
  ValueId sizes(std::vector<Dim> elements);
  /// A constant of shape [] and of a type of numbers.
  ValueId scalar(DType dtype, double value);
  /// The int32 numbers 0, 1, ... along `axis` of a value of this rank, whose other axes are 1.
  ValueId positions(const Dim& count, std::size_t axis = 0, std::size_t rank = 1);
  ValueId pointwise(PointwiseFunction function, std::vector<ValueId> inputs, std::vector<Immediate> immediates = {});
  ValueId reshape(ValueId value, Shape shape);
  /// Rounds to nearest; `overflow` matters for floating-point types of 8 bits and fewer.
  ValueId cast(ValueId value, DType dtype, Overflow overflow = Overflow::saturate);
  /// The value as a type that has fractions: itself, or float32 for integers of up to 16 bits and float64 for others.
  ValueId as_real(ValueId value);
  /// Per-channel values of shape [C] as [C, 1, ...], which broadcasts against [N, C, ...] of this rank.
  ValueId per_channel(ValueId value, std::size_t rank);
  /// Inserts axes of size 1 at these positions of the result.
  ValueId unsqueeze(ValueId value, std::span<const int> axes);

 private:
  Graph& graph_;
  Assumptions& assumptions_;
  std::vector<std::string> origins_;
};

}  // namespace lapilli
