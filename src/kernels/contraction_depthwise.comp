// Convolutions in which each channel is a group of its own, channels last: an invocation computes VECTOR neighbouring
// channels of a strip of output positions, so that each weight is loaded once for the strip.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

layout(local_size_x_id = 1) in;
layout(constant_id = 2) const uint VECTOR = 8;  // channels: 4 or 8
layout(constant_id = 3) const uint STRIP = 2;   // output positions
layout(constant_id = 4) const uint ROW_RANK = 1;
layout(constant_id = 5) const uint WINDOW_RANK = 0;
layout(constant_id = 6) const uint OPERAND_DTYPES = 0x010101;  // output, A, B: one byte each
layout(constant_id = 7) const uint EPILOGUE_INPUTS = 0;
layout(constant_id = 8) const uint EPILOGUE_DTYPES = 0;
layout(constant_id = 9) const uint VECTOR_OPERANDS = 0;
layout(constant_id = 10) const uint TRANSPOSED = 0;
layout(constant_id = 11) const uint KERNEL_0 = 1;
layout(constant_id = 12) const uint KERNEL_1 = 1;
layout(constant_id = 13) const uint KERNEL_2 = 1;
layout(constant_id = 14) const uint KERNEL_3 = 1;
layout(constant_id = 15) const uint STRIDE_0 = 1;
layout(constant_id = 16) const uint STRIDE_1 = 1;
layout(constant_id = 17) const uint STRIDE_2 = 1;
layout(constant_id = 18) const uint STRIDE_3 = 1;
layout(constant_id = 19) const uint DILATION_0 = 1;
layout(constant_id = 20) const uint DILATION_1 = 1;
layout(constant_id = 21) const uint DILATION_2 = 1;
layout(constant_id = 22) const uint DILATION_3 = 1;
const uint BATCH_RANK = 0u;

#define CHAIN_ID 23
#define CHAIN_STEPS 8
#include "operands.glsl"

// Parameters: rows; columns, which are the channels; vectors of them, as a divisor.
#define LOOPS_AT 5u
#include "contraction_loops.glsl"

OUTPUT_OPERAND(out, 1)
layout(binding = 2) readonly restrict buffer F32x4_a { vec4 f32x4_a[]; };
layout(binding = 2) readonly restrict buffer U32x4_a { uvec4 u32x4_a[]; };
layout(binding = 2) readonly restrict buffer U32x2_a { uvec2 u32x2_a[]; };
layout(binding = 3) readonly restrict buffer F32x4_b { vec4 f32x4_b[]; };
INPUT_OPERAND(1, 4)
INPUT_OPERAND(2, 5)
INPUT_OPERAND(3, 6)
const uint OUTPUT_DTYPE = OPERAND_DTYPES & 0xFFu, A_DTYPE = (OPERAND_DTYPES >> 8) & 0xFFu;
#include "contraction_epilogue.glsl"

vec4 halves(uint low, uint high) { return vec4(unpackHalf2x16(low), unpackHalf2x16(high)); }

void load_channels(uint at, out vec4 values[PARTS]) {
  uvec4 words = uvec4(0u);
  if (A_DTYPE == FLOAT16 && VECTOR == 8u) words = u32x4_a[at >> 3];
  if (A_DTYPE == FLOAT16 && VECTOR == 4u) words.xy = u32x2_a[at >> 2];
  [[unroll]] for (uint v = 0u; v < PARTS; ++v) {
    if (A_DTYPE == FLOAT16) {
      values[v] = v == 0u ? halves(words.x, words.y) : halves(words.z, words.w);
    } else {
      values[v] = f32x4_a[(at >> 2) + v];
    }
  }
}

void main() {
  const uint rows = parameter(0u), columns = parameter(1u);
  const Divisor vectors = divisor_parameter(2u);
  const uint number = group_number() * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
  const uint strip = divide(number, vectors), first_row = strip * STRIP;
  if (first_row >= rows) return;
  const uint column = (number - strip * vectors.size) * VECTOR;

  uint start[STRIP];
  int window_starts[STRIP * MOST_WINDOW_AXES];
  vec4 sums[STRIP * PARTS];
  [[unroll]] for (uint r = 0u; r < STRIP; ++r) {
    find_row(min(first_row + r, rows - 1u));
    start[r] = parameter(A_AT) + (WINDOW_RANK == 0u ? row_offset(A_AT) : row_index[0] * parameter(A_AT + 1u)) + column;
    [[unroll]] for (uint axis = 0u; axis < MOST_WINDOW_AXES; ++axis) {
      if (axis < WINDOW_RANK) window_starts[r * MOST_WINDOW_AXES + axis] = window_start(axis);
    }
    [[unroll]] for (uint v = 0u; v < PARTS; ++v) sums[r * PARTS + v] = vec4(0.0);
  }
  for (uint tap = 0u; tap < TAPS; ++tap) {
    find_tap(tap);
    vec4 weights[PARTS];
    [[unroll]] for (uint v = 0u; v < PARTS; ++v) weights[v] = f32x4_b[((tap * tap_stride_b() + column) >> 2) + v];
    [[unroll]] for (uint r = 0u; r < STRIP; ++r) {
      bool inside = true;
      uint address = start[r];
      [[unroll]] for (uint axis = 0u; axis < MOST_WINDOW_AXES; ++axis) {
        if (axis >= WINDOW_RANK) continue;
        address += window_position(axis, window_starts[r * MOST_WINDOW_AXES + axis], inside) * parameter(A_AT + 2u + axis);
      }
      if (!inside) continue;
      vec4 values[PARTS];
      load_channels(address, values);
      [[unroll]] for (uint v = 0u; v < PARTS; ++v) {
        sums[r * PARTS + v] = fma(values[v], weights[v], sums[r * PARTS + v]);
      }
    }
  }
  load_immediates(IMMEDIATES_AT);
  [[unroll]] for (uint r = 0u; r < STRIP; ++r) {
    if (first_row + r >= rows) break;
    find_row(first_row + r);
    vec4 values[PARTS];
    [[unroll]] for (uint v = 0u; v < PARTS; ++v) values[v] = sums[r * PARTS + v];
    finish_vector(epilogue_row(), column, columns, values);
  }
}
