#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "import/onnx/external_files.h"
#include "import/onnx/wire.h"
#include "lapilli/tensor.h"

namespace lapilli::onnx {

/// What the tensors of one file share while it is read.
struct TensorSource {
  std::shared_ptr<const void> owner;  ///< keeps the file's bytes alive
  ExternalFiles external_files;
  std::size_t copy_unaligned_below = 0;  ///< see ReadOptions
  std::size_t sparse_bytes_left = 0;     ///< what sparse tensors may still take when they are made dense
};

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

/// The lapilli name of a TensorProto.DataType. Throws Error (unsupported) for complex numbers and types that are not
/// known, and Error (invalid_model) for undefined.
DType read_dtype(std::int32_t onnx_type);

/// Reads a TensorProto. Errors begin with the tensor's name when it has one. Elements in raw_data and in external
/// files are views of the file, except for small unaligned ones (ReadOptions::copy_unaligned_below).
NamedTensor read_tensor(MessageReader message, TensorSource& source);

/// Reads a SparseTensorProto into a dense tensor; the name is that of its values.
NamedTensor read_sparse_tensor(MessageReader message, TensorSource& source);

}  // namespace lapilli::onnx
