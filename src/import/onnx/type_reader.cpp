#include "import/onnx/type_reader.h"

#include "import/onnx/tensor_reader.h"

namespace lapilli::onnx {
namespace {

Dimension read_dimension(MessageReader message) {
  Dimension dimension;
  while (message.next()) {
    switch (message.field()) {
      case 1:
        dimension.size = message.read_int64();
        dimension.symbol.clear();
        break;
      case 2:
        dimension.symbol = message.read_string();
        dimension.size.reset();
        break;
      default: message.skip();
    }
  }
  // Exporters write -1 for what they do not know, as ONNX Runtime reads it too.
  if (dimension.size == -1) dimension.size.reset();
  if (dimension.size.value_or(0) < 0) fail(ErrorCode::invalid_model, "dimension {} in a shape", *dimension.size);
  return dimension;
}

std::vector<Dimension> read_shape(MessageReader message) {
  std::vector<Dimension> shape;
  while (message.next()) {
    if (message.field() == 1) {
      shape.push_back(read_dimension(message.read_message("TensorShapeProto.Dimension")));
    } else {
      message.skip();
    }
  }
  return shape;
}

Type read_tensor_type(MessageReader message, Type::Kind kind) {
  Type type;
  type.kind = kind;
  while (message.next()) {
    switch (message.field()) {
      case 1:
        if (const std::int32_t dtype = message.read_int32(); dtype != 0) type.dtype = read_dtype(dtype);
        break;
      case 2: type.shape = read_shape(message.read_message("TensorShapeProto")); break;
      default: message.skip();
    }
  }
  return type;
}

Type read_container_type(MessageReader message, Type::Kind kind, int depth) {
  Type type;
  type.kind = kind;
  while (message.next()) {
    if (message.field() == 1) {
      type.element.assign(1, read_type(message.read_message("TypeProto"), depth + 1));
    } else {
      message.skip();
    }
  }
  if (type.element.empty()) type.element.emplace_back();
  return type;
}

Type read_map_type(MessageReader message, int depth) {
  Type type;
  type.kind = Type::Kind::map;
  while (message.next()) {
    switch (message.field()) {
      case 1: type.dtype = read_dtype(message.read_int32()); break;
      case 2: type.element.assign(1, read_type(message.read_message("TypeProto"), depth + 1)); break;
      default: message.skip();
    }
  }
  if (type.element.empty()) type.element.emplace_back();
  return type;
}

}  // namespace

void check_nesting(int depth, std::string_view what) {
  if (depth > max_nesting)
    fail(ErrorCode::invalid_model, "{} are nested more than {} deep, which no real model does", what, max_nesting);
}

Type read_type(MessageReader message, int depth) {
  check_nesting(depth, "types");
  Type type;
  while (message.next()) {
    switch (message.field()) {
      case 1: type = read_tensor_type(message.read_message("TypeProto.Tensor"), Type::Kind::tensor); break;
      case 4:
        type = read_container_type(message.read_message("TypeProto.Sequence"), Type::Kind::sequence, depth);
        break;
      case 5: type = read_map_type(message.read_message("TypeProto.Map"), depth); break;
      case 7: fail(ErrorCode::unsupported, "opaque types are not supported");
      case 8:
        type = read_tensor_type(message.read_message("TypeProto.SparseTensor"), Type::Kind::sparse_tensor);
        break;
      case 9:
        type = read_container_type(message.read_message("TypeProto.Optional"), Type::Kind::optional, depth);
        break;
      default: message.skip();
    }
  }
  return type;
}

}  // namespace lapilli::onnx
