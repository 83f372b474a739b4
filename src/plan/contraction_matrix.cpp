// The variant on matrix units: src/kernels/contraction_matrix.comp.
#include <algorithm>
#include <array>
#include <cmath>

#include "base/checked.h"
#include "plan/contraction_tiles.h"

namespace lapilli {
namespace {

constexpr std::int64_t vector_size = 8;  // float16 elements of 16 bytes
constexpr TiledKernel kernel{"contraction_matrix", vector_size, DType::float16, true};

struct MatrixTile {
  TileSize size;
  std::int64_t subgroups_m, subgroups_n;
};

// Sizes fit matrix shapes of 8 and of 16.
constexpr std::array tiles{
    MatrixTile{{256, 128, 32}, 4, 2}, MatrixTile{{128, 256, 32}, 2, 4}, MatrixTile{{128, 128, 32}, 2, 4},
    MatrixTile{{128, 128, 64}, 2, 4}, MatrixTile{{128, 64, 64}, 4, 2},  MatrixTile{{64, 128, 64}, 2, 4},
    MatrixTile{{64, 64, 64}, 2, 2},   MatrixTile{{64, 64, 128}, 2, 4},  MatrixTile{{32, 64, 64}, 2, 2},
    MatrixTile{{32, 64, 128}, 2, 4},  MatrixTile{{32, 32, 128}, 2, 2},  MatrixTile{{64, 32, 128}, 4, 2},
    MatrixTile{{32, 32, 32}, 2, 2},
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
  const auto& [rows, columns, depth] = tile.size;
  const std::int64_t depth_pitch = depth + vector_size, column_pitch = columns + vector_size;
  const std::int64_t a = rows * depth_pitch;
  const std::int64_t b = b_by_depth ? columns * depth_pitch : depth * column_pitch;
  const std::int64_t stages = tile.subgroups_m * tile.subgroups_n * shape.m * (columns / tile.subgroups_n + 4) * 4;
  return std::max(buffers * (a + b) * 2, stages);
}

bool fits_device(const MatrixTile& tile, const MatrixShape& shape, const DeviceTraits& traits) {
  const std::int64_t group = invocations(tile, traits);
  const auto& [rows, columns, depth] = tile.size;
  const std::int64_t loads_a = rows * depth / vector_size, loads_b = columns * depth / vector_size;
  const std::int64_t shared = std::max(shared_bytes(tile, 1, true, shape), shared_bytes(tile, 1, false, shape));
  return group > 0 && group <= traits.max_group_invocations && group <= traits.max_group_size[0] &&
         loads_a % group == 0 && loads_b % group == 0 && group % (depth / vector_size) == 0 &&
         rows / tile.subgroups_m % shape.m == 0 && columns / tile.subgroups_n % shape.n == 0 &&
         shared <= traits.max_shared_memory;
}

// Microseconds that a cut takes on an H200, to 17 %: fitted to 2,000 measured cuts of ResNet-50's layers, of which it
// picks ones that take 6 % more than the best. Other devices differ by factors that cuts have in common.
double estimate(const MatrixTile& tile, const TiledWork& cut, const DeviceTraits& traits) {
  const auto group_size = static_cast<double>(invocations(tile, traits));
  // Groups that one multiprocessor has at a time, and how often it begins with new ones.
  const double resident = std::clamp(343.0 / group_size, 1.0, 2.0);
  const double together = std::min(cut.groups_on_unit, resident), rounds = std::ceil(cut.groups_on_unit / resident);
  // A step of the depth waits for its loads and the two barriers, or for the matrix units that groups share.
  const auto depth = static_cast<double>(tile.size.depth);
  const double loads = static_cast<double>(tile.size.rows + tile.size.columns) * depth / group_size;
  const double wait = 0.215 + 0.00227 * depth + 0.0058 * loads;
  const auto tile_size = static_cast<double>(tile.size.rows * tile.size.columns);
  const double work = together * 2 * tile_size * depth / 2.12e6;
  const double results = tile_size / group_size;
  const double store = together * results * (0.0394 + 0.000386 * results);
  return 3.0 + rounds * ((cut.steps + 0.445) * std::max(wait, work) + store) + cut.slicing;
}

TilePick choose(const Contraction& contraction, Emission& emission) {
  const DeviceTraits& traits = emission.traits();
  std::vector<TileCandidate> candidates;
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    if (fits_device(tiles[i], *find_shape(traits), traits)) candidates.push_back({i, tiles[i].size});
  }
  const auto time = [&](std::size_t i, const TiledWork& cut) { return estimate(tiles[i], cut, traits); };
  return pick_tile(contraction, candidates, time, emission);
}

// As the kernel's constants stand. Two buffers are as fast as they are where both fit into what most devices have.
TiledChoice tiled(const TilePick& pick, const Contraction& contraction, Emission& emission) {
  const DeviceTraits& traits = emission.traits();
  const MatrixTile& tile = tiles.at(pick.index);
  const MatrixShape& shape = *find_shape(traits);
  const bool b_by_depth = tile_vectors_of_b(contraction, kernel, emission.assumptions()) == 2;
  const bool twice =
      shared_bytes(tile, 2, b_by_depth, shape) <= std::min<std::int64_t>(traits.max_shared_memory, 49152);
  const auto word = [](std::int64_t value) { return checked_cast<std::uint32_t>(value); };
  TiledChoice result{tile.size, pick.slices, {}};
  result.constants = {word(invocations(tile, traits)),
                      traits.subgroup_size,
                      shape.m,
                      shape.n,
                      shape.k,
                      word(tile.size.rows),
                      word(tile.size.columns),
                      word(tile.size.depth),
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
  const TilePick pick = choose(contraction, emission);
  emit_tiled_contraction(contraction, kernel, tiled(pick, contraction, emission), emission);
}

}  // namespace lapilli
