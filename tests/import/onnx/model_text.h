#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "import/onnx/model.h"
#include "import/onnx/value.h"

namespace lapilli::onnx {

std::uint32_t crc32(std::span<const std::byte> bytes);
std::uint32_t crc32(std::string_view text);

/// A model written out as census.py does, and what was counted on the way.
struct ModelText {
  std::string text;
  std::size_t nodes = 0;
  std::size_t initializers = 0;
  std::size_t attributes = 0;
};

ModelText model_text(const Model& model);
std::string value_text(const Value& value);

}  // namespace lapilli::onnx
