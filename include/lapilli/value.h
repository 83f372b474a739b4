#pragma once

#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "lapilli/tensor.h"

namespace lapilli {

/// What goes into a model or comes out: a tensor, a sequence of values, or nothing (an optional that is empty).
///
/// A handle: copies share tensors and elements, which do not change. Reading from several threads is safe.
class Value {
 public:
  /// Nothing.
  Value() = default;
  // A tensor is the usual value, so it stands for one as it is.
  Value(Tensor tensor) : content_(std::move(tensor)) {}  // NOLINT(google-explicit-constructor)
  static Value sequence(std::vector<Value> elements);

  [[nodiscard]] bool empty() const noexcept { return std::holds_alternative<std::monostate>(content_); }
  [[nodiscard]] bool is_tensor() const noexcept { return std::holds_alternative<Tensor>(content_); }
  [[nodiscard]] bool is_sequence() const noexcept { return std::holds_alternative<Elements>(content_); }

  /// Throws Error (invalid_argument) when it is something else.
  [[nodiscard]] const Tensor& tensor() const;
  [[nodiscard]] const std::vector<Value>& elements() const;

 private:
  using Elements = std::shared_ptr<const std::vector<Value>>;
  std::variant<std::monostate, Tensor, Elements> content_;
};

}  // namespace lapilli
