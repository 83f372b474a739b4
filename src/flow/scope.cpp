#include "flow/scope.h"

#include <format>

#include "base/failure.h"

namespace lapilli {

KnownValue KnownValue::of(Value value, const std::string& name) {
  Shape shape;
  if (value.is_tensor()) {
    for (std::size_t axis = 0; axis < value.tensor().shape().size(); ++axis) {
      shape.push_back(Dim::symbol(std::format("{}.{}", name, axis)));
    }
  }
  return {std::move(value), std::move(shape)};
}

const KnownValue* Scope::find(const std::string& name) const {
  if (const auto found = values_.find(name); found != values_.end()) return &found->second;
  return around_ == nullptr ? nullptr : around_->find(name);
}

Value Scope::get(const std::string& name) const {
  for (const Scope* scope = this; scope != nullptr; scope = scope->around_) {
    if (const auto found = scope->values_.find(name); found != scope->values_.end()) return found->second.value;
    const auto initializer = scope->graph_.initializers.find(name);
    if (initializer != scope->graph_.initializers.end()) return initializer->second;
  }
  fail(ErrorCode::invalid_model, "nothing produces value '{}'", name);
}

}  // namespace lapilli
