// The plain variant: src/kernels/contraction.comp. It takes every contraction.
#include <algorithm>
#include <bit>

#include "plan/contraction.h"

namespace lapilli {
namespace {

constexpr std::int64_t columns_of_invocation = 4;

bool has_vector_loads(DType dtype) { return dtype == DType::float32 || dtype == DType::float16; }

bool vectors_of_a(const Contraction& contraction, Assumptions& assumptions) {
  return has_vector_loads(contraction.a.dtype) && contraction.a.channel == Dim(1) &&
         is_multiple(contraction.channels, 4, assumptions) && rows_are_aligned(contraction.a, 4, assumptions);
}

// 0: element by element, 1: four columns, 2: four channels at a time.
std::uint32_t vectors_of_b(const Contraction& contraction, Assumptions& assumptions) {
  const ContractionOperand& b = contraction.b;
  if (!has_vector_loads(b.dtype) || !rows_are_aligned(b, 4, assumptions)) return 0;
  if (contraction.weights.defined()) return 1;  // packed with columns padded
  const bool taps = is_multiple(b.tap, 4, assumptions);
  if (taps && b.column == Dim(1) && is_multiple(contraction.columns, 4, assumptions) &&
      is_multiple(b.channel, 4, assumptions)) {
    return 1;
  }
  if (taps && b.channel == Dim(1) && is_multiple(contraction.channels, 4, assumptions) &&
      is_multiple(b.column, 4, assumptions)) {
    return 2;
  }
  return 0;
}

struct PlainTile {
  std::uint32_t invocations = 8, column_lanes = 8, rows = 8;
  [[nodiscard]] std::int64_t height() const { return std::int64_t{invocations / column_lanes} * rows; }
  [[nodiscard]] std::int64_t width() const { return column_lanes * columns_of_invocation; }
};

// How the work is cut only concerns speed, so the sizes at hand decide without becoming an assumption.
PlainTile choose_tile(const Contraction& contraction, const DeviceTraits& traits, const SymbolValues& sizes) {
  const auto size_of = [&](const Dim& dim) {
    return static_cast<std::uint64_t>(std::clamp<std::int64_t>(dim.evaluate(sizes), 1, std::int64_t{1} << 30));
  };
  const std::uint64_t rows = size_of(contraction.rows());
  const std::uint64_t blocks = (size_of(contraction.columns) + columns_of_invocation - 1) / columns_of_invocation;
  PlainTile tile;
  tile.rows = static_cast<std::uint32_t>(std::min<std::uint64_t>(8, std::bit_ceil(rows)));
  if (traits.software) {
    // Small groups without waste: one subgroup shares its rows.
    tile.column_lanes = static_cast<std::uint32_t>(std::min<std::uint64_t>(8, std::bit_ceil(blocks)));
    return tile;
  }
  tile.invocations = std::min<std::uint32_t>(128, traits.max_group_invocations);
  tile.column_lanes = static_cast<std::uint32_t>(std::min<std::uint64_t>(16, std::bit_ceil(blocks)));
  // Enough invocations for every multiprocessor come before rows that share their loads of B.
  const std::uint64_t wanted = 512 * std::uint64_t{std::max(traits.compute_units, 16U)};
  const std::uint64_t pieces = size_of(contraction.batches()) * blocks;
  while (tile.rows > 1 && pieces * rows / tile.rows < wanted) tile.rows /= 2;
  return tile;
}

DType packed_dtype(const Contraction& contraction, const Emission& emission) {
  const DType stored = emission.stored_dtype(contraction.weights.dtype());
  return stored == DType::bfloat16 ? DType::float32 : stored;
}

}  // namespace

void emit_plain_contraction(Contraction& contraction, Emission& emission) {
  Assumptions& assumptions = emission.assumptions();
  if (contraction.weights.defined()) {
    pack_weights(contraction, packed_dtype(contraction, emission), 1, columns_of_invocation, emission);
  }
  const PlainTile tile = choose_tile(contraction, emission.traits(), assumptions.sizes());
  const EncodedChain chain = encode_epilogue(contraction);
  const std::array operand_dtypes{contraction.output.dtype, contraction.a.dtype, contraction.b.dtype};

  SymbolicDispatch dispatch;
  dispatch.kernel = "contraction";
  dispatch.capabilities = std::max(capability_level(contraction, chain), level_of(register_dtype(contraction.dtype)));
  dispatch.specialization = {tile.invocations,
                             tile.column_lanes,
                             tile.rows,
                             static_cast<std::uint32_t>(contraction.batch_sizes.size()),
                             static_cast<std::uint32_t>(contraction.row_sizes.size()),
                             static_cast<std::uint32_t>(contraction.window.rank()),
                             vectors_of_a(contraction, assumptions) ? 1U : 0U,
                             vectors_of_b(contraction, assumptions),
                             static_cast<std::uint32_t>(register_dtype(contraction.dtype)),
                             pack_dtypes(operand_dtypes),
                             static_cast<std::uint32_t>(contraction.epilogue.size()),
                             epilogue_dtypes(contraction)};
  append_window_constants(contraction.window, dispatch.specialization);
  dispatch.specialization.insert(dispatch.specialization.end(), chain.constants.begin(), chain.constants.end());
  dispatch.bindings = contraction_bindings(contraction);

  const Dim column_tiles = Dim::ceil_divide(contraction.columns, tile.width());
  const Dim row_tiles = Dim::ceil_divide(contraction.rows(), tile.height());
  ParameterWriter parameters;
  parameters.value(contraction.rows()).value(contraction.columns).value(contraction.channels);
  parameters.value(contraction.batches()).divisor(column_tiles).divisor(row_tiles);
  append_loops(contraction, parameters);
  dispatch.parameters = parameters.take();
  dispatch.parameters.insert(dispatch.parameters.end(), chain.immediates.begin(), chain.immediates.end());
  dispatch.groups = contraction.batches() * row_tiles * column_tiles;
  dispatch.work = contraction.work();
  dispatch.tuned = true;
  emission.add_dispatch(std::move(dispatch));
}

}  // namespace lapilli
