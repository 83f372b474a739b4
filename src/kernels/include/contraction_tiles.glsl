// What contraction kernels share that pass tiles of A and B through shared memory: those of the next step of the depth
// are on their way in registers while the present ones are multiplied. The depth is the window's taps times the channels.
// The includer defines TILE_M, TILE_N, TILE_K, INVOCATIONS, BUFFERS, VECTORS_A, VECTORS_B and what contraction_loops.glsl
// needs, STAGES_SIZE, the memory that it wants for other things between steps, and
//   TILE_VECTOR, TILE_ZERO                  16 bytes of neighbouring elements, VECTOR in number
//   TILE_VECTOR tile_vector_a(uint), _b     those from an element on, which is a multiple of VECTOR
//   TILE_VECTOR join(float[VECTOR])
// Parameters: rows, columns; channels as a divisor; depth; tiles along columns and rows, slices, batches; rows and columns
// that partial sums have room for; the depth of a slice, a multiple of TILE_K. Slices of the depth leave partial sums,
// which contraction_reduce.comp adds.
#ifndef LAPILLI_CONTRACTION_TILES
#define LAPILLI_CONTRACTION_TILES

const uint FACTOR = 7u;  // a register that the epilogue does not use

// Tiles in units of VECTOR; one more in each row keeps neighbouring rows out of each other's banks.
const uint DEPTH_VECTORS = TILE_K / VECTOR, COLUMN_VECTORS = TILE_N / VECTOR;
const uint A_PITCH = DEPTH_VECTORS + 1u;
const uint B_PITCH = VECTORS_B == 2u ? DEPTH_VECTORS + 1u : COLUMN_VECTORS + 1u;
const uint A_SIZE = TILE_M * A_PITCH, B_SIZE = (VECTORS_B == 2u ? TILE_N : TILE_K) * B_PITCH;
const uint TILES_SIZE = BUFFERS * (A_SIZE + B_SIZE);
shared TILE_VECTOR memory[TILES_SIZE > STAGES_SIZE ? TILES_SIZE : STAGES_SIZE];

const uint A_LOADS = TILE_M * DEPTH_VECTORS / INVOCATIONS, B_LOADS = TILE_K * COLUMN_VECTORS / INVOCATIONS;
TILE_VECTOR a_next[A_LOADS], b_next[B_LOADS];
uint a_start[A_LOADS];
int window_starts[A_LOADS * MOST_WINDOW_AXES];
uint a_offset[A_LOADS];  // of the current tap
bool a_inside[A_LOADS];
uint tap, channel;       // of this invocation's vector of A
uint columns, channels, depth, b_start;

void find_rows(uint first_row, uint rows) {
  const uint start = batch_start(A_AT);
  [[unroll]] for (uint i = 0u; i < A_LOADS; ++i) {
    // Rows past the last repeat it; they are not stored.
    find_row(min(first_row + (i * INVOCATIONS + gl_LocalInvocationIndex) / DEPTH_VECTORS, rows - 1u));
    if (WINDOW_RANK == 0u) {
      a_start[i] = start + row_offset(A_AT);
    } else {
      a_start[i] = start + row_index[0] * parameter(A_AT + 1u + BATCH_RANK);
      [[unroll]] for (uint axis = 0u; axis < MOST_WINDOW_AXES; ++axis) {
        if (axis < WINDOW_RANK) window_starts[i * MOST_WINDOW_AXES + axis] = window_start(axis);
      }
    }
  }
}

uint tap_address(uint i, out bool inside) {
  inside = true;
  uint address = a_start[i];
  [[unroll]] for (uint axis = 0u; axis < MOST_WINDOW_AXES; ++axis) {
    if (axis < WINDOW_RANK) {
      const uint position = window_position(axis, window_starts[i * MOST_WINDOW_AXES + axis], inside);
      address += position * parameter(A_AT + 2u + BATCH_RANK + axis);
    }
  }
  return address;
}

void enter_tap() {
  find_tap(tap);
  [[unroll]] for (uint i = 0u; i < A_LOADS; ++i) {
    bool inside;
    a_offset[i] = tap_address(i, inside);
    a_inside[i] = inside && tap < TAPS && channels != 0u;
  }
}

void begin_depth(uint first) {
  const Divisor channel_count = divisor_parameter(2u);
  const uint at = first + (gl_LocalInvocationIndex % DEPTH_VECTORS) * VECTOR;
  tap = divide(at, channel_count);
  channel = at - tap * channels;
  if (VECTORS_A != 0u) enter_tap();
}

void advance_depth() {
  if (VECTORS_A == 0u) return;
  channel += TILE_K;
  if (channel < channels) return;
  do {
    channel -= channels;
    ++tap;
  } while (channel >= channels);
  enter_tap();
}

// Elements of A of which each has its own tap and channel.
TILE_VECTOR gather_a(uint i, uint first) {
  const Divisor channel_count = divisor_parameter(2u);
  float values[VECTOR];
  [[unroll]] for (uint j = 0u; j < VECTOR; ++j) {
    const uint at = first + j;
    const uint element_tap = divide(at, channel_count);
    find_tap(element_tap);
    bool inside;
    const uint address = tap_address(i, inside) + (at - element_tap * channels) * channel_stride_a();
    reals[FACTOR] = 0.0;
    if (inside && at < depth) load_a(A_DTYPE, address, FACTOR);
    values[j] = reals[FACTOR];
  }
  return join(values);
}

// Elements of B along columns.
TILE_VECTOR gather_b(uint at, uint column) {
  const uint element_tap = divide(at, divisor_parameter(2u));
  const uint address = b_start + element_tap * tap_stride_b() + (at - element_tap * channels) * channel_stride_b();
  float values[VECTOR];
  [[unroll]] for (uint j = 0u; j < VECTOR; ++j) {
    reals[FACTOR] = 0.0;
    if (at < depth && column + j < columns) load_b(B_DTYPE, address + (column + j) * column_stride_b(), FACTOR);
    values[j] = reals[FACTOR];
  }
  return join(values);
}

void load_tiles(uint first, uint first_column) {
  const uint a_depth = first + (gl_LocalInvocationIndex % DEPTH_VECTORS) * VECTOR;
  [[unroll]] for (uint i = 0u; i < A_LOADS; ++i) {
    if (VECTORS_A == 0u) {
      a_next[i] = gather_a(i, a_depth);
    } else {
      a_next[i] = TILE_ZERO;
      if (a_inside[i]) a_next[i] = tile_vector_a(a_offset[i] + channel);
    }
  }
  [[unroll]] for (uint i = 0u; i < B_LOADS; ++i) {
    const uint number = i * INVOCATIONS + gl_LocalInvocationIndex;
    b_next[i] = TILE_ZERO;
    if (VECTORS_B == 2u) {
      const uint column = first_column + number / DEPTH_VECTORS, at = first + (number % DEPTH_VECTORS) * VECTOR;
      if (column < columns && at < depth) b_next[i] = tile_vector_b(b_start + column * column_stride_b() + at);
    } else {
      const uint at = first + number / COLUMN_VECTORS, column = first_column + (number % COLUMN_VECTORS) * VECTOR;
      if (VECTORS_B == 1u) {
        // Taps lie one after the other, so that the depth has one stride.
        if (column < columns && at < depth) b_next[i] = tile_vector_b(b_start + at * channel_stride_b() + column);
      } else {
        b_next[i] = gather_b(at, column);
      }
    }
  }
}

void store_tiles(uint start) {
  [[unroll]] for (uint i = 0u; i < A_LOADS; ++i) {
    const uint number = i * INVOCATIONS + gl_LocalInvocationIndex;
    memory[start + number / DEPTH_VECTORS * A_PITCH + number % DEPTH_VECTORS] = a_next[i];
  }
  const uint across = VECTORS_B == 2u ? DEPTH_VECTORS : COLUMN_VECTORS;
  [[unroll]] for (uint i = 0u; i < B_LOADS; ++i) {
    const uint number = i * INVOCATIONS + gl_LocalInvocationIndex;
    memory[start + A_SIZE + number / across * B_PITCH + number % across] = b_next[i];
  }
}


// What this workgroup computes.
struct Tile {
  uint rows, first_row, first_column;
  uint first, end;     // of the depth
  uint partial_start;  // where its sums begin among those of all slices
};

// False where there is nothing to do.
bool find_tile(out Tile result) {
  result.rows = parameter(0u);
  columns = parameter(1u);
  channels = parameter(2u);
  depth = parameter(5u);
  const uint column_tiles = parameter(6u), row_tiles = parameter(7u), slices = parameter(8u);
  const uint group = group_number(), tiles = column_tiles * row_tiles;
  const uint tile = group % tiles, slice = group / tiles % slices, batch = group / tiles / slices;
  if (batch >= parameter(9u)) return false;
  // Bands of tiles that share their part of A and B keep both in the cache.
  const uint band_height = 8u, band = tile / (band_height * column_tiles);
  const uint band_rows = min(band_height, row_tiles - band * band_height);
  const uint in_band = tile - band * band_height * column_tiles;
  result.first_row = (band * band_height + in_band % band_rows) * TILE_M;
  result.first_column = in_band / band_rows * TILE_N;
  find_batch(batch);
  b_start = batch_start(B_AT);
  find_rows(result.first_row, result.rows);
  const uint slice_depth = parameter(12u);
  result.first = slice * slice_depth;
  result.end = min(result.first + slice_depth, depth);
  result.partial_start = ((batch * slices + slice) * parameter(10u) + result.first_row) * parameter(11u);
  return true;
}

#endif
