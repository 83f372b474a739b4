#include "plan/contraction_tiles.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/checked.h"
#include "plan/windows.h"

namespace lapilli {
namespace {

// What the kernel loads as whole vectors: its own type, or float16, which it widens.
bool has_vectors(DType stored, const TiledKernel& kernel) {
  return stored == kernel.factors || (kernel.factors == DType::float32 && stored == DType::float16);
}

bool vectors_of_a(const Contraction& contraction, const TiledKernel& kernel, Assumptions& assumptions) {
  const ContractionOperand& a = contraction.a;
  return has_vectors(a.dtype, kernel) && a.channel == Dim(1) &&
         is_multiple(contraction.channels, kernel.vector, assumptions) &&
         rows_are_aligned(a, kernel.vector, assumptions);
}

// Of a contraction as a matrix product.
class ProductSizes {
 public:
  ProductSizes(const Contraction& contraction, const SymbolValues& sizes) {
    const auto size_of = [&](const Dim& dim) { return std::max<std::int64_t>(dim.evaluate(sizes), 1); };
    batches_ = size_of(contraction.batches());
    rows_ = size_of(contraction.rows());
    columns_ = size_of(contraction.columns);
    depth_ = size_of(contraction.channels * contraction.window.taps());
  }

  [[nodiscard]] TiledWork work(const TileSize& tile, std::int64_t slices, const DeviceTraits& traits) const {
    const auto pieces = [](std::int64_t size, std::int64_t part) {
      return static_cast<double>(divide_up(size, part));
    };
    const double groups = static_cast<double>(batches_) * static_cast<double>(slices) * pieces(rows_, tile.rows) *
                          pieces(columns_, tile.columns);
    const double sums =
        static_cast<double>(slices * rows_) * static_cast<double>(batches_) * static_cast<double>(columns_);
    TiledWork work;
    work.groups_on_unit = std::ceil(groups / std::max(traits.compute_units, 16U));
    work.steps = pieces(depth_, tile.depth * slices);
    work.slicing = slices > 1 ? 3.24 + 2.45e-6 * sums : 0;
    return work;
  }

  // Whether the partial sums of the slices can be bound.
  [[nodiscard]] bool slices_fit(const TileSize& tile, std::int64_t slices, const DeviceTraits& traits) const {
    if (slices == 1) return true;
    const double bytes = static_cast<double>(batches_ * slices) * static_cast<double>(align_up(rows_, tile.rows)) *
                         static_cast<double>(align_up(columns_, tile.columns)) * 4;
    return bytes <= static_cast<double>(std::min(traits.max_storage_range, traits.max_allocation));
  }

 private:
  std::int64_t batches_ = 1, rows_ = 1, columns_ = 1, depth_ = 1;
};

class TiledEmitter {
 public:
  TiledEmitter(Contraction& contraction, const TiledKernel& kernel, const TiledChoice& choice, Emission& emission)
      : contraction_(contraction), kernel_(kernel), choice_(choice), emission_(emission) {}

  void emit() {
    vectors_b_ = tile_vectors_of_b(contraction_, kernel_, emission_.assumptions());
    if (contraction_.weights.defined()) pack_weights(contraction_, packed_dtype(), 1, kernel_.vector, emission_);
    row_tiles_ = Dim::ceil_divide(contraction_.rows(), choice_.tile.rows);
    column_tiles_ = Dim::ceil_divide(contraction_.columns, choice_.tile.columns);
    if (choice_.slices == 1) {
      emit_product(contraction_);
      return;
    }
    const std::array shape{contraction_.batches() * choice_.slices, row_tiles_ * choice_.tile.rows,
                           column_tiles_ * choice_.tile.columns};
    const Placement sums = emission_.add_arena(DType::float32, shape, Layout::row_major(3));
    // Sizes for which they could not be bound get a structure of their own.
    (void)exceeds_bindings({&sums.storage, 1}, emission_);
    Contraction partial = contraction_;
    partial.output.storage = sums.storage;
    partial.output.window = {};
    partial.output.dtype = DType::float32;
    partial.epilogue.clear();
    partial.chain = {};
    emit_product(partial);
    emit_reduction(sums.storage);
  }

 private:
  // Half as many bytes are read where weights are stored as float16.
  [[nodiscard]] DType packed_dtype() const {
    const DType stored = emission_.stored_dtype(contraction_.weights.dtype());
    return has_vectors(stored, kernel_) ? stored : kernel_.factors;
  }

  void emit_product(const Contraction& contraction) {
    Assumptions& assumptions = emission_.assumptions();
    const DeviceTraits& traits = emission_.traits();
    const bool partial = choice_.slices > 1;
    const EncodedChain chain = encode_epilogue(contraction);
    const std::array dtypes{contraction.output.dtype, contraction.a.dtype, contraction.b.dtype};
    SymbolicDispatch dispatch;
    dispatch.kernel = kernel_.name;
    dispatch.capabilities = capability_level(contraction, chain);
    if (kernel_.factors == DType::float16) dispatch.capabilities = std::max(dispatch.capabilities, KernelLevel::base);
    if (kernel_.required_subgroup_size && traits.subgroup_size_control) {
      dispatch.subgroup_size = traits.subgroup_size;
    }
    dispatch.specialization = choice_.constants;
    const std::array<std::uint32_t, 10> common{
        partial ? 1U : 0U,
        vectors_of_a(contraction, kernel_, assumptions) ? 1U : 0U,
        vectors_b_,
        static_cast<std::uint32_t>(contraction.batch_sizes.size()),
        static_cast<std::uint32_t>(contraction.row_sizes.size()),
        static_cast<std::uint32_t>(contraction.window.rank()),
        pack_dtypes(dtypes),
        static_cast<std::uint32_t>(contraction.epilogue.size()),
        epilogue_dtypes(contraction),
        partial ? 0 : vector_operands(contraction, kernel_.vector, assumptions)};
    dispatch.specialization.insert(dispatch.specialization.end(), common.begin(), common.end());
    append_window_constants(contraction.window, dispatch.specialization);
    dispatch.specialization.insert(dispatch.specialization.end(), chain.constants.begin(), chain.constants.end());
    dispatch.bindings = contraction_bindings(contraction);
    const Dim depth = contraction.channels * contraction.window.taps();
    ParameterWriter parameters;
    parameters.value(contraction.rows()).value(contraction.columns).divisor(contraction.channels).value(depth);
    parameters.value(column_tiles_).value(row_tiles_).value(choice_.slices).value(contraction.batches());
    parameters.value(row_tiles_ * choice_.tile.rows).value(column_tiles_ * choice_.tile.columns);
    parameters.value(Dim::ceil_divide(depth, choice_.tile.depth * choice_.slices) * choice_.tile.depth);
    append_loops(contraction, parameters);
    dispatch.parameters = parameters.take();
    dispatch.parameters.insert(dispatch.parameters.end(), chain.immediates.begin(), chain.immediates.end());
    dispatch.groups = contraction.batches() * row_tiles_ * column_tiles_ * choice_.slices;
    dispatch.work = contraction.work();
    dispatch.tuned = true;
    emission_.add_dispatch(std::move(dispatch));
  }

  void emit_reduction(StorageId sums) {
    constexpr std::int64_t columns_of_invocation = 4;
    constexpr std::uint32_t group = 64;
    Contraction ending = contraction_;
    ending.window = {};
    ending.a.storage = ending.b.storage = sums;
    ending.a.window = ending.b.window = {};
    ending.a.dtype = ending.b.dtype = DType::float32;
    const EncodedChain chain = encode_epilogue(ending);
    SymbolicDispatch dispatch;
    dispatch.kernel = "contraction_reduce";
    dispatch.capabilities = capability_level(ending, chain);
    dispatch.specialization = {group,
                               static_cast<std::uint32_t>(choice_.slices),
                               static_cast<std::uint32_t>(ending.batch_sizes.size()),
                               static_cast<std::uint32_t>(ending.row_sizes.size()),
                               static_cast<std::uint32_t>(ending.output.dtype),
                               static_cast<std::uint32_t>(ending.epilogue.size()),
                               epilogue_dtypes(ending),
                               vector_operands(ending, columns_of_invocation, emission_.assumptions())};
    dispatch.specialization.insert(dispatch.specialization.end(), chain.constants.begin(), chain.constants.end());
    dispatch.bindings = contraction_bindings(ending);
    const Dim vectors = Dim::ceil_divide(ending.columns, columns_of_invocation);
    ParameterWriter parameters;
    parameters.divisor(ending.rows()).value(ending.columns).divisor(vectors).value(ending.batches());
    parameters.value(row_tiles_ * choice_.tile.rows).value(column_tiles_ * choice_.tile.columns);
    append_loops(ending, parameters);
    dispatch.parameters = parameters.take();
    dispatch.parameters.insert(dispatch.parameters.end(), chain.immediates.begin(), chain.immediates.end());
    dispatch.groups = Dim::ceil_divide(ending.batches() * ending.rows() * vectors, std::int64_t{group});
    emission_.add_dispatch(std::move(dispatch));
  }

  Contraction& contraction_;
  const TiledKernel& kernel_;
  const TiledChoice& choice_;
  Emission& emission_;
  std::uint32_t vectors_b_ = 0;
  Dim row_tiles_, column_tiles_;
};

}  // namespace

std::uint32_t tile_vectors_of_b(const Contraction& contraction, const TiledKernel& kernel, Assumptions& assumptions) {
  const ContractionOperand& b = contraction.b;
  if (contraction.weights.defined()) return 1;
  if (!has_vectors(b.dtype, kernel) || contraction.window.rank() != 0 ||
      !rows_are_aligned(b, kernel.vector, assumptions)) {
    return 0;
  }
  const auto vectors = [&](const Dim& stride, const Dim& size, const Dim& other_stride) {
    return stride == Dim(1) && is_multiple(size, kernel.vector, assumptions) &&
           is_multiple(other_stride, kernel.vector, assumptions);
  };
  if (vectors(b.column, contraction.columns, b.channel)) return 1;
  return vectors(b.channel, contraction.channels, b.column) ? 2 : 0;
}

TilePick pick_tile(const Contraction& contraction, std::span<const TileCandidate> candidates,
                   const std::function<double(std::size_t, const TiledWork&)>& estimate, Emission& emission) {
  const DeviceTraits& traits = emission.traits();
  const ContractionTuning& tuning = emission.options().contraction;
  const ProductSizes sizes(contraction, emission.assumptions().sizes());
  TilePick best;
  double least = std::numeric_limits<double>::infinity();
  for (const TileCandidate& candidate : candidates) {
    if (tuning.tile && *tuning.tile != candidate.index) continue;
    // A CPU runs this in tests alone, which wait for its compiler: the least code, which stands last, is the best.
    if (traits.software && !tuning.tile && candidate.index != candidates.back().index) continue;
    for (std::int64_t slices = 1; slices <= 16; slices = slices < 4 ? slices + 1 : slices * 2) {
      if (tuning.slices != 0 && slices != tuning.slices) continue;
      if (!sizes.slices_fit(candidate.size, slices, traits)) continue;
      const double time = estimate(candidate.index, sizes.work(candidate.size, slices, traits));
      if (time < least) {
        least = time;
        best = {candidate.index, slices};
      }
    }
  }
  if (least == std::numeric_limits<double>::infinity()) {
    fail(ErrorCode::unsupported, "no tile of a contraction fits device '{}'", traits.name);
  }
  return best;
}

void emit_tiled_contraction(Contraction& contraction, const TiledKernel& kernel, const TiledChoice& choice,
                            Emission& emission) {
  TiledEmitter(contraction, kernel, choice, emission).emit();
}

}  // namespace lapilli
