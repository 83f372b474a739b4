// The variant for real numbers on GPUs without matrix units for them: src/kernels/contraction_tiled.comp.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/checked.h"
#include "plan/contraction_tiles.h"

namespace lapilli {
namespace {

constexpr std::int64_t vector_size = 4;  // float32 elements of 16 bytes
constexpr TiledKernel kernel{"contraction_tiled", vector_size, DType::float32, false};

struct ScalarTile {
  std::int64_t rows, columns, depth;
  std::int64_t block_rows, block_columns;  // of one invocation
  [[nodiscard]] constexpr std::int64_t invocations() const { return rows / block_rows * (columns / block_columns); }
};

constexpr std::array tiles{
    ScalarTile{128, 128, 16, 8, 8}, ScalarTile{128, 64, 16, 8, 8}, ScalarTile{64, 128, 16, 8, 8},
    ScalarTile{64, 64, 16, 8, 4},   ScalarTile{64, 64, 32, 8, 4},  ScalarTile{32, 64, 32, 4, 4},
    ScalarTile{64, 32, 32, 4, 4},   ScalarTile{32, 32, 32, 4, 4},  ScalarTile{16, 64, 32, 4, 4},
};

// Bytes of shared memory, as the kernel declares them, whichever way B lies.
std::int64_t shared_bytes(const ScalarTile& tile, std::int64_t buffers) {
  const std::int64_t depth_pitch = tile.depth + vector_size;
  const std::int64_t b = std::max(tile.columns * depth_pitch, tile.depth * (tile.columns + vector_size));
  return buffers * (tile.rows * depth_pitch + b) * 4;
}

bool fits_device(const ScalarTile& tile, const DeviceTraits& traits) {
  const std::int64_t group = tile.invocations();
  return group <= traits.max_group_invocations && group <= traits.max_group_size[0] &&
         shared_bytes(tile, 1) <= traits.max_shared_memory;
}

struct ScalarChoice {
  ScalarTile tile{};
  std::int64_t slices = 1;
};

// Microseconds that a choice takes on an H200, roughly: what matters is how choices compare.
double estimate(const Contraction& contraction, const ScalarChoice& choice, const DeviceTraits& traits,
                const SymbolValues& sizes) {
  const ScalarTile& tile = choice.tile;
  const auto size_of = [&](const Dim& dim) { return std::max<std::int64_t>(dim.evaluate(sizes), 1); };
  const auto pieces = [&](const Dim& dim, std::int64_t part) {
    return static_cast<double>(divide_up(size_of(dim), part));
  };
  const double units = std::max(traits.compute_units, 16U);
  const double batches = static_cast<double>(size_of(contraction.batches()));
  const double groups = batches * static_cast<double>(choice.slices) * pieces(contraction.rows(), tile.rows) *
                        pieces(contraction.columns, tile.columns);
  const double steps = pieces(contraction.channels * contraction.window.taps(), tile.depth * choice.slices);
  const auto group_size = static_cast<double>(tile.invocations());
  const double resident = std::max(1.0, std::floor(512 / group_size)), on_unit = std::ceil(groups / units);
  const double together = std::min(on_unit, resident), rounds = std::ceil(on_unit / resident);
  // A multiprocessor does 128 multiplications a cycle; small blocks load more for each.
  const double loads = 1.0 / static_cast<double>(tile.block_rows) + 1.0 / static_cast<double>(tile.block_columns);
  const double efficiency = 0.85 / (1 + loads);
  const auto volume = static_cast<double>(tile.rows * tile.columns * tile.depth);
  const double work = together * volume / (128 * 1.8e3 * efficiency), wait = 0.7;
  const double slice_elements = static_cast<double>(choice.slices * size_of(contraction.rows())) * batches *
                                static_cast<double>(size_of(contraction.columns));
  const double slicing = choice.slices > 1 ? 3.24 + 2.45e-6 * slice_elements : 0;
  return 3.0 + rounds * (steps + 1) * std::max(wait, work) + slicing;
}

ScalarChoice choose(const Contraction& contraction, const Emission& emission, const SymbolValues& sizes) {
  const DeviceTraits& traits = emission.traits();
  const ContractionTuning& tuning = emission.options().contraction;
  ScalarChoice best;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    if (!fits_device(tiles[i], traits) || (tuning.tile && *tuning.tile != i)) continue;
    // A CPU runs this in tests alone, which wait for its compiler: the least code is the best.
    if (traits.software && !tuning.tile && i + 1 != tiles.size()) continue;
    for (std::int64_t slices = 1; slices <= 16; slices = slices < 4 ? slices + 1 : slices * 2) {
      if (tuning.slices != 0 && slices != tuning.slices) continue;
      const ScalarChoice choice{tiles[i], slices};
      if (!slices_fit(contraction, tiles[i].rows, tiles[i].columns, slices, traits, sizes)) continue;
      const double time = estimate(contraction, choice, traits, sizes);
      if (time < least) {
        least = time;
        best = choice;
      }
    }
  }
  if (best.tile.rows == 0) fail(ErrorCode::unsupported, "no tile fits device '{}'", traits.name);
  return best;
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
  // With few rows each weight is read for few products: what counts is how many invocations read at once.
  constexpr std::int64_t fewest_rows = 4;
  const SymbolValues& sizes = emission.assumptions().sizes();
  if (emission.options().contraction.variant.empty() && contraction.rows().evaluate(sizes) < fewest_rows) {
    return emit_plain_contraction(contraction, emission);
  }
  const ScalarChoice choice = choose(contraction, emission, sizes);
  const ScalarTile& tile = choice.tile;
  const bool twice = shared_bytes(tile, 2) <= std::min<std::int64_t>(traits.max_shared_memory, 49152);
  const auto word = [](std::int64_t value) { return checked_cast<std::uint32_t>(value); };
  const TiledChoice tiled{tile.rows,
                          tile.columns,
                          tile.depth,
                          choice.slices,
                          {word(tile.invocations()), word(tile.rows), word(tile.columns), word(tile.depth),
                           word(tile.block_rows), word(tile.block_columns), twice ? 2U : 1U}};
  emit_tiled_contraction(contraction, kernel, tiled, emission);
}

}  // namespace lapilli
