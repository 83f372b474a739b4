// The variant for real numbers on GPUs without matrix units for them: src/kernels/contraction_tiled.comp.
#include <algorithm>
#include <array>
#include <cmath>

#include "base/checked.h"
#include "plan/contraction_tiles.h"

namespace lapilli {
namespace {

constexpr std::int64_t vector_size = 4;  // float32 elements of 16 bytes
constexpr TiledKernel kernel{"contraction_tiled", vector_size, DType::float32, false};

struct ScalarTile {
  TileSize size;
  std::int64_t block_rows, block_columns;  // of one invocation
  [[nodiscard]] constexpr std::int64_t invocations() const {
    return size.rows / block_rows * (size.columns / block_columns);
  }
};

constexpr std::array tiles{
    ScalarTile{{128, 128, 16}, 8, 8}, ScalarTile{{128, 64, 16}, 8, 8}, ScalarTile{{64, 128, 16}, 8, 8},
    ScalarTile{{64, 64, 16}, 8, 4},   ScalarTile{{64, 64, 32}, 8, 4},  ScalarTile{{32, 64, 32}, 4, 4},
    ScalarTile{{64, 32, 32}, 4, 4},   ScalarTile{{32, 32, 32}, 4, 4},  ScalarTile{{16, 64, 32}, 4, 4},
};

// Bytes of shared memory, as the kernel declares them, whichever way B lies.
std::int64_t shared_bytes(const ScalarTile& tile, std::int64_t buffers) {
  const auto& [rows, columns, depth] = tile.size;
  const std::int64_t depth_pitch = depth + vector_size;
  const std::int64_t b = std::max(columns * depth_pitch, depth * (columns + vector_size));
  return buffers * (rows * depth_pitch + b) * 4;
}

bool fits_device(const ScalarTile& tile, const DeviceTraits& traits) {
  const std::int64_t group = tile.invocations();
  return group <= traits.max_group_invocations && group <= traits.max_group_size[0] &&
         shared_bytes(tile, 1) <= traits.max_shared_memory;
}

// Microseconds that a cut takes on an H200, roughly: what matters is how cuts compare.
double estimate(const ScalarTile& tile, const TiledWork& cut) {
  const auto& [rows, columns, depth] = tile.size;
  const double resident = std::max(1.0, std::floor(512 / static_cast<double>(tile.invocations())));
  const double together = std::min(cut.groups_on_unit, resident), rounds = std::ceil(cut.groups_on_unit / resident);
  // A multiprocessor does 128 multiplications a cycle; small blocks load more for each.
  const double loads = 1.0 / static_cast<double>(tile.block_rows) + 1.0 / static_cast<double>(tile.block_columns);
  const double efficiency = 0.85 / (1 + loads);
  const double work = together * static_cast<double>(rows * columns * depth) / (128 * 1.8e3 * efficiency), wait = 0.7;
  return 3.0 + rounds * (cut.steps + 1) * std::max(wait, work) + cut.slicing;
}

TilePick choose(const Contraction& contraction, Emission& emission) {
  std::vector<TileCandidate> candidates;
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    if (fits_device(tiles[i], emission.traits())) candidates.push_back({i, tiles[i].size});
  }
  const auto time = [](std::size_t i, const TiledWork& cut) { return estimate(tiles[i], cut); };
  return pick_tile(contraction, candidates, time, emission);
}

}  // namespace

bool scalar_contraction_applies(const ContractionTraits& traits, const DeviceTraits& device,
                                const PlanOptions& options) {
  const bool wanted = !device.software || !options.contraction.variant.empty();
  // Narrow groups would leave most of each tile empty.
  constexpr std::int64_t fewest_columns = 16;
  const bool wide = traits.group == 1 ||
                    (traits.columns.value_or(0) >= fewest_columns && traits.channels.value_or(0) >= fewest_columns);
  const bool real = traits.stored_dtype == DType::float32 || traits.stored_dtype == DType::float16;
  return wanted && wide && real && !traits.wide_types &&
         std::ranges::any_of(tiles, [&](const ScalarTile& tile) { return fits_device(tile, device); });
}

void emit_scalar_contraction(Contraction& contraction, Emission& emission) {
  const DeviceTraits& traits = emission.traits();
  const TilePick pick = choose(contraction, emission);
  const ScalarTile& tile = tiles.at(pick.index);
  const bool twice = shared_bytes(tile, 2) <= std::min<std::int64_t>(traits.max_shared_memory, 49152);
  const auto word = [](std::int64_t value) { return checked_cast<std::uint32_t>(value); };
  const TiledChoice choice{tile.size,
                           pick.slices,
                           {word(tile.invocations()), word(tile.size.rows), word(tile.size.columns),
                            word(tile.size.depth), word(tile.block_rows), word(tile.block_columns), twice ? 2U : 1U}};
  emit_tiled_contraction(contraction, kernel, choice, emission);
}

}  // namespace lapilli
