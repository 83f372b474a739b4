// Matrix products and convolutions on matrix units (VK_KHR_cooperative_matrix): float16 factors, float32 sums. A
// workgroup computes a tile of rows by columns; tiles of A and B go through shared memory, and those of the next step
// are already on their way in registers while the matrix units work on the present ones. The depth, which is the window's taps
// times the channels, may be cut into slices, whose partial sums contraction_reduce.comp adds.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#pragma use_vulkan_memory_model

layout(local_size_x_id = 1) in;
layout(constant_id = 2) const uint SUBGROUP_SIZE = 32;
layout(constant_id = 3) const uint MATRIX_M = 16;  // the shape that the units multiply
layout(constant_id = 4) const uint MATRIX_N = 16;
layout(constant_id = 5) const uint MATRIX_K = 16;
layout(constant_id = 6) const uint TILE_M = 64;
layout(constant_id = 7) const uint TILE_N = 64;
layout(constant_id = 8) const uint TILE_K = 32;
layout(constant_id = 9) const uint SUBGROUPS_M = 2;  // how subgroups share the tile
layout(constant_id = 10) const uint SUBGROUPS_N = 2;
layout(constant_id = 11) const uint BUFFERS = 2;   // tiles in shared memory
layout(constant_id = 12) const uint PARTIAL = 0;   // the output takes sums of slices, without the epilogue
layout(constant_id = 13) const uint VECTORS_A = 1;  // loads of eight channels; else element by element
layout(constant_id = 14) const uint VECTORS_B = 1;  // loads of 1: eight columns, 2: eight channels; 0: elements
layout(constant_id = 15) const uint BATCH_RANK = 0;
layout(constant_id = 16) const uint ROW_RANK = 1;
layout(constant_id = 17) const uint WINDOW_RANK = 0;
layout(constant_id = 18) const uint OPERAND_DTYPES = 0x020202;  // output, A, B: one byte each
layout(constant_id = 19) const uint EPILOGUE_INPUTS = 0;
layout(constant_id = 20) const uint EPILOGUE_DTYPES = 0;
layout(constant_id = 21) const uint VECTOR_OPERANDS = 0;
layout(constant_id = 22) const uint TRANSPOSED = 0;
layout(constant_id = 23) const uint KERNEL_0 = 1;
layout(constant_id = 24) const uint KERNEL_1 = 1;
layout(constant_id = 25) const uint KERNEL_2 = 1;
layout(constant_id = 26) const uint KERNEL_3 = 1;
layout(constant_id = 27) const uint STRIDE_0 = 1;
layout(constant_id = 28) const uint STRIDE_1 = 1;
layout(constant_id = 29) const uint STRIDE_2 = 1;
layout(constant_id = 30) const uint STRIDE_3 = 1;
layout(constant_id = 31) const uint DILATION_0 = 1;
layout(constant_id = 32) const uint DILATION_1 = 1;
layout(constant_id = 33) const uint DILATION_2 = 1;
layout(constant_id = 34) const uint DILATION_3 = 1;

#define CHAIN_ID 35
#define CHAIN_STEPS 8
#include "operands.glsl"

// Parameters: rows, columns; channels as a divisor; depth; tiles along columns and rows, slices, batches; rows and
// columns that partial sums have room for; the depth of a slice, a multiple of TILE_K.
#define LOOPS_AT 13u
#include "contraction_loops.glsl"

OUTPUT_OPERAND(out, 1)
INPUT_OPERAND(a, 2)
INPUT_OPERAND(b, 3)
INPUT_OPERAND(1, 4)
INPUT_OPERAND(2, 5)
INPUT_OPERAND(3, 6)
layout(binding = 2) readonly restrict buffer U32x4_a { uvec4 u32x4_a[]; };
layout(binding = 3) readonly restrict buffer U32x4_b { uvec4 u32x4_b[]; };

const uint OUTPUT_DTYPE = OPERAND_DTYPES & 0xFFu, A_DTYPE = (OPERAND_DTYPES >> 8) & 0xFFu;
const uint B_DTYPE = (OPERAND_DTYPES >> 16) & 0xFFu;
const uint VECTOR = 8u;  // of float16: 16 bytes
#include "contraction_epilogue.glsl"

const uint FACTOR = 7u;  // a register that the epilogue does not use
const uint SUBGROUPS = SUBGROUPS_M * SUBGROUPS_N;
const uint INVOCATIONS = SUBGROUPS * SUBGROUP_SIZE;
const uint PART_M = TILE_M / SUBGROUPS_M, PART_N = TILE_N / SUBGROUPS_N;  // of one subgroup
const uint MATRICES_M = PART_M / MATRIX_M, MATRICES_N = PART_N / MATRIX_N;

// Tiles in units of VECTOR; one more in each row keeps neighbouring rows out of each other's banks.
const uint DEPTH_VECTORS = TILE_K / VECTOR, COLUMN_VECTORS = TILE_N / VECTOR;
const uint A_PITCH = DEPTH_VECTORS + 1u;
const uint B_PITCH = VECTORS_B == 2u ? DEPTH_VECTORS + 1u : COLUMN_VECTORS + 1u;
const uint A_SIZE = TILE_M * A_PITCH, B_SIZE = (VECTORS_B == 2u ? TILE_N : TILE_K) * B_PITCH;
const uint TILES_SIZE = BUFFERS * (A_SIZE + B_SIZE);
const uint STAGE_PITCH = PART_N / 4u + 1u, STAGE_SIZE = MATRIX_M * STAGE_PITCH;  // float32 sums of one subgroup
const uint STAGES_SIZE = PARTIAL != 0u ? 0u : SUBGROUPS * STAGE_SIZE;
shared uvec4 memory[TILES_SIZE > STAGES_SIZE ? TILES_SIZE : STAGES_SIZE];

const uint A_LOADS = TILE_M * DEPTH_VECTORS / INVOCATIONS, B_LOADS = TILE_K * COLUMN_VECTORS / INVOCATIONS;
uvec4 a_next[A_LOADS], b_next[B_LOADS];
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

uint pack_halves(float low, float high) { return packHalf2x16(vec2(low, high)); }

// Eight elements of A of which each has its own tap and channel.
uvec4 gather_a(uint i, uint first) {
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
  return uvec4(pack_halves(values[0], values[1]), pack_halves(values[2], values[3]),
               pack_halves(values[4], values[5]), pack_halves(values[6], values[7]));
}

// Eight elements of B along columns.
uvec4 gather_b(uint at, uint column) {
  const uint element_tap = divide(at, divisor_parameter(2u));
  const uint address = b_start + element_tap * tap_stride_b() + (at - element_tap * channels) * channel_stride_b();
  float values[VECTOR];
  [[unroll]] for (uint j = 0u; j < VECTOR; ++j) {
    reals[FACTOR] = 0.0;
    if (at < depth && column + j < columns) load_b(B_DTYPE, address + (column + j) * column_stride_b(), FACTOR);
    values[j] = reals[FACTOR];
  }
  return uvec4(pack_halves(values[0], values[1]), pack_halves(values[2], values[3]),
               pack_halves(values[4], values[5]), pack_halves(values[6], values[7]));
}

void load_tiles(uint first, uint first_column) {
  const uint a_depth = first + (gl_LocalInvocationIndex % DEPTH_VECTORS) * VECTOR;
  [[unroll]] for (uint i = 0u; i < A_LOADS; ++i) {
    if (VECTORS_A == 0u) {
      a_next[i] = gather_a(i, a_depth);
    } else {
      a_next[i] = uvec4(0u);
      if (a_inside[i]) a_next[i] = u32x4_a[(a_offset[i] + channel) / VECTOR];
    }
  }
  [[unroll]] for (uint i = 0u; i < B_LOADS; ++i) {
    const uint number = i * INVOCATIONS + gl_LocalInvocationIndex;
    b_next[i] = uvec4(0u);
    if (VECTORS_B == 2u) {
      const uint column = first_column + number / DEPTH_VECTORS, at = first + (number % DEPTH_VECTORS) * VECTOR;
      if (column < columns && at < depth) b_next[i] = u32x4_b[(b_start + column * column_stride_b() + at) / VECTOR];
    } else {
      const uint at = first + number / COLUMN_VECTORS, column = first_column + (number % COLUMN_VECTORS) * VECTOR;
      if (VECTORS_B == 1u) {
        // Taps lie one after the other, so that the depth has one stride.
        if (column < columns && at < depth) b_next[i] = u32x4_b[(b_start + at * channel_stride_b() + column) / VECTOR];
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

// Where a subgroup's part of the tile begins.
uint part_row() { return gl_SubgroupID / SUBGROUPS_N * PART_M; }
uint part_column() { return gl_SubgroupID % SUBGROUPS_N * PART_N; }

// One row of matrices, which lies in shared memory, so that each invocation knows which sums it has.
void store_stage(uint stage, uint first_row, uint rows, uint first_column) {
  for (uint i = gl_SubgroupInvocationID; i < MATRIX_M * PART_N / VECTOR; i += SUBGROUP_SIZE) {
    const uint stage_row = i / (PART_N / VECTOR), stage_column = i % (PART_N / VECTOR);
    const uint row = first_row + stage_row, column = first_column + stage_column * VECTOR;
    if (row >= rows || column >= columns) continue;
    const uint at = stage + stage_row * STAGE_PITCH + stage_column * 2u;
    vec4 values[2] = {uintBitsToFloat(memory[at]), uintBitsToFloat(memory[at + 1u])};
    find_row(row);
    finish_vector(epilogue_row(), column, columns, values);
  }
}

// The sums of the tile, of a depth from `first` to `end`. They stay in registers as long as this one function has them.
void multiply(uint first, uint end, uint first_row, uint rows, uint first_column, uint partial_start) {
  coopmat<float, gl_ScopeSubgroup, MATRIX_M, MATRIX_N, gl_MatrixUseAccumulator> sums[MATRICES_M * MATRICES_N];
  [[unroll]] for (uint i = 0u; i < MATRICES_M * MATRICES_N; ++i) {
    sums[i] = coopmat<float, gl_ScopeSubgroup, MATRIX_M, MATRIX_N, gl_MatrixUseAccumulator>(0.0);
  }
  begin_depth(first);
  load_tiles(first, first_column);
  store_tiles(0u);
  barrier();
  uint start = 0u;
  for (uint at = first; at < end; at += TILE_K) {
    const bool more = at + TILE_K < end;
    if (more) {
      advance_depth();
      load_tiles(at + TILE_K, first_column);
    }
    const uint a_tile = start + part_row() * A_PITCH, b_tile = start + A_SIZE;
    [[unroll]] for (uint k = 0u; k < TILE_K; k += MATRIX_K) {
      coopmat<float16_t, gl_ScopeSubgroup, MATRIX_M, MATRIX_K, gl_MatrixUseA> a[MATRICES_M];
      [[unroll]] for (uint m = 0u; m < MATRICES_M; ++m) {
        coopMatLoad(a[m], memory, a_tile + m * MATRIX_M * A_PITCH + k / VECTOR, A_PITCH,
                    gl_CooperativeMatrixLayoutRowMajor);
      }
      [[unroll]] for (uint n = 0u; n < MATRICES_N; ++n) {
        coopmat<float16_t, gl_ScopeSubgroup, MATRIX_K, MATRIX_N, gl_MatrixUseB> b;
        if (VECTORS_B == 2u) {
          coopMatLoad(b, memory, b_tile + (part_column() + n * MATRIX_N) * B_PITCH + k / VECTOR, B_PITCH,
                      gl_CooperativeMatrixLayoutColumnMajor);
        } else {
          coopMatLoad(b, memory, b_tile + k * B_PITCH + (part_column() + n * MATRIX_N) / VECTOR, B_PITCH,
                      gl_CooperativeMatrixLayoutRowMajor);
        }
        [[unroll]] for (uint m = 0u; m < MATRICES_M; ++m) {
          sums[m * MATRICES_N + n] = coopMatMulAdd(a[m], b, sums[m * MATRICES_N + n]);
        }
      }
    }
    if (BUFFERS == 1u) {
      barrier();
    } else {
      start = A_SIZE + B_SIZE - start;
    }
    if (more) store_tiles(start);
    barrier();
  }
  const uint stage = gl_SubgroupID * STAGE_SIZE, pitch = parameter(11u);
  [[unroll]] for (uint m = 0u; m < MATRICES_M; ++m) {
    [[unroll]] for (uint n = 0u; n < MATRICES_N; ++n) {
      if (PARTIAL != 0u) {
        const uint row = part_row() + m * MATRIX_M, column = first_column + part_column() + n * MATRIX_N;
        coopMatStore(sums[m * MATRICES_N + n], f32_out, partial_start + row * pitch + column, pitch,
                     gl_CooperativeMatrixLayoutRowMajor);
      } else {
        coopMatStore(sums[m * MATRICES_N + n], memory, stage + n * MATRIX_N / 4u, STAGE_PITCH,
                     gl_CooperativeMatrixLayoutRowMajor);
      }
    }
    if (PARTIAL != 0u) continue;
    subgroupBarrier();
    store_stage(stage, first_row + part_row() + m * MATRIX_M, rows, first_column + part_column());
    subgroupBarrier();
  }
}

void main() {
  const uint rows = parameter(0u);
  columns = parameter(1u);
  channels = parameter(2u);
  depth = parameter(5u);
  const uint column_tiles = parameter(6u), row_tiles = parameter(7u), slices = parameter(8u);
  const uint group = group_number(), tiles = column_tiles * row_tiles;
  const uint tile = group % tiles, slice = group / tiles % slices, batch = group / tiles / slices;
  if (batch >= parameter(9u)) return;
  // Bands of tiles that share their part of A and B keep both in the cache.
  const uint band_height = 8u, band = tile / (band_height * column_tiles);
  const uint band_rows = min(band_height, row_tiles - band * band_height);
  const uint in_band = tile - band * band_height * column_tiles;
  const uint first_row = (band * band_height + in_band % band_rows) * TILE_M;
  const uint first_column = in_band / band_rows * TILE_N;
  find_batch(batch);
  b_start = batch_start(B_AT);
  find_rows(first_row, rows);
  const uint slice_depth = parameter(12u), first = slice * slice_depth;
  if (PARTIAL == 0u) load_immediates(IMMEDIATES_AT);
  const uint partial_start = ((batch * slices + slice) * parameter(10u) + first_row) * parameter(11u);
  multiply(first, min(first + slice_depth, depth), first_row, rows, first_column, partial_start);
}
