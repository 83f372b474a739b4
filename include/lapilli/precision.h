#pragma once

#include <cstdint>

namespace lapilli {

/// The type in which intermediate results and weights lie in device memory. Arithmetic is float32 in both.
enum class Precision : std::uint8_t { float32, float16 };

}  // namespace lapilli
