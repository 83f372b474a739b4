// How many elements of a sorted row stand before each value.
#version 460
#extension GL_GOOGLE_include_directive : require

layout(local_size_x_id = 1) in;
layout(constant_id = 2) const uint EQUALS = 0;  // whether equal elements count too
layout(constant_id = 3) const uint LOOPS = 1;
layout(constant_id = 4) const uint ROW_DTYPE = 1;
layout(constant_id = 5) const uint VALUE_DTYPE = 1;

#define CHAIN_ID 6
#define CHAIN_STEPS 8
#include "loops.glsl"
#include "operands.glsl"
#include "order.glsl"

layout(binding = 1) writeonly restrict buffer Counts { uint counts[]; };
INPUT_OPERAND(row, 2)
INPUT_OPERAND(value, 3)

// Parameters: values; elements of a row and their stride; the operands: counts, rows, values; divisors of the loops.
const uint LENGTH_AT = 1u, STRIDE_AT = 2u, OPERANDS_AT = 3u, OPERAND_WORDS = 1u + LOOPS;
const uint DIVISORS_AT = OPERANDS_AT + 3u * OPERAND_WORDS;

void main() {
  const uint element = group_number() * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
  if (element >= parameter(0u)) return;
  find_coordinates(element, LOOPS, DIVISORS_AT);
  const uint row = address(OPERANDS_AT + OPERAND_WORDS, LOOPS);
  load_value(VALUE_DTYPE, address(OPERANDS_AT + 2u * OPERAND_WORDS, LOOPS), 1u);
  uint low = 0u, high = parameter(LENGTH_AT);
  while (low < high) {
    const uint middle = (low + high) / 2u;
    load_row(ROW_DTYPE, row + middle * parameter(STRIDE_AT), 0u);
    const int order = order_of(ROW_DTYPE, 0u, 1u);
    if (order < 0 || (order == 0 && EQUALS != 0u)) {
      low = middle + 1u;
    } else {
      high = middle;
    }
  }
  counts[address(OPERANDS_AT, LOOPS)] = low;
}
