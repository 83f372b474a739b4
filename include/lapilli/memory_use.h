#pragma once

#include <cstdint>

namespace lapilli {

/// The memory that Lapilli holds of one device, by all models and threads: weights, intermediate results, inputs,
/// outputs, and staging in host memory. Bytes.
struct MemoryUse {
  std::uint64_t in_use = 0;
  std::uint64_t peak = 0;      ///< the most that was ever in use
  std::uint64_t reserved = 0;  ///< what the driver has handed out for it: in use, or kept for small requests
  std::uint64_t budget = 0;    ///< DeviceOptions::memory_budget; 0 for none
};

}  // namespace lapilli
