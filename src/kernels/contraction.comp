// Matrix products and convolutions on any device, of any layout and type. Each invocation holds a block of rows by
// four columns; no shared memory and no barrier, which is the fastest form on software drivers, where caches do that
// work, and a fair one on GPUs without matrix units.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

layout(local_size_x_id = 1) in;
layout(constant_id = 2) const uint COLUMN_LANES = 1;  // invocations side by side along columns; the rest along rows
layout(constant_id = 3) const uint ROWS = 8;          // of one invocation
layout(constant_id = 4) const uint BATCH_RANK = 0;
layout(constant_id = 5) const uint ROW_RANK = 1;
layout(constant_id = 6) const uint WINDOW_RANK = 0;  // where not 0, row axes are the image and the window's axes
layout(constant_id = 7) const uint VECTORS_A = 0;    // loads of four channels
layout(constant_id = 8) const uint VECTORS_B = 0;    // loads of 1: four columns, 2: four channels
layout(constant_id = 9) const uint OWN_DTYPE = 1;    // of the sums
layout(constant_id = 10) const uint OPERAND_DTYPES = 0x010101;  // output, A, B: one byte each
layout(constant_id = 11) const uint EPILOGUE_INPUTS = 0;
layout(constant_id = 12) const uint EPILOGUE_DTYPES = 0;
layout(constant_id = 13) const uint TRANSPOSED = 0;
layout(constant_id = 14) const uint KERNEL_0 = 1;
layout(constant_id = 15) const uint KERNEL_1 = 1;
layout(constant_id = 16) const uint KERNEL_2 = 1;
layout(constant_id = 17) const uint KERNEL_3 = 1;
layout(constant_id = 18) const uint STRIDE_0 = 1;
layout(constant_id = 19) const uint STRIDE_1 = 1;
layout(constant_id = 20) const uint STRIDE_2 = 1;
layout(constant_id = 21) const uint STRIDE_3 = 1;
layout(constant_id = 22) const uint DILATION_0 = 1;
layout(constant_id = 23) const uint DILATION_1 = 1;
layout(constant_id = 24) const uint DILATION_2 = 1;
layout(constant_id = 25) const uint DILATION_3 = 1;

#define CHAIN_ID 26
#define CHAIN_STEPS 8
#include "operands.glsl"

// Parameters: rows, columns and channels; the number of batches; tiles along columns and along rows, as divisors.
#define LOOPS_AT 10u
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
const uint COLUMNS = 4u;                      // of one invocation
const uint FACTOR_A = 6u, FACTOR_B = 7u;      // registers that the epilogue does not use
const uint STEP = VECTORS_A != 0u || VECTORS_B == 2u ? 4u : 1u;  // channels at a time

vec4 sums[ROWS];
uint a_start[ROWS];                // without the window's axes
int window_starts[ROWS * MOST_WINDOW_AXES];
uint columns, channels;

float load_real_a(uint index) {
  load_a(A_DTYPE, index, FACTOR_A);
  return reals[FACTOR_A];
}

float load_real_b(uint index) {
  load_b(B_DTYPE, index, FACTOR_B);
  return reals[FACTOR_B];
}

vec4 load_vector_a(uint index) {
#if LEVEL >= 1
  if (A_DTYPE == FLOAT16) return vec4(f16x4_a[index >> 2]);
#endif
  return f32x4_a[index >> 2];
}

vec4 load_vector_b(uint index) {
#if LEVEL >= 1
  if (B_DTYPE == FLOAT16) return vec4(f16x4_b[index >> 2]);
#endif
  return f32x4_b[index >> 2];
}

// Four channels of A from `index` on, one where STEP is 1.
vec4 load_channels(uint index) {
  if (VECTORS_A != 0u) return load_vector_a(index);
  vec4 result = vec4(0.0);
  const uint stride = channel_stride_a();
  [[unroll]] for (uint c = 0u; c < STEP; ++c) result[c] = load_real_a(index + c * stride);
  return result;
}

// Four columns of B for each of STEP channels; columns past the last repeat it.
void load_columns(uint start, uint column, uint channel, out vec4 block[4]) {
  const uint channel_stride = channel_stride_b(), stride = column_stride_b();
  const uint at = start + channel * channel_stride;
  if (VECTORS_B == 2u) {
    mat4 across;
    [[unroll]] for (uint n = 0u; n < COLUMNS; ++n) {
      across[n] = load_vector_b(at + min(column + n, columns - 1u) * stride);
    }
    across = transpose(across);
    [[unroll]] for (uint c = 0u; c < STEP; ++c) block[c] = across[c];
    return;
  }
  [[unroll]] for (uint c = 0u; c < STEP; ++c) {
    if (VECTORS_B == 1u) {
      block[c] = load_vector_b(at + c * channel_stride + column);
    } else {
      [[unroll]] for (uint n = 0u; n < COLUMNS; ++n) {
        block[c][n] = load_real_b(at + c * channel_stride + min(column + n, columns - 1u) * stride);
      }
    }
  }
}

void find_rows(uint first_row, uint rows) {
  const uint start = batch_start(A_AT);
  [[unroll]] for (uint r = 0u; r < ROWS; ++r) {
    // Rows past the last repeat it; they are not stored.
    find_row(min(first_row + r, rows - 1u));
    if (WINDOW_RANK == 0u) {
      a_start[r] = start + row_offset(A_AT);
    } else {
      a_start[r] = start + row_index[0] * parameter(A_AT + 1u + BATCH_RANK);
      [[unroll]] for (uint axis = 0u; axis < MOST_WINDOW_AXES; ++axis) {
        if (axis < WINDOW_RANK) window_starts[r * MOST_WINDOW_AXES + axis] = window_start(axis);
      }
    }
  }
}

// The first channel of A that the current tap brings to row r of the block.
uint tap_address(uint r, out bool inside) {
  inside = true;
  uint address = a_start[r];
  [[unroll]] for (uint axis = 0u; axis < MOST_WINDOW_AXES; ++axis) {
    if (axis < WINDOW_RANK) {
      const uint position = window_position(axis, window_starts[r * MOST_WINDOW_AXES + axis], inside);
      address += position * parameter(A_AT + 2u + BATCH_RANK + axis);
    }
  }
  if (!inside) address = a_start[r];
  return address;
}

void multiply(uint column) {
  const uint b_start = batch_start(B_AT);
  [[unroll]] for (uint r = 0u; r < ROWS; ++r) sums[r] = vec4(0.0);
  for (uint tap = 0u; tap < TAPS; ++tap) {
    find_tap(tap);
    uint address[ROWS];
    bool inside[ROWS];
    [[unroll]] for (uint r = 0u; r < ROWS; ++r) address[r] = tap_address(r, inside[r]);
    const uint b_tap = b_start + tap * tap_stride_b(), stride = channel_stride_a();
    for (uint channel = 0u; channel < channels; channel += STEP) {
      vec4 block[4];
      load_columns(b_tap, column, channel, block);
      [[unroll]] for (uint r = 0u; r < ROWS; ++r) {
        // Padding is 0 even where B is infinite or no number, so it is chosen, not multiplied.
        const vec4 factors = load_channels(address[r] + channel * stride);
        [[unroll]] for (uint c = 0u; c < STEP; ++c) {
          sums[r] = fma(vec4(inside[r] ? factors[c] : 0.0), block[c], sums[r]);
        }
      }
    }
  }
}

// One sum of integers or doubles, into register 0.
void sum_exactly(uint r, uint column) {
  const uint b_start = batch_start(B_AT) + column * column_stride_b();
  integers[0] = INTEGER(0);
#if LEVEL >= 3
  doubles[0] = 0.0LF;
#endif
  for (uint tap = 0u; tap < TAPS; ++tap) {
    find_tap(tap);
    bool inside;
    const uint address = tap_address(r, inside);
    if (!inside) continue;
    for (uint channel = 0u; channel < channels; ++channel) {
      load_a(A_DTYPE, address + channel * channel_stride_a(), FACTOR_A);
      load_b(B_DTYPE, b_start + tap * tap_stride_b() + channel * channel_stride_b(), FACTOR_B);
#if LEVEL >= 3
      if (OWN_DTYPE == FLOAT64) doubles[0] += doubles[FACTOR_A] * doubles[FACTOR_B];
#endif
      if (OWN_DTYPE != FLOAT64) integers[0] += integers[FACTOR_A] * integers[FACTOR_B];
    }
  }
  integers[0] = narrow(OWN_DTYPE, integers[0]);
}

void store_rows(uint first_row, uint rows, uint first_column) {
  const uint output_start = batch_start(OUTPUT_AT);
  [[unroll]] for (uint r = 0u; r < ROWS; ++r) {
    if (first_row + r >= rows) break;
    find_row(first_row + r);
    [[unroll]] for (uint n = 0u; n < COLUMNS; ++n) {
      const uint column = first_column + n;
      if (column >= columns) break;
      if (is_real(OWN_DTYPE)) {
        reals[0] = sums[r][n];
      } else {
        sum_exactly(r, column);
      }
#define EPILOGUE_LOAD(i)                                                                                   \
  if (EPILOGUE_INPUTS >= i) {                                                                              \
    const uint operand = EPILOGUE_AT + ELEMENT_WORDS * (i - 1u);                                           \
    load_##i((EPILOGUE_DTYPES >> (8u * (i - 1u))) & 0xFFu,                                                 \
             batch_start(operand) + row_offset(operand) + column * column_stride(operand), i);             \
  }
      EPILOGUE_LOAD(1)
      EPILOGUE_LOAD(2)
      EPILOGUE_LOAD(3)
      run_chain();
      const uint result = FIRST_STEP + CHAIN_STEPS - 1u;
      convert_result(result, OUTPUT_DTYPE);
      store_out(OUTPUT_DTYPE, output_start + row_offset(OUTPUT_AT) + column * column_stride(OUTPUT_AT), result);
    }
  }
}

void main() {
  const uint rows = parameter(0u);
  columns = parameter(1u);
  channels = parameter(2u);
  const Divisor column_tiles = divisor_parameter(4u), row_tiles = divisor_parameter(7u);
  const uint group = group_number(), across = divide(group, column_tiles);
  const uint batch = divide(across, row_tiles);
  if (batch >= parameter(3u)) return;
  const uint row_lanes = gl_WorkGroupSize.x / COLUMN_LANES;
  const uint lane_row = row_lanes > 1u ? gl_LocalInvocationIndex / COLUMN_LANES : 0u;
  const uint lane_column = row_lanes > 1u ? gl_LocalInvocationIndex % COLUMN_LANES : gl_LocalInvocationIndex;
  const uint column = ((group - across * column_tiles.size) * COLUMN_LANES + lane_column) * COLUMNS;
  const uint first_row = ((across - batch * row_tiles.size) * row_lanes + lane_row) * ROWS;
  if (column >= columns || first_row >= rows) return;
  find_batch(batch);
  load_immediates(IMMEDIATES_AT);
  find_rows(first_row, rows);
  if (is_real(OWN_DTYPE)) multiply(column);
  store_rows(first_row, rows, column);
}
