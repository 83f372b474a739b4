#include "flow/scope.h"

#include <format>

#include "base/failure.h"

namespace lapilli {

namespace {

Shape symbols_of(const std::string& name, std::size_t rank) {
  Shape shape;
  for (std::size_t axis = 0; axis < rank; ++axis) shape.push_back(Dim::symbol(std::format("{}.{}", name, axis)));
  return shape;
}

}  // namespace

KnownValue::KnownValue(Value value, const std::string& name) : value_(std::move(value)) {
  if (value_.is_tensor()) shape_ = symbols_of(name, value_.tensor().shape().size());
}

KnownValue::KnownValue(std::shared_ptr<const DeviceTensor> tensor, const std::string& name)
    : on_device_(std::move(tensor)), shape_(symbols_of(name, on_device_->shape().size())) {}

const Value& KnownValue::value() const {
  if (on_device_ != nullptr && value_.empty()) value_ = on_device_->download();
  return value_;
}

const KnownValue* Scope::find(const std::string& name) const {
  if (const auto found = values_.find(name); found != values_.end()) return &found->second;
  return around_ == nullptr ? nullptr : around_->find(name);
}

Value Scope::get(const std::string& name) const {
  for (const Scope* scope = this; scope != nullptr; scope = scope->around_) {
    if (const auto found = scope->values_.find(name); found != scope->values_.end()) return found->second.value();
    const auto initializer = scope->graph_.initializers.find(name);
    if (initializer != scope->graph_.initializers.end()) return initializer->second;
  }
  fail(ErrorCode::invalid_model, "nothing produces value '{}'", name);
}

}  // namespace lapilli
