// Adds the partial sums that slices of a contraction's depth have left (contraction_matrix.comp), always in the same
// order, and ends it: one invocation for four columns of a row.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

layout(local_size_x_id = 1) in;
layout(constant_id = 2) const uint SLICES = 2;
layout(constant_id = 3) const uint BATCH_RANK = 0;
layout(constant_id = 4) const uint ROW_RANK = 1;
layout(constant_id = 5) const uint OUTPUT_DTYPE = 2;
layout(constant_id = 6) const uint EPILOGUE_INPUTS = 0;
layout(constant_id = 7) const uint EPILOGUE_DTYPES = 0;
layout(constant_id = 8) const uint VECTOR_OPERANDS = 0;
const uint WINDOW_RANK = 0u, TRANSPOSED = 0u;
const uint KERNEL_0 = 1u, KERNEL_1 = 1u, KERNEL_2 = 1u, KERNEL_3 = 1u;
const uint STRIDE_0 = 1u, STRIDE_1 = 1u, STRIDE_2 = 1u, STRIDE_3 = 1u;
const uint DILATION_0 = 1u, DILATION_1 = 1u, DILATION_2 = 1u, DILATION_3 = 1u;

#define CHAIN_ID 9
#define CHAIN_STEPS 8
#include "operands.glsl"

// Parameters: rows as a divisor; columns; vectors in a row as a divisor; batches; rows and columns of one slice.
#define LOOPS_AT 10u
#include "contraction_loops.glsl"

OUTPUT_OPERAND(out, 1)
layout(binding = 2) readonly restrict buffer Partial { vec4 partial_sums[]; };
layout(binding = 3) readonly restrict buffer Unused { vec4 unused[]; };
INPUT_OPERAND(1, 4)
INPUT_OPERAND(2, 5)
INPUT_OPERAND(3, 6)
const uint VECTOR = 4u;
#include "contraction_epilogue.glsl"

void main() {
  const Divisor rows = divisor_parameter(0u), vectors = divisor_parameter(4u);
  const uint columns = parameter(3u);
  const uint number = group_number() * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
  const uint line = divide(number, vectors), batch = divide(line, rows);
  if (batch >= parameter(7u)) return;
  const uint row = line - batch * rows.size, column = (number - line * vectors.size) * VECTOR;
  const uint slice_size = parameter(8u) * parameter(9u);
  const uint at = batch * SLICES * slice_size + row * parameter(9u) + column;
  vec4 values[1] = {vec4(0.0)};
  [[unroll]] for (uint slice = 0u; slice < SLICES; ++slice) {
    values[0] += partial_sums[(at + slice * slice_size) / VECTOR];
  }
  find_batch(batch);
  find_row(row);
  load_immediates(IMMEDIATES_AT);
  finish_vector(epilogue_row(), column, columns, values);
}
