#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "import/onnx/model.h"
#include "import/onnx/reader.h"

/// Values in files: TensorProto, SequenceProto, OptionalProto and MapProto, as data sets for models hold them.
namespace lapilli::onnx {

struct Value;

struct Sequence {
  std::vector<Value> elements;
};

struct Optional {
  std::vector<Value> element;  ///< one, or none
};

struct Map {
  Tensor keys;  ///< int64 or string, one dimension
  std::vector<Value> values;
};

struct Value {
  std::string name;  ///< may be empty
  std::variant<Tensor, Sequence, Optional, Map> content;
};

/// Reads the value in a file, which has this type as the model declares it (a file does not say what it is; unknown
/// is read as a tensor). Tensors are views of the file as in read_model. Throws Error: invalid_model, unsupported,
/// input_output.
Value read_value(const std::filesystem::path& path, const Type& type);

/// The same for bytes in memory, which are copied when nobody owns them.
Value read_value(std::span<const std::byte> bytes, std::shared_ptr<const void> owner, const Type& type,
                 const ReadOptions& options);

}  // namespace lapilli::onnx
