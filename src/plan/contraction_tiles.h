#pragma once

#include <cstdint>
#include <functional>
#include <span>
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

struct TileSize {
  std::int64_t rows = 0, columns = 0, depth = 0;
};

/// How one contraction is cut.
struct TiledChoice {
  TileSize tile;
  std::int64_t slices = 1;               ///< of the depth
  std::vector<std::uint32_t> constants;  ///< the kernel's own, which come before PARTIAL
};

/// What a cut makes of a contraction.
struct TiledWork {
  double groups_on_unit = 0;  ///< workgroups that one multiprocessor goes through
  double steps = 0;           ///< of the depth, in each
  double slicing = 0;         ///< microseconds that the sum of the slices takes on an H200
};

struct TileCandidate {
  std::size_t index = 0;  ///< in the variant's own table
  TileSize size;
};

struct TilePick {
  std::size_t index = 0;
  std::int64_t slices = 1;
};

/// The cut that takes least time by `estimate`, which is given a candidate's index; or what the options' tuning says.
/// Throws Error (unsupported) where there is none.
TilePick pick_tile(const Contraction& contraction, std::span<const TileCandidate> candidates,
                   const std::function<double(std::size_t, const TiledWork&)>& estimate, Emission& emission);

/// The kernel's VECTORS_B. Weights that are constant are packed for it.
std::uint32_t tile_vectors_of_b(const Contraction& contraction, const TiledKernel& kernel, Assumptions& assumptions);

/// Adds the product and, where the depth is cut, the sum of its slices (contraction_reduce.comp).
void emit_tiled_contraction(Contraction& contraction, const TiledKernel& kernel, const TiledChoice& choice,
                            Emission& emission);

}  // namespace lapilli
