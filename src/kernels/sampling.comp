// Elements interpolated along some axes. What each result is made of stands in a table with a row for each place along
// each of these axes (src/kernels/sampling_table.comp).
#version 460
#extension GL_GOOGLE_include_directive : require

layout(local_size_x_id = 1) in;
layout(constant_id = 2) const uint LOOPS = 1;
layout(constant_id = 3) const uint AXES = 1;
layout(constant_id = 4) const uint TAPS = 1;  // elements along each axis; 1: rows have no weights; 0: parameters say
layout(constant_id = 5) const uint SOURCE_DTYPE = 1;
layout(constant_id = 6) const uint OUTPUT_DTYPE = 1;
layout(constant_id = 7) const uint RESULT_DTYPE = 1;  // before the chain
layout(constant_id = 8) const uint EPILOGUE_INPUTS = 0;
layout(constant_id = 9) const uint EPILOGUE_DTYPES = 0;  // one byte each

#define CHAIN_ID 10
#define CHAIN_STEPS 8
#include "source.glsl"

layout(binding = 6) readonly restrict buffer Table { uint table[]; };

// Parameters: the number of results; what lies outside; the operands: output, source, epilogue, and for each axis the
// table's row; for each axis the source's extent and stride and the elements of a result; divisors of the loops; the
// immediates.
const uint EXTRAPOLATION_AT = 1u, OPERANDS_AT = 2u, OPERAND_WORDS = 1u + LOOPS, ROWS = 2u + EPILOGUE_INPUTS;
const uint AXES_AT = OPERANDS_AT + OPERAND_WORDS * (ROWS + AXES), AXIS_WORDS = 3u;
const uint DIVISORS_AT = AXES_AT + AXIS_WORDS * AXES;
const uint IMMEDIATES_AT = DIVISORS_AT + DIVISOR_WORDS * (LOOPS - 1u);

const int OUTSIDE = int(0x80000000u);

// Where the device has double precision, types whose digits float32 does not hold have weights of two words
// (needs_double in src/plan/structure.h).
#if LEVEL >= 3
const uint WIDE_TYPES = 1u << FLOAT64 | 1u << INT16 | 1u << INT32 | 1u << INT64 | 1u << UINT16 | 1u << UINT32 | 1u << UINT64;
const bool WIDE_WEIGHTS = (WIDE_TYPES >> SOURCE_DTYPE & 1u) != 0u;
#endif

uint operand_address(uint operand) { return address(OPERANDS_AT + OPERAND_WORDS * operand, LOOPS); }

uint epilogue_address(uint i) { return operand_address(2u + i); }

struct Row {
  uint at;
  int first;
};

Row load_row(uint axis) {
  if (axis >= AXES) return Row(0u, 0);
  const uint at = operand_address(ROWS + axis);
  return Row(at, int(table[at]));
}

uint taps(uint axis) {
  return axis >= AXES ? 1u : TAPS != 0u ? TAPS : parameter(AXES_AT + AXIS_WORDS * axis + 2u);
}

REAL weight(uint axis, Row row, uint tap) {
  if (axis >= AXES) return 1.0;
  const uint at = row.at + 1u;
#if LEVEL >= 3
  if (WIDE_WEIGHTS) return packDouble2x32(uvec2(table[at + 2u * tap], table[at + 2u * tap + 1u]));
#endif
  return uintBitsToFloat(table[at + tap]);
}

// How far the element moves the source.
uint place(uint axis, Row row, uint tap) {
  if (axis >= AXES) return 0u;
  const uint at = AXES_AT + AXIS_WORDS * axis;
  return uint(clamp(row.first + int(tap), 0, int(parameter(at)) - 1)) * parameter(at + 1u);
}

void interpolate(uint source, Row row_0, Row row_1, Row row_2) {
  REAL sum = 0.0;
  for (uint a = 0u; a < taps(0u); ++a) {
    const REAL weight_0 = weight(0u, row_0, a);
    const uint source_0 = source + place(0u, row_0, a);
    for (uint b = 0u; b < taps(1u); ++b) {
      const REAL weight_1 = weight_0 * weight(1u, row_1, b);
      const uint source_1 = source_0 + place(1u, row_1, b);
      for (uint c = 0u; c < taps(2u); ++c) {
        const REAL total = weight_1 * weight(2u, row_2, c);
        // An infinity counts only where it has a weight.
        if (total == 0.0) continue;
        load_source(SOURCE_DTYPE, source_1 + place(2u, row_2, c), 0u);
        sum += total * number_register(SOURCE_DTYPE, 0u);
      }
    }
  }
  set_number_register(RESULT_DTYPE, 0u, sum);
}

void main() {
  const uint element = group_number() * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
  if (element >= parameter(0u)) return;
  find_coordinates(element, LOOPS, DIVISORS_AT);
  load_immediates(IMMEDIATES_AT);
  const Row row_0 = load_row(0u), row_1 = load_row(1u), row_2 = load_row(2u);
  const uint source = operand_address(1u);
  if (row_0.first == OUTSIDE || row_1.first == OUTSIDE || row_2.first == OUTSIDE) {
    set_number_register(RESULT_DTYPE, 0u, uintBitsToFloat(parameter(EXTRAPOLATION_AT)));
  } else if (TAPS == 1u) {
    load_source(SOURCE_DTYPE, source + place(0u, row_0, 0u) + place(1u, row_1, 0u) + place(2u, row_2, 0u), 0u);
  } else {
    interpolate(source, row_0, row_1, row_2);
  }
  store_result(operand_address(0u));
}
