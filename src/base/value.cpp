#include "lapilli/value.h"

#include <set>
#include <string_view>

#include "base/failure.h"
#include "base/rethrow.h"
#include "base/text.h"

namespace lapilli {
namespace {

std::string_view kind_of(const Value& value) {
  if (value.is_tensor()) return "a tensor";
  if (value.is_sequence()) return "a sequence";
  return value.is_map() ? "a map" : "an optional without content";
}

template <class T>
bool has_twice(std::span<const T> keys) {
  return std::set<T>(keys.begin(), keys.end()).size() != keys.size();
}

}  // namespace

Value Value::sequence(std::vector<Value> elements) try {
  Value value;
  value.content_ = std::make_shared<const std::vector<Value>>(std::move(elements));
  return value;
} catch (...) {
  rethrow_as_error();
}

Value Value::map(Tensor keys, Tensor values) try {
  const bool texts = keys.dtype() == DType::string;
  if ((!texts && keys.dtype() != DType::int64) || keys.shape().size() != 1 || values.shape().empty() ||
      values.shape()[0] != keys.element_count()) {
    fail(ErrorCode::invalid_argument,
         "a map of keys {}{} and values {}{}; int64 or string [n] and [n, ...] are needed", to_string(keys.dtype()),
         shape_text(keys.shape()), to_string(values.dtype()), shape_text(values.shape()));
  }
  keys = keys.aligned();
  if (texts ? has_twice(keys.strings()) : has_twice(keys.elements<std::int64_t>())) {
    fail(ErrorCode::invalid_argument, "a map has a key twice");
  }
  Value value;
  value.content_ = Map{std::move(keys), std::move(values)};
  return value;
} catch (...) {
  rethrow_as_error();
}

const Tensor& Value::tensor() const {
  if (const auto* tensor = std::get_if<Tensor>(&content_)) return *tensor;
  fail(ErrorCode::invalid_argument, "the value is {}, where a tensor is needed", kind_of(*this));
}

const std::vector<Value>& Value::elements() const {
  if (const auto* elements = std::get_if<Elements>(&content_)) return **elements;
  fail(ErrorCode::invalid_argument, "the value is {}, where a sequence is needed", kind_of(*this));
}

const Map& Value::map() const {
  if (const auto* map = std::get_if<Map>(&content_)) return *map;
  fail(ErrorCode::invalid_argument, "the value is {}, where a map is needed", kind_of(*this));
}

}  // namespace lapilli
