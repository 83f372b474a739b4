#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/dim.h"
#include "lapilli/tensor.h"

namespace lapilli {

/// What is known of a value before the model runs.
struct Fact {
  DType dtype = DType::undefined;
  Shape shape;
  Tensor constant;                           ///< the elements, when they are known numbers; else undefined
  std::optional<std::vector<Dim>> elements;  ///< of an integer value, when they are known expressions of sizes

  static Fact of(DType dtype, Shape shape) { return {dtype, std::move(shape), {}, std::nullopt}; }
  static Fact of_constant(Tensor tensor);
  /// An int64 or int32 value of known expressions; where all are numbers it is a constant.
  static Fact of_elements(DType dtype, Shape shape, std::vector<Dim> elements);

  /// The elements as expressions, from the constant or from `elements`; nothing when they are not known or not
  /// integers.
  [[nodiscard]] std::optional<std::vector<Dim>> integers() const;
  [[nodiscard]] int rank() const noexcept { return static_cast<int>(shape.size()); }
  /// "float32[batch, 3, 224, 224]"
  [[nodiscard]] std::string to_string() const;
};

}  // namespace lapilli
