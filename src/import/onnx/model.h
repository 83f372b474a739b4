#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "base/mapped_file.h"
#include "lapilli/dtype.h"
#include "lapilli/tensor.h"

/// What an ONNX file says, as plain values: read, checked for consistency, but not yet interpreted.
namespace lapilli::onnx {

/// A dimension of a declared shape: a number, a named symbol, or (with neither) unknown.
struct Dimension {
  std::optional<std::int64_t> size;
  std::string symbol;
  friend bool operator==(const Dimension&, const Dimension&) = default;
};

/// A declared type. `unknown` where the file says nothing.
struct Type {
  enum class Kind : std::uint8_t { unknown, tensor, sparse_tensor, sequence, optional, map };

  Kind kind = Kind::unknown;
  DType dtype = DType::undefined;               ///< of tensor and sparse_tensor; of the keys of a map
  std::optional<std::vector<Dimension>> shape;  ///< of tensor and sparse_tensor; nothing when the rank is unknown
  std::vector<Type> element;                    ///< exactly one for sequence, optional and map (its values)
  friend bool operator==(const Type&, const Type&) = default;
};

struct ValueInfo {
  std::string name;
  Type type;
};

struct Graph;

/// The numbers are those of onnx.proto.
enum class AttributeType : std::uint8_t {
  undefined = 0,
  floating_point = 1,
  integer = 2,
  string = 3,
  tensor = 4,
  graph = 5,
  floating_points = 6,
  integers = 7,
  strings = 8,
  tensors = 9,
  graphs = 10,
  sparse_tensor = 11,
  sparse_tensors = 12,
  type = 13,
  types = 14,
};

std::string_view to_string(AttributeType type) noexcept;

/// An attribute of a node. Sparse tensors are already dense; a single graph or type is a list of one.
struct Attribute {
  using Value = std::variant<std::monostate, float, std::int64_t, std::string, Tensor, std::vector<float>,
                             std::vector<std::int64_t>, std::vector<std::string>, std::vector<Tensor>,
                             std::vector<Graph>, std::vector<Type>>;

  std::string name;
  AttributeType type = AttributeType::undefined;
  Value value;            ///< monostate when it refers, and when Model::unsupported says that it could not be read
  std::string refers_to;  ///< inside functions: the attribute of the calling node that gives the value; else empty
};

struct Node {
  std::string name;  ///< may be empty
  std::string op_type;
  std::string domain;              ///< empty for ONNX's own operators ("ai.onnx" is written so)
  std::string overload;            ///< tells functions of one name apart; empty for operators
  std::int64_t opset_version = 0;  ///< of `domain`, as the model or function that this node was written in imports it
  std::vector<std::string> inputs;   ///< an empty name is an input left out
  std::vector<std::string> outputs;  ///< an empty name is an output left out
  std::vector<Attribute> attributes;

  /// The attribute with this name, or nullptr.
  [[nodiscard]] const Attribute* find_attribute(std::string_view attribute_name) const noexcept;

  /// The value of the attribute with this name, or nullptr when the node does not have it. Throws Error
  /// (invalid_model) when it has another type than T, one of Attribute::Value's.
  template <class T>
  [[nodiscard]] const T* find(std::string_view attribute_name) const;

 private:
  [[noreturn]] void fail_attribute_type(const Attribute& attribute, const Attribute::Value& wanted) const;
};

struct Graph {
  std::string name;
  std::vector<Node> nodes;                                  ///< each after the nodes that it reads from
  std::map<std::string, Tensor, std::less<>> initializers;  ///< sparse ones are dense here
  std::vector<ValueInfo> inputs;  ///< one with an initializer of its name has that as default value
  std::vector<ValueInfo> outputs;
  std::vector<ValueInfo> value_infos;
};

/// Domain to version. The default domain is the empty string.
using OpsetImports = std::map<std::string, std::int64_t, std::less<>>;

struct FunctionKey {
  std::string domain;
  std::string name;
  std::string overload;
  friend auto operator<=>(const FunctionKey&, const FunctionKey&) = default;
};

/// A function of the model: a node that names it stands for its nodes (see inline_functions.h).
struct Function {
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<std::string> attribute_names;  ///< without a default value
  std::vector<Attribute> attribute_defaults;
  std::vector<Node> nodes;
  OpsetImports opset_imports;
};

struct Model {
  std::int64_t ir_version = 0;
  std::string producer_name;
  std::string producer_version;
  OpsetImports opset_imports;
  Graph graph;
  std::map<FunctionKey, Function> functions;
  std::map<std::string, std::string> metadata;
  /// Those that tensors may point into: the model's own and its external data. None for a model from memory.
  std::vector<std::shared_ptr<const MappedFile>> files;

  /// What the file holds and Lapilli cannot represent or does not know, one finished sentence each: tensors and types
  /// (left undefined above), versions. A model that has any cannot run; whoever imports it adds the operators that it
  /// does not know and reports all at once.
  std::vector<std::string> unsupported;
};

/// How an error names a node: by its name or its first output, and its operator.
std::string node_text(const Node& node);

/// How an error names a function of the model.
std::string function_text(const FunctionKey& key);

/// A name from a file, for errors: shortened and without control characters.
std::string printable(std::string_view name);
/// The same in quotes.
std::string name_text(std::string_view name);
/// "the default domain" or "domain 'com.microsoft'".
std::string domain_text(std::string_view domain);

/// "ai.onnx" and the empty string name the same domain; the result is the empty one.
std::string normalised_domain(std::string_view domain);

template <class T>
const T* Node::find(std::string_view attribute_name) const {
  const Attribute* attribute = find_attribute(attribute_name);
  if (attribute == nullptr) return nullptr;
  const T* value = std::get_if<T>(&attribute->value);
  if (value == nullptr) fail_attribute_type(*attribute, Attribute::Value(T{}));
  return value;
}

}  // namespace lapilli::onnx
