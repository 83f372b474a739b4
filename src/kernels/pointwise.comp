// A chain of pointwise steps over a nest of loops, each operand with its own strides: element-by-element operators,
// copies, transposes, slices, broadcasts and conversions of type are all this kernel.
#version 460
#extension GL_GOOGLE_include_directive : require

layout(local_size_x_id = 1) in;
layout(constant_id = 2) const uint ELEMENTS = 1;  // of one invocation
layout(constant_id = 3) const uint RANK = 1;      // loops, outermost first
layout(constant_id = 4) const uint INPUTS = 1;
layout(constant_id = 5) const uint OUTPUT_DTYPE = 1;
layout(constant_id = 6) const uint INPUT_DTYPES_LOW = 0;  // one byte each
layout(constant_id = 7) const uint INPUT_DTYPES_HIGH = 0;

#define CHAIN_ID 8
#define CHAIN_STEPS 16
#include "loops.glsl"
#include "operands.glsl"

OUTPUT_OPERAND(out, 1)
INPUT_OPERAND(0, 2)
INPUT_OPERAND(1, 3)
INPUT_OPERAND(2, 4)
INPUT_OPERAND(3, 5)
INPUT_OPERAND(4, 6)
INPUT_OPERAND(5, 7)

// Parameters: the element count; for each operand, the output first, its offset and a stride a loop; the sizes of all
// loops but the outermost as divisors; the immediates.
const uint OPERANDS_AT = 1u, OPERAND_WORDS = 1u + RANK;
const uint DIVISORS_AT = OPERANDS_AT + OPERAND_WORDS * (1u + INPUTS);
const uint IMMEDIATES_AT = DIVISORS_AT + DIVISOR_WORDS * (RANK - 1u);

uint operand_address(uint operand) { return address(OPERANDS_AT + OPERAND_WORDS * operand, RANK); }

uint input_dtype(uint i) { return ((i < 4u ? INPUT_DTYPES_LOW : INPUT_DTYPES_HIGH) >> (8u * (i & 3u))) & 0xFFu; }

void main() {
  const uint count = parameter(0u);
  const uint first = group_number() * gl_WorkGroupSize.x * ELEMENTS + gl_LocalInvocationIndex;
  load_immediates(IMMEDIATES_AT);
  for (uint i = 0u; i < ELEMENTS; ++i) {
    const uint element = first + i * gl_WorkGroupSize.x;
    if (element >= count) return;
    find_coordinates(element, RANK, DIVISORS_AT);
    if (INPUTS > 0u) load_0(input_dtype(0u), operand_address(1u), 0u);
    if (INPUTS > 1u) load_1(input_dtype(1u), operand_address(2u), 1u);
    if (INPUTS > 2u) load_2(input_dtype(2u), operand_address(3u), 2u);
    if (INPUTS > 3u) load_3(input_dtype(3u), operand_address(4u), 3u);
    if (INPUTS > 4u) load_4(input_dtype(4u), operand_address(5u), 4u);
    if (INPUTS > 5u) load_5(input_dtype(5u), operand_address(6u), 5u);
    run_chain();
    const uint result = FIRST_STEP + CHAIN_STEPS - 1u;
    convert_result(result, OUTPUT_DTYPE);
    store_out(OUTPUT_DTYPE, operand_address(0u), result);
  }
}
