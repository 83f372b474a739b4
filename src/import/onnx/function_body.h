#pragma once

#include <set>
#include <string>
#include <vector>

#include "import/onnx/model.h"

namespace lapilli::onnx {

/// Names of values that are taken, to which new ones are added.
class ValueNames {
 public:
  /// Every value of the model, in whatever graph.
  explicit ValueNames(const Model& model);

  /// `wanted`, or with a number behind it when that is taken.
  std::string make_new(std::string wanted);

 private:
  void add_graph(const Graph& graph);

  std::set<std::string, std::less<>> names_;
  std::size_t next_number_ = 2;
};

/// The nodes that stand for `call` of `function`: a copy of its body with its inputs and outputs those of the call,
/// all other values under new names, and attributes bound to the call's. `identity_version` is the opset version for
/// nodes that are added where the function returns one of its inputs.
std::vector<Node> function_body(const Node& call, const Function& function, std::int64_t identity_version,
                                ValueNames& names);

/// The bytes that a copy takes, roughly; elements of tensors are shared and do not count.
std::size_t copy_size(const Node& node);
std::size_t copy_size(const Graph& graph);
std::size_t copy_size(const Function& function);

/// The beginning of the names of everything inside `call`.
std::string name_prefix(const Node& call);

}  // namespace lapilli::onnx
