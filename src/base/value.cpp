#include "lapilli/value.h"

#include "base/failure.h"

namespace lapilli {

Value Value::sequence(std::vector<Value> elements) {
  Value value;
  value.content_ = std::make_shared<const std::vector<Value>>(std::move(elements));
  return value;
}

const Tensor& Value::tensor() const {
  if (const auto* tensor = std::get_if<Tensor>(&content_)) return *tensor;
  fail(ErrorCode::invalid_argument, "the value is {}, where a tensor is needed",
       empty() ? "an optional without content" : "a sequence");
}

const std::vector<Value>& Value::elements() const {
  if (const auto* elements = std::get_if<Elements>(&content_)) return **elements;
  fail(ErrorCode::invalid_argument, "the value is {}, where a sequence is needed",
       empty() ? "an optional without content" : "a tensor");
}

}  // namespace lapilli
