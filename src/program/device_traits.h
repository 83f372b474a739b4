#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "lapilli/dtype.h"

namespace lapilli {

/// One shape that VK_KHR_cooperative_matrix multiplies on this device, at subgroup scope: D = A[m,k] * B[k,n] + C.
struct MatrixShape {
  std::uint32_t m = 0, n = 0, k = 0;
  DType a = DType::undefined, b = DType::undefined;
  DType accumulator = DType::undefined;  ///< of C and of D
  friend bool operator==(const MatrixShape&, const MatrixShape&) = default;
};

/// What the planner needs to know of a device. A plain value, so that planning is tested without a GPU.
struct DeviceTraits {
  std::string name;
  bool software = false;  ///< a CPU driver

  // Features that are enabled.
  bool storage_8bit = false;
  bool storage_16bit = false;
  bool float16 = false;  ///< arithmetic, not only storage
  bool int8 = false;
  bool int16 = false;
  bool int64 = false;
  bool float64 = false;
  bool subgroup_size_control = false;  ///< PipelineSpec::subgroup_size may be set
  bool subgroup_arithmetic = false;    ///< subgroup operations in compute shaders
  bool subgroup_shuffle = false;
  bool cooperative_matrix = false;
  std::vector<MatrixShape> matrix_shapes;

  // Limits. Bytes unless said otherwise.
  std::array<std::uint32_t, 3> max_groups{65535, 65535, 65535};
  std::array<std::uint32_t, 3> max_group_size{128, 128, 64};
  std::uint32_t max_group_invocations = 128;
  std::uint32_t max_shared_memory = 16384;
  std::uint32_t max_push_constants = 128;
  std::uint32_t max_storage_buffers = 4;  ///< in one dispatch
  std::uint64_t max_storage_range = std::uint64_t{1} << 27U;
  std::uint64_t max_uniform_range = 16384;
  std::uint64_t max_allocation = std::uint64_t{1} << 30U;
  std::uint64_t storage_alignment = 256;
  std::uint64_t uniform_alignment = 256;
  std::uint32_t subgroup_size = 0;  ///< the default one
  std::uint32_t min_subgroup_size = 0, max_subgroup_size = 0;
  std::uint32_t compute_units = 0;  ///< multiprocessors where a driver tells, else 0

  std::uint64_t longest_submit = 0;  ///< Dispatch::work of one submission; 0 for no bound
};

}  // namespace lapilli
