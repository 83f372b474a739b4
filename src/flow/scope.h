#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "import/onnx/model.h"
#include "ir/dim.h"
#include "lapilli/value.h"
#include "run/device_tensor.h"

namespace lapilli {

/// A value that a run has come to, and what is known of its shape before any run: numbers stay the same, symbols may
/// differ from run to run.
class KnownValue {
 public:
  /// Nothing about the shape is known before; symbols are made of the name.
  KnownValue(Value value, const std::string& name);
  /// A tensor that has not left the device.
  KnownValue(std::shared_ptr<const DeviceTensor> tensor, const std::string& name);

  [[nodiscard]] bool is_tensor() const noexcept { return on_device_ != nullptr || value_.is_tensor(); }
  [[nodiscard]] DType dtype() const { return on_device_ ? on_device_->dtype() : value_.tensor().dtype(); }
  [[nodiscard]] const std::vector<std::int64_t>& sizes() const {
    return on_device_ ? on_device_->shape() : value_.tensor().shape();
  }
  /// The shape of a tensor as it is known before.
  [[nodiscard]] const Shape& shape() const noexcept { return shape_; }
  void set_size(std::size_t axis, std::int64_t size) { shape_[axis] = size; }

  /// The value for the host: it comes from the device when it is asked for, once.
  [[nodiscard]] const Value& value() const;
  [[nodiscard]] const DeviceTensor* on_device() const noexcept { return on_device_.get(); }

 private:
  std::shared_ptr<const DeviceTensor> on_device_;
  mutable Value value_;
  Shape shape_;
};

/// The values of a graph of the model while it runs; those of the graphs around it are found too.
class Scope {
 public:
  Scope(const onnx::Graph& graph, const Scope* around) : graph_(graph), around_(around) {}

  [[nodiscard]] const onnx::Graph& graph() const noexcept { return graph_; }
  [[nodiscard]] const Scope* around() const noexcept { return around_; }

  void set(const std::string& name, KnownValue value) { values_.insert_or_assign(name, std::move(value)); }
  /// Nothing when the name is not known, or is an initializer.
  [[nodiscard]] const KnownValue* find(const std::string& name) const;
  /// The value of a name, initializers included. Throws Error (invalid_model) when nothing produces it.
  [[nodiscard]] Value get(const std::string& name) const;

 private:
  const onnx::Graph& graph_;
  const Scope* around_;
  std::map<std::string, KnownValue, std::less<>> values_;
};

}  // namespace lapilli
