#include "import/onnx/value.h"

#include <utility>

#include "import/onnx/source.h"
#include "import/onnx/type_reader.h"

namespace lapilli::onnx {
namespace {

Value read_tensor_value(const MessageReader& message, TensorSource& source) {
  NamedTensor named = read_tensor(message, source);
  return {.name = std::move(named.name), .content = std::move(named.tensor)};
}

Value read_sparse_value(const MessageReader& message, TensorSource& source) {
  NamedTensor named = read_sparse_tensor(message, source);
  return {.name = std::move(named.name), .content = std::move(named.tensor)};
}

Value read_sequence(MessageReader message, TensorSource& source, int depth);
Value read_optional(MessageReader message, TensorSource& source, int depth);
Value read_map(MessageReader message, TensorSource& source, int depth);

Value read_sequence(MessageReader message, TensorSource& source, int depth) {
  check_nesting(depth, "sequences");
  Value result;
  Sequence sequence;
  const auto add = [&](Value value) { sequence.elements.push_back(std::move(value)); };
  while (message.next()) {
    switch (message.field()) {
      case 1: result.name = message.read_string(); break;
      case 3: add(read_tensor_value(message.read_message("TensorProto"), source)); break;
      case 4: add(read_sparse_value(message.read_message("SparseTensorProto"), source)); break;
      case 5: add(read_sequence(message.read_message("SequenceProto"), source, depth + 1)); break;
      case 6: add(read_map(message.read_message("MapProto"), source, depth + 1)); break;
      case 7: add(read_optional(message.read_message("OptionalProto"), source, depth + 1)); break;
      default: message.skip();
    }
  }
  result.content = std::move(sequence);
  return result;
}

Value read_optional(MessageReader message, TensorSource& source, int depth) {
  check_nesting(depth, "optionals");
  Value result;
  Optional optional;
  const auto set = [&](Value value) {
    optional.element.clear();
    optional.element.push_back(std::move(value));
  };
  while (message.next()) {
    switch (message.field()) {
      case 1: result.name = message.read_string(); break;
      case 3: set(read_tensor_value(message.read_message("TensorProto"), source)); break;
      case 4: set(read_sparse_value(message.read_message("SparseTensorProto"), source)); break;
      case 5: set(read_sequence(message.read_message("SequenceProto"), source, depth + 1)); break;
      case 6: set(read_map(message.read_message("MapProto"), source, depth + 1)); break;
      case 7: set(read_optional(message.read_message("OptionalProto"), source, depth + 1)); break;
      default: message.skip();
    }
  }
  result.content = std::move(optional);
  return result;
}

Value read_map(MessageReader message, TensorSource& source, int depth) {
  check_nesting(depth, "maps");
  Value result;
  Map map;
  std::vector<std::int64_t> numbers;
  std::vector<std::string> strings;
  while (message.next()) {
    switch (message.field()) {
      case 1: result.name = message.read_string(); break;
      case 3: message.for_each_varint([&](std::int64_t key) { numbers.push_back(key); }); break;
      case 4: strings.push_back(message.read_string()); break;
      case 5: {
        Value values = read_sequence(message.read_message("SequenceProto"), source, depth + 1);
        map.values = std::move(std::get<Sequence>(values.content).elements);
        break;
      }
      default: message.skip();
    }
  }
  const std::size_t count = numbers.size() + strings.size();
  if ((!numbers.empty() && !strings.empty()) || count != map.values.size())
    fail(ErrorCode::invalid_model, "a map has {} keys and {} values", count, map.values.size());
  const std::vector<std::int64_t> shape{static_cast<std::int64_t>(count)};
  map.keys = strings.empty() ? Tensor::of<std::int64_t>(DType::int64, shape, numbers)
                             : Tensor::of_strings(shape, std::move(strings));
  result.content = std::move(map);
  return result;
}

Value read(Source& source, const Type& type) {
  const auto message = [&](std::string_view name) { return MessageReader(source.bytes, name, source.bytes.data()); };
  switch (type.kind) {
    case Type::Kind::sparse_tensor: return read_sparse_value(message("SparseTensorProto"), source.tensors);
    case Type::Kind::sequence: return read_sequence(message("SequenceProto"), source.tensors, 0);
    case Type::Kind::optional: return read_optional(message("OptionalProto"), source.tensors, 0);
    case Type::Kind::map: return read_map(message("MapProto"), source.tensors, 0);
    default: return read_tensor_value(message("TensorProto"), source.tensors);
  }
}

}  // namespace

Value read_value(const std::filesystem::path& path, const Type& type) {
  Source source = open_source(path, ReadOptions{});
  return reading(path.string(), [&] { return read(source, type); });
}

Value read_value(std::span<const std::byte> bytes, std::shared_ptr<const void> owner, const Type& type,
                 const ReadOptions& options) {
  Source source = memory_source(bytes, std::move(owner), options);
  return reading(options.name, [&] { return read(source, type); });
}

}  // namespace lapilli::onnx
