// The variant on matrix units: src/kernels/contraction_matrix.comp.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/checked.h"
#include "plan/contraction_tiles.h"

namespace lapilli {
namespace {

constexpr std::int64_t vector_size = 8;  // float16 elements of 16 bytes
constexpr TiledKernel kernel{"contraction_matrix", vector_size, DType::float16, true};

struct MatrixTile {
  std::int64_t rows, columns, depth;
  std::int64_t subgroups_m, subgroups_n;
};

// Sizes fit matrix shapes of 8 and of 16.
constexpr std::array tiles{
    MatrixTile{256, 128, 32, 4, 2}, MatrixTile{128, 256, 32, 2, 4}, MatrixTile{128, 128, 32, 2, 4},
    MatrixTile{128, 128, 64, 2, 4}, MatrixTile{128, 64, 64, 4, 2},  MatrixTile{64, 128, 64, 2, 4},
    MatrixTile{64, 64, 64, 2, 2},   MatrixTile{64, 64, 128, 2, 4},  MatrixTile{32, 64, 64, 2, 2},
    MatrixTile{32, 64, 128, 2, 4},  MatrixTile{32, 32, 128, 2, 2},  MatrixTile{64, 32, 128, 4, 2},
    MatrixTile{32, 32, 32, 2, 2},
};

const MatrixShape* find_shape(const DeviceTraits& traits) {
  const auto fits = [](const MatrixShape& shape) {
    const auto divides = [](std::uint32_t size) { return size == 8 || size == 16; };
    return shape.a == DType::float16 && shape.b == DType::float16 && shape.accumulator == DType::float32 &&
           divides(shape.m) && divides(shape.n) && divides(shape.k);
  };
  const MatrixShape* best = nullptr;
  for (const MatrixShape& shape : traits.matrix_shapes) {
    const auto volume = [](const MatrixShape& each) { return each.m * each.n * each.k; };
    if (fits(shape) && (best == nullptr || volume(shape) > volume(*best))) best = &shape;
  }
  return best;
}

std::int64_t invocations(const MatrixTile& tile, const DeviceTraits& traits) {
  return tile.subgroups_m * tile.subgroups_n * traits.subgroup_size;
}

// Bytes of shared memory, as the kernel declares them.
std::int64_t shared_bytes(const MatrixTile& tile, std::int64_t buffers, bool b_by_depth, const MatrixShape& shape) {
  const std::int64_t depth_pitch = tile.depth + vector_size, column_pitch = tile.columns + vector_size;
  const std::int64_t a = tile.rows * depth_pitch;
  const std::int64_t b = b_by_depth ? tile.columns * depth_pitch : tile.depth * column_pitch;
  const std::int64_t stages =
      tile.subgroups_m * tile.subgroups_n * shape.m * (tile.columns / tile.subgroups_n + 4) * 4;
  return std::max(buffers * (a + b) * 2, stages);
}

bool fits_device(const MatrixTile& tile, const MatrixShape& shape, const DeviceTraits& traits) {
  const std::int64_t group = invocations(tile, traits);
  const std::int64_t loads_a = tile.rows * tile.depth / vector_size,
                     loads_b = tile.columns * tile.depth / vector_size;
  const std::int64_t shared = std::max(shared_bytes(tile, 1, true, shape), shared_bytes(tile, 1, false, shape));
  return group > 0 && group <= traits.max_group_invocations && group <= traits.max_group_size[0] &&
         loads_a % group == 0 && loads_b % group == 0 && group % (tile.depth / vector_size) == 0 &&
         tile.rows / tile.subgroups_m % shape.m == 0 && tile.columns / tile.subgroups_n % shape.n == 0 &&
         shared <= traits.max_shared_memory;
}

struct MatrixChoice {
  MatrixTile tile{};
  std::int64_t slices = 1;
};

// Microseconds that a choice takes on an H200, to 17 %: fitted to 2,000 measured choices of ResNet-50's layers, of
// which it picks ones that take 6 % more than the best. Other devices differ by factors that choices have in common.
double estimate(const Contraction& contraction, const MatrixChoice& choice, const DeviceTraits& traits,
                const SymbolValues& sizes) {
  const MatrixTile& tile = choice.tile;
  const auto size_of = [&](const Dim& dim) { return std::max<std::int64_t>(dim.evaluate(sizes), 1); };
  const auto pieces = [&](const Dim& dim, std::int64_t part) {
    return static_cast<double>(divide_up(size_of(dim), part));
  };
  const double units = std::max(traits.compute_units, 16U);
  const double batches = static_cast<double>(size_of(contraction.batches()));
  const double groups = batches * static_cast<double>(choice.slices) * pieces(contraction.rows(), tile.rows) *
                        pieces(contraction.columns, tile.columns);
  const double steps = pieces(contraction.channels * contraction.window.taps(), tile.depth * choice.slices);
  const auto group_size = static_cast<double>(invocations(tile, traits));
  // Groups that one multiprocessor has at a time, and how often it begins with new ones.
  const double on_unit = std::ceil(groups / units);
  const double resident = std::clamp(343.0 / group_size, 1.0, 2.0), together = std::min(on_unit, resident);
  const double rounds = std::ceil(on_unit / resident);
  // A step of the depth waits for its loads and the two barriers, or for the matrix units that groups share.
  const auto depth = static_cast<double>(tile.depth);
  const double loads = static_cast<double>(tile.rows + tile.columns) * depth / group_size;
  const double wait = 0.215 + 0.00227 * depth + 0.0058 * loads;
  const auto tile_size = static_cast<double>(tile.rows * tile.columns);
  const double work = together * 2 * tile_size * depth / 2.12e6;
  const double results = tile_size / group_size;
  const double store = together * results * (0.0394 + 0.000386 * results);
  const double slice_elements = static_cast<double>(choice.slices * size_of(contraction.rows())) * batches *
                                static_cast<double>(size_of(contraction.columns));
  const double start = 3.0, slicing = choice.slices > 1 ? 3.24 + 2.45e-6 * slice_elements : 0;
  return start + rounds * ((steps + 0.445) * std::max(wait, work) + store) + slicing;
}

MatrixChoice choose(const Contraction& contraction, const Emission& emission, const SymbolValues& sizes) {
  const DeviceTraits& traits = emission.traits();
  const ContractionTuning& tuning = emission.options().contraction;
  MatrixChoice best;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    if (!fits_device(tiles[i], *find_shape(traits), traits)) continue;
    if (tuning.tile && *tuning.tile != i) continue;
    // A CPU's matrices are for tests, which wait for their compiler: the least code is the best.
    if (traits.software && !tuning.tile && i + 1 != tiles.size()) continue;
    for (std::int64_t slices = 1; slices <= 16; slices = slices < 4 ? slices + 1 : slices * 2) {
      if (tuning.slices != 0 && slices != tuning.slices) continue;
      const MatrixChoice choice{tiles[i], slices};
      if (!slices_fit(contraction, tiles[i].rows, tiles[i].columns, slices, traits, sizes)) continue;
      const double time = estimate(contraction, choice, traits, sizes);
      if (time < least) {
        least = time;
        best = choice;
      }
    }
  }
  if (best.tile.rows == 0) fail(ErrorCode::unsupported, "no tile of matrix units fits device '{}'", traits.name);
  return best;
}

// As the kernel's constants stand. Two buffers are as fast as they are where both fit into what most devices have.
TiledChoice tiled(const MatrixChoice& choice, const Contraction& contraction, Emission& emission) {
  const DeviceTraits& traits = emission.traits();
  const MatrixTile& tile = choice.tile;
  const MatrixShape& shape = *find_shape(traits);
  const bool b_by_depth = tile_vectors_of_b(contraction, kernel, emission.assumptions()) == 2;
  const bool twice =
      shared_bytes(tile, 2, b_by_depth, shape) <= std::min<std::int64_t>(traits.max_shared_memory, 49152);
  const auto word = [](std::int64_t value) { return checked_cast<std::uint32_t>(value); };
  TiledChoice result{tile.rows, tile.columns, tile.depth, choice.slices, {}};
  result.constants = {word(invocations(tile, traits)),
                      traits.subgroup_size,
                      shape.m,
                      shape.n,
                      shape.k,
                      word(tile.rows),
                      word(tile.columns),
                      word(tile.depth),
                      word(tile.subgroups_m),
                      word(tile.subgroups_n),
                      twice ? 2U : 1U};
  return result;
}

}  // namespace

bool matrix_contraction_applies(const ContractionTraits& traits, const DeviceTraits& device,
                                const PlanOptions& options) {
  const bool wanted = !device.software || !options.contraction.variant.empty();
  // Narrow groups would leave most of each matrix empty.
  constexpr std::int64_t fewest_columns = 16;
  const bool wide = traits.group == 1 ||
                    (traits.columns.value_or(0) >= fewest_columns && traits.channels.value_or(0) >= fewest_columns);
  return wanted && wide && traits.stored_dtype == DType::float16 && !traits.wide_types && device.cooperative_matrix &&
         device.float16 && device.storage_16bit && device.storage_8bit && find_shape(device) != nullptr &&
         std::ranges::any_of(tiles,
                             [&](const MatrixTile& tile) { return fits_device(tile, *find_shape(device), device); });
}

OperandRequirement matrix_contraction_requirement(const ContractionTraits& traits, std::size_t operand,
                                                  std::size_t rank, const PlanOptions& options) {
  OperandRequirement requirement;
  if (operand == 1) {
    if (traits.convolution) requirement.layout = Layout::row_major(rank);
    if (!traits.convolution) requirement.multiple = vector_size;
    requirement.dtype = DType::float16;
    return requirement;
  }
  // With few channels elements are gathered one by one, from where and what they are.
  const bool vectors = traits.channels && *traits.channels % vector_size == 0;
  if (traits.convolution && !vectors) return requirement;
  if (traits.convolution && options.channels_last) requirement.layout = Layout::channels_last(rank);
  requirement.multiple = vector_size;
  requirement.dtype = DType::float16;
  return requirement;
}

void emit_matrix_contraction(Contraction& contraction, Emission& emission) {
  const MatrixChoice choice = choose(contraction, emission, emission.assumptions().sizes());
  emit_tiled_contraction(contraction, kernel, tiled(choice, contraction, emission), emission);
}

}  // namespace lapilli
