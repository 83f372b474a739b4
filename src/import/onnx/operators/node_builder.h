#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "import/onnx/model.h"
#include "import/onnx/operators/types.h"
#include "lapilli/error.h"
#include "ops/graph_builder.h"

namespace lapilli::onnx {

/// Thrown where a node cannot be built until the elements of a value are known.
struct UnknownElements {
  std::string name;
};

/// What the build function of an operator works with: the node as the file has it on one side, the graph that grows
/// on the other. Errors name the node.
class NodeBuilder : public GraphBuilder {
 public:
  using Bindings = std::vector<std::pair<std::string, ValueId>>;
  using Rebuild = std::function<ValueId(const std::string& name, const Bindings& bindings)>;

  NodeBuilder(const Node& node, lapilli::Graph& graph, Assumptions& assumptions, std::vector<ValueId> inputs,
              Rebuild rebuild = {});

  [[nodiscard]] std::int64_t opset() const noexcept { return node_.opset_version; }

  // Inputs.
  [[nodiscard]] std::size_t input_count() const noexcept { return inputs_.size(); }
  [[nodiscard]] bool has_input(std::size_t index) const {
    return index < inputs_.size() && inputs_[index] != no_value;
  }
  /// Throws Error (invalid_model) where the input is left out.
  [[nodiscard]] ValueId input(std::size_t index) const;
  /// The elements of an integer input that shapes depend on. Throws UnknownElements where only a run knows them.
  [[nodiscard]] std::vector<Dim> integers(std::size_t index) const;
  /// The elements of an input of any type that must be known. Throws UnknownElements where only a run knows them.
  [[nodiscard]] const Tensor& constant(std::size_t index) const;

  // Attributes; each throws Error (invalid_model) for another type.
  [[nodiscard]] bool has_attribute(std::string_view name) const { return node_.find_attribute(name) != nullptr; }
  [[nodiscard]] std::int64_t integer(std::string_view name, std::int64_t otherwise) const;
  [[nodiscard]] float real(std::string_view name, float otherwise) const;
  [[nodiscard]] std::string text(std::string_view name, std::string_view otherwise) const;
  [[nodiscard]] std::optional<std::vector<std::int64_t>> integers(std::string_view name) const;
  [[nodiscard]] const Tensor* tensor(std::string_view name) const;
  [[nodiscard]] const Node& node() const noexcept { return node_; }
  /// The attribute `name` up to the opset before `since`, from then on input `index`; nothing when it is left out.
  [[nodiscard]] std::optional<std::vector<Dim>> integers_from(std::string_view name, std::size_t index,
                                                              std::int64_t since) const;
  /// An axis attribute made non-negative. Throws Error (invalid_model) when it is not within the rank.
  [[nodiscard]] int axis(std::int64_t axis, std::size_t rank) const;

  using GraphBuilder::constant;

  /// The value of this name as the nodes of the graph make it with other values in the place of some, by their names:
  /// these nodes are built again. Throws Error (unsupported) where they are not at hand.
  [[nodiscard]] ValueId rebuild(const std::string& name, const Bindings& bindings) const;

  /// Names a result. Outputs that are left out need not be set.
  void set_output(std::size_t index, ValueId value);
  [[nodiscard]] bool wants_output(std::size_t index) const;
  [[nodiscard]] const std::vector<ValueId>& outputs() const noexcept { return outputs_; }

  [[noreturn]] void fail_model(const std::string& text) const { throw Error(ErrorCode::invalid_model, text); }
  [[noreturn]] void fail_unsupported(const std::string& text) const { throw Error(ErrorCode::unsupported, text); }

 private:
  const Node& node_;
  std::vector<ValueId> inputs_;
  std::vector<ValueId> outputs_;
  Rebuild rebuild_;
};

/// One version of an operator: everything that is derived from operators (import, reports, documents) reads these.
struct OperatorRecord {
  std::string_view name;
  std::int64_t since;  ///< the first opset that it is right for; it serves until a record with a later one
  void (*build)(NodeBuilder&);
  InputTypes types;  ///< build_checked() sees to them
  std::string_view domain{};
};

/// Checks the types of all inputs, then builds. Throws Error (invalid_model) that names the input whose type the
/// operator does not take.
void build_checked(const OperatorRecord& record, NodeBuilder& node);

/// The record for an operator of this version; nullptr when there is none.
const OperatorRecord* find_operator(std::string_view domain, std::string_view name, std::int64_t opset);

/// All records, by family.
std::span<const std::span<const OperatorRecord>> operator_families();

// The families' tables, one file each.
std::span<const OperatorRecord> pointwise_operators();
std::span<const OperatorRecord> shape_operators();
std::span<const OperatorRecord> movement_operators();
std::span<const OperatorRecord> contraction_operators();
std::span<const OperatorRecord> window_operators();
std::span<const OperatorRecord> reduction_operators();
std::span<const OperatorRecord> normalization_operators();
std::span<const OperatorRecord> gather_operators();
std::span<const OperatorRecord> quantization_operators();
std::span<const OperatorRecord> sampling_operators();
std::span<const OperatorRecord> geometry_operators();
std::span<const OperatorRecord> loss_operators();
std::span<const OperatorRecord> position_operators();
std::span<const OperatorRecord> order_operators();
std::span<const OperatorRecord> random_operators();
std::span<const OperatorRecord> training_operators();
std::span<const OperatorRecord> gradient_operators();
std::span<const OperatorRecord> selection_operators();
std::span<const OperatorRecord> quantized_contraction_operators();
std::span<const OperatorRecord> low_bit_product_operators();
std::span<const OperatorRecord> machine_learning_operators();
std::span<const OperatorRecord> support_vector_operators();
std::span<const OperatorRecord> tree_ensemble_operators();
std::span<const OperatorRecord> label_operators();
std::span<const OperatorRecord> recurrent_operators();
std::span<const OperatorRecord> einsum_operators();
std::span<const OperatorRecord> attention_operators();
std::span<const OperatorRecord> signal_operators();

}  // namespace lapilli::onnx
