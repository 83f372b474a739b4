#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "import/onnx/model.h"
#include "ir/dim.h"
#include "lapilli/value.h"

namespace lapilli {

/// A value that a run has come to, and what is known of its shape before any run: numbers stay the same, symbols may
/// differ from run to run.
struct KnownValue {
  Value value;
  Shape shape;  ///< of a tensor

  /// Nothing about the shape is known before.
  static KnownValue of(Value value, const std::string& name);
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
