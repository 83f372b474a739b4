// Matrix products and convolutions on matrix units (VK_KHR_cooperative_matrix): float16 factors, float32 sums. A
// workgroup computes a tile of rows by columns.
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

const uint SUBGROUPS = SUBGROUPS_M * SUBGROUPS_N;
const uint INVOCATIONS = SUBGROUPS * SUBGROUP_SIZE;
const uint PART_M = TILE_M / SUBGROUPS_M, PART_N = TILE_N / SUBGROUPS_N;  // of one subgroup
const uint MATRICES_M = PART_M / MATRIX_M, MATRICES_N = PART_N / MATRIX_N;

const uint STAGE_PITCH = PART_N / 4u + 1u, STAGE_SIZE = MATRIX_M * STAGE_PITCH;  // float32 sums of one subgroup
const uint STAGES_SIZE = PARTIAL != 0u ? 0u : SUBGROUPS * STAGE_SIZE;

#define TILE_VECTOR uvec4
#define TILE_ZERO uvec4(0u)
TILE_VECTOR tile_vector_a(uint at) { return u32x4_a[at / VECTOR]; }
TILE_VECTOR tile_vector_b(uint at) { return u32x4_b[at / VECTOR]; }
TILE_VECTOR join(float values[VECTOR]) {
  uvec4 result;
  [[unroll]] for (uint i = 0u; i < 4u; ++i) result[i] = packHalf2x16(vec2(values[2u * i], values[2u * i + 1u]));
  return result;
}
#include "contraction_tiles.glsl"

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
void multiply(Tile tile) {
  coopmat<float, gl_ScopeSubgroup, MATRIX_M, MATRIX_N, gl_MatrixUseAccumulator> sums[MATRICES_M * MATRICES_N];
  [[unroll]] for (uint i = 0u; i < MATRICES_M * MATRICES_N; ++i) {
    sums[i] = coopmat<float, gl_ScopeSubgroup, MATRIX_M, MATRIX_N, gl_MatrixUseAccumulator>(0.0);
  }
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
        const uint row = part_row() + m * MATRIX_M, column = tile.first_column + part_column() + n * MATRIX_N;
        coopMatStore(sums[m * MATRICES_N + n], f32_out, tile.partial_start + row * pitch + column, pitch,
                     gl_CooperativeMatrixLayoutRowMajor);
      } else {
        coopMatStore(sums[m * MATRICES_N + n], memory, stage + n * MATRIX_N / 4u, STAGE_PITCH,
                     gl_CooperativeMatrixLayoutRowMajor);
      }
    }
    if (PARTIAL != 0u) continue;
    subgroupBarrier();
    store_stage(stage, tile.first_row + part_row() + m * MATRIX_M, tile.rows, tile.first_column + part_column());
    subgroupBarrier();
  }
}

void main() {
  Tile tile;
  if (!find_tile(tile)) return;
  if (PARTIAL == 0u) load_immediates(IMMEDIATES_AT);
  multiply(tile);
}
