#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/failure.h"
#include "import/onnx/model.h"
#include "import/onnx/operators/types.h"
#include "lapilli/image_decoder.h"
#include "lapilli/value.h"

namespace lapilli {

/// What the application does for a model.
struct HostServices {
  ImageDecoder decode_image;  ///< empty where it does not
};

/// What an operator of the host works with: a node, the values of its inputs, and a way to run its subgraphs.
class HostCall {
 public:
  using RunGraph = std::function<std::vector<Value>(const onnx::Graph&, std::vector<Value>)>;

  HostCall(const onnx::Node& node, std::vector<Value> inputs, RunGraph run_graph, HostServices services = {})
      : node_(node),
        inputs_(std::move(inputs)),
        outputs_(node.outputs.size()),
        is_set_(node.outputs.size()),
        run_graph_(std::move(run_graph)),
        services_(std::move(services)) {}

  [[nodiscard]] const onnx::Node& node() const noexcept { return node_; }
  [[nodiscard]] std::size_t input_count() const noexcept { return inputs_.size(); }
  [[nodiscard]] bool has_input(std::size_t index) const {
    return index < inputs_.size() && !node_.inputs[index].empty();
  }
  /// Throws Error (invalid_model) when it is left out.
  [[nodiscard]] const Value& input(std::size_t index) const;
  [[nodiscard]] const Tensor& tensor(std::size_t index) const { return input(index).tensor(); }
  [[nodiscard]] const std::vector<Value>& elements(std::size_t index) const { return input(index).elements(); }
  /// The one element of an integer input.
  [[nodiscard]] std::int64_t integer(std::size_t index) const { return integer_of(tensor(index)); }
  [[nodiscard]] static std::int64_t integer_of(const Tensor& tensor);
  [[nodiscard]] static bool boolean_of(const Tensor& tensor);

  template <class T>
  [[nodiscard]] T attribute(std::string_view name, const T& otherwise) const {
    const T* value = node_.find<T>(name);
    return value != nullptr ? *value : otherwise;
  }
  /// Throws Error (invalid_model) when the node does not have it.
  [[nodiscard]] const onnx::Graph& graph(std::string_view name) const;

  [[nodiscard]] std::vector<Value> run(const onnx::Graph& graph, std::vector<Value> inputs) const {
    return run_graph_(graph, std::move(inputs));
  }

  [[nodiscard]] const HostServices& services() const noexcept { return services_; }

  void set_output(std::size_t index, Value value) {
    if (index >= outputs_.size()) return;
    outputs_[index] = std::move(value);
    is_set_[index] = true;
  }
  [[nodiscard]] std::size_t output_count() const noexcept { return outputs_.size(); }
  /// Throws Error (invalid_model) that names an output which the node has and nobody has set.
  [[nodiscard]] std::vector<Value> take_outputs();

 private:
  const onnx::Node& node_;
  std::vector<Value> inputs_, outputs_;
  std::vector<bool> is_set_;
  RunGraph run_graph_;
  HostServices services_;
};

/// An operator that the host runs, and why.
struct HostOperator {
  std::string_view name;
  std::int64_t since;
  void (*run)(HostCall&);
  std::string_view reason;
  std::string_view domain{};
  onnx::InputTypes types{};  ///< what its document allows where it has only tensors
};

const HostOperator* find_host_operator(std::string_view domain, std::string_view name, std::int64_t opset);

/// All records, by family.
std::span<const std::span<const HostOperator>> host_operator_families();

std::span<const HostOperator> control_operators();
std::span<const HostOperator> sequence_operators();
std::span<const HostOperator> text_operators();
std::span<const HostOperator> label_operators();
std::span<const HostOperator> map_operators();
std::span<const HostOperator> image_operators();

}  // namespace lapilli
