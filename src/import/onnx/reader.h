#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

#include "import/onnx/model.h"

namespace lapilli::onnx {

/// The newest versions that this reader was written for. Newer ones are read as far as they go, and
/// Model::unsupported says so.
constexpr std::int64_t newest_ir_version = 14;
constexpr std::int64_t newest_opset_version = 28;

struct ReadOptions {
  /// For models that are given as bytes: how errors name them, and the folder of their external data.
  std::string name = "the model";
  std::filesystem::path folder;

  /// Tensors stored in the file lie at any byte. Unaligned ones of fewer bytes than this are copied, so that what the
  /// host computes with (shapes, indices, scales) can be read directly; larger ones stay views, and whoever needs
  /// their elements aligned calls Tensor::aligned().
  std::size_t copy_unaligned_below = std::size_t{64} << 10U;

  /// What all sparse tensors together may take when they are made dense.
  std::size_t sparse_bytes = std::size_t{256} << 20U;
};

/// Reads and validates a model file. Tensors in it, and in the files of external data beside it, are views that keep
/// the mapped files alive. The files must not change while tensors of them are in use.
///
/// Throws Error: invalid_model (damaged, or against the rules of ONNX), input_output (a file cannot be read),
/// limit_exceeded, out_of_memory. What is valid but not supported does not throw; see Model::unsupported.
Model read_model(const std::filesystem::path& path, const ReadOptions& options = {});

/// Reads and validates a model in memory. `owner` keeps `bytes` alive for the tensors that point into them; without
/// one, they are copied first.
Model read_model(std::span<const std::byte> bytes, std::shared_ptr<const void> owner, const ReadOptions& options);

}  // namespace lapilli::onnx
