// Matrix products and convolutions of real numbers on GPUs without matrix units for their type: float32 sums of factors
// that lie as float32 in shared memory. A workgroup computes a tile of rows by columns, and each invocation a block of it.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

layout(local_size_x_id = 1) in;
layout(constant_id = 2) const uint TILE_M = 64;
layout(constant_id = 3) const uint TILE_N = 64;
layout(constant_id = 4) const uint TILE_K = 16;
layout(constant_id = 5) const uint BLOCK_M = 8;  // rows of one invocation, ROW_LANES apart
layout(constant_id = 6) const uint BLOCK_N = 4;  // columns, in fours that are COLUMN_LANES fours apart
layout(constant_id = 7) const uint BUFFERS = 2;  // tiles in shared memory
layout(constant_id = 8) const uint PARTIAL = 0;  // the output takes sums of slices, without the epilogue
layout(constant_id = 9) const uint VECTORS_A = 1;  // loads of four channels; else element by element
layout(constant_id = 10) const uint VECTORS_B = 1;  // loads of 1: four columns, 2: four channels; 0: elements
layout(constant_id = 11) const uint BATCH_RANK = 0;
layout(constant_id = 12) const uint ROW_RANK = 1;
layout(constant_id = 13) const uint WINDOW_RANK = 0;
layout(constant_id = 14) const uint OPERAND_DTYPES = 0x010101;  // output, A, B: one byte each
layout(constant_id = 15) const uint EPILOGUE_INPUTS = 0;
layout(constant_id = 16) const uint EPILOGUE_DTYPES = 0;
layout(constant_id = 17) const uint VECTOR_OPERANDS = 0;
layout(constant_id = 18) const uint TRANSPOSED = 0;
layout(constant_id = 19) const uint KERNEL_0 = 1;
layout(constant_id = 20) const uint KERNEL_1 = 1;
layout(constant_id = 21) const uint KERNEL_2 = 1;
layout(constant_id = 22) const uint KERNEL_3 = 1;
layout(constant_id = 23) const uint STRIDE_0 = 1;
layout(constant_id = 24) const uint STRIDE_1 = 1;
layout(constant_id = 25) const uint STRIDE_2 = 1;
layout(constant_id = 26) const uint STRIDE_3 = 1;
layout(constant_id = 27) const uint DILATION_0 = 1;
layout(constant_id = 28) const uint DILATION_1 = 1;
layout(constant_id = 29) const uint DILATION_2 = 1;
layout(constant_id = 30) const uint DILATION_3 = 1;

#define CHAIN_ID 31
#define CHAIN_STEPS 8
#include "operands.glsl"

#define LOOPS_AT 13u
#include "contraction_loops.glsl"

OUTPUT_OPERAND(out, 1)
INPUT_OPERAND(a, 2)
INPUT_OPERAND(b, 3)
INPUT_OPERAND(1, 4)
INPUT_OPERAND(2, 5)
INPUT_OPERAND(3, 6)
layout(binding = 2) readonly restrict buffer F32x4_a { vec4 f32x4_a[]; };
layout(binding = 3) readonly restrict buffer F32x4_b { vec4 f32x4_b[]; };
#if LEVEL >= 1
layout(binding = 2) readonly restrict buffer F16x4_a { f16vec4 f16x4_a[]; };
layout(binding = 3) readonly restrict buffer F16x4_b { f16vec4 f16x4_b[]; };
#endif

const uint OUTPUT_DTYPE = OPERAND_DTYPES & 0xFFu, A_DTYPE = (OPERAND_DTYPES >> 8) & 0xFFu;
const uint B_DTYPE = (OPERAND_DTYPES >> 16) & 0xFFu;
const uint VECTOR = 4u;  // of float32: 16 bytes
#include "contraction_epilogue.glsl"

const uint ROW_LANES = TILE_M / BLOCK_M, COLUMN_LANES = TILE_N / BLOCK_N;
const uint INVOCATIONS = ROW_LANES * COLUMN_LANES;
const uint FOURS = BLOCK_N / 4u;
const uint STAGES_SIZE = 1u;

#define TILE_VECTOR vec4
#define TILE_ZERO vec4(0.0)
TILE_VECTOR tile_vector_a(uint at) {
#if LEVEL >= 1
  if (A_DTYPE == FLOAT16) return vec4(f16x4_a[at / VECTOR]);
#endif
  return f32x4_a[at / VECTOR];
}
TILE_VECTOR tile_vector_b(uint at) {
#if LEVEL >= 1
  if (B_DTYPE == FLOAT16) return vec4(f16x4_b[at / VECTOR]);
#endif
  return f32x4_b[at / VECTOR];
}
TILE_VECTOR join(float values[VECTOR]) { return vec4(values[0], values[1], values[2], values[3]); }
#include "contraction_tiles.glsl"

uint lane_row() { return gl_LocalInvocationIndex / COLUMN_LANES; }
uint lane_column() { return gl_LocalInvocationIndex % COLUMN_LANES; }
// In the tile, in units of four columns.
uint four_column(uint four) { return four * COLUMN_LANES + lane_column(); }

void store_four(Tile tile, uint number, vec4 sum) {
  const uint tile_row = lane_row() + number / FOURS * ROW_LANES, tile_column = four_column(number % FOURS) * 4u;
  const uint row = tile.first_row + tile_row, column = tile.first_column + tile_column;
  if (PARTIAL != 0u) {
    f32x4_out[(tile.partial_start + tile_row * parameter(11u) + column) / 4u] = sum;
    return;
  }
  if (row >= tile.rows || column >= columns) return;
  find_row(row);
  vec4 values[1] = {sum};
  finish_vector(epilogue_row(), column, columns, values);
}

// The sums stay in registers as long as this one function has them and names them by numbers known to the compiler.
void multiply(Tile tile) {
  vec4 sums[BLOCK_M * FOURS];
  [[unroll]] for (uint i = 0u; i < BLOCK_M * FOURS; ++i) sums[i] = vec4(0.0);
  begin_depth(tile.first);
  load_tiles(tile.first, tile.first_column);
  store_tiles(0u);
  barrier();
  uint start = 0u;
  for (uint at = tile.first; at < tile.end; at += TILE_K) {
    const bool more = at + TILE_K < tile.end;
    if (more) {
      advance_depth();
      load_tiles(at + TILE_K, tile.first_column);
    }
    const uint a_tile = start + lane_row() * A_PITCH, b_tile = start + A_SIZE;
    [[unroll]] for (uint k = 0u; k < DEPTH_VECTORS; ++k) {
      vec4 a[BLOCK_M];
      [[unroll]] for (uint m = 0u; m < BLOCK_M; ++m) a[m] = memory[a_tile + m * ROW_LANES * A_PITCH + k];
      vec4 across[4];
      [[unroll]] for (uint four = 0u; four < FOURS; ++four) {
        if (VECTORS_B == 2u) {
          [[unroll]] for (uint n = 0u; n < 4u; ++n) {
            across[n] = memory[b_tile + (four_column(four) * 4u + n) * B_PITCH + k];
          }
        }
        [[unroll]] for (uint c = 0u; c < 4u; ++c) {
          const vec4 b = VECTORS_B == 2u ? vec4(across[0][c], across[1][c], across[2][c], across[3][c])
                                         : memory[b_tile + (k * 4u + c) * B_PITCH + four_column(four)];
          [[unroll]] for (uint m = 0u; m < BLOCK_M; ++m) {
            sums[m * FOURS + four] = fma(vec4(a[m][c]), b, sums[m * FOURS + four]);
          }
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
  // A copy, which may lie in memory, so that the end is there once and not for each four.
  vec4 results[BLOCK_M * FOURS];
  [[unroll]] for (uint i = 0u; i < BLOCK_M * FOURS; ++i) results[i] = sums[i];
  for (uint i = 0u; i < BLOCK_M * FOURS; ++i) store_four(tile, i, results[i]);
}

void main() {
  Tile tile;
  if (!find_tile(tile)) return;
  if (PARTIAL == 0u) load_immediates(IMMEDIATES_AT);
  multiply(tile);
}
