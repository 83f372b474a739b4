#pragma once

#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "lapilli/tensor.h"

namespace lapilli {

/// Keys and what belongs to each: entry i of `values`, along its first axis, is that of key i.
struct Map {
  Tensor keys;    ///< int64 or strings, one dimension; no key is there twice
  Tensor values;  ///< [keys, ...]
};

/// What goes into a model or comes out: a tensor, a sequence of values, a map, or nothing (an optional that is
/// empty).
///
/// A handle: copies share tensors and elements, which do not change. Reading from several threads is safe.
class Value {
 public:
  /// Nothing.
  Value() = default;
  // A tensor is the usual value, so it stands for one as it is.
  Value(Tensor tensor) : content_(std::move(tensor)) {}  // NOLINT(google-explicit-constructor)
  static Value sequence(std::vector<Value> elements);
  /// Throws Error (invalid_argument) where keys are of another type or shape, or there twice, or values do not fit.
  static Value map(Tensor keys, Tensor values);

  [[nodiscard]] bool empty() const noexcept { return std::holds_alternative<std::monostate>(content_); }
  [[nodiscard]] bool is_tensor() const noexcept { return std::holds_alternative<Tensor>(content_); }
  [[nodiscard]] bool is_sequence() const noexcept { return std::holds_alternative<Elements>(content_); }

  [[nodiscard]] bool is_map() const noexcept { return std::holds_alternative<Map>(content_); }

  /// Throws Error (invalid_argument) when it is something else.
  [[nodiscard]] const Tensor& tensor() const;
  [[nodiscard]] const std::vector<Value>& elements() const;
  [[nodiscard]] const Map& map() const;

 private:
  using Elements = std::shared_ptr<const std::vector<Value>>;
  std::variant<std::monostate, Tensor, Elements, Map> content_;
};

}  // namespace lapilli
