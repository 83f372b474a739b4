#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "plan/contraction.h"

namespace lapilli {

/// A kernel that passes tiles through shared memory (src/kernels/include/contraction_tiles.glsl).
struct TiledKernel {
  std::string_view name;
  std::int64_t vector = 4;              ///< elements of 16 bytes
  DType factors = DType::float32;       ///< in shared memory; constant weights are packed so
  bool required_subgroup_size = false;  ///< it counts on DeviceTraits::subgroup_size
};

/// How one contraction is cut.
struct TiledChoice {
  std::int64_t rows = 0, columns = 0, depth = 0;  ///< of a tile
  std::int64_t slices = 1;                        ///< of the depth
  std::vector<std::uint32_t> constants;           ///< the kernel's own, which come before PARTIAL
};

/// The kernel's VECTORS_B. Weights that are constant are packed for it.
std::uint32_t tile_vectors_of_b(const Contraction& contraction, const TiledKernel& kernel, Assumptions& assumptions);

/// Whether the partial sums of these slices can be bound.
bool slices_fit(const Contraction& contraction, std::int64_t tile_rows, std::int64_t tile_columns,
                std::int64_t slices, const DeviceTraits& traits, const SymbolValues& sizes);

/// Adds the product and, where the depth is cut, the sum of its slices (contraction_reduce.comp).
void emit_tiled_contraction(Contraction& contraction, const TiledKernel& kernel, const TiledChoice& choice,
                            Emission& emission);

}  // namespace lapilli
