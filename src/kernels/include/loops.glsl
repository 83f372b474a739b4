// Nested loops, outermost first, over operands that each have a stride for each loop. In the parameters an operand is
// its offset and its strides; the sizes of all loops but the outermost are divisors.
#ifndef LAPILLI_LOOPS
#define LAPILLI_LOOPS

#include "parameters.glsl"

const uint MOST_LOOPS = 8u;

uint coordinates[MOST_LOOPS];

void find_coordinates(uint element, uint loops, uint divisors_at) {
  for (uint loop = MOST_LOOPS - 1u; loop > 0u; --loop) {
    if (loop >= loops) continue;
    const Divisor size = divisor_parameter(divisors_at + DIVISOR_WORDS * (loop - 1u));
    const uint rest = divide(element, size);
    coordinates[loop] = element - rest * size.size;
    element = rest;
  }
  coordinates[0] = element;
}

// Of the operand whose parameters begin at `operand_at`, at the coordinates found last.
uint address(uint operand_at, uint loops) {
  uint result = parameter(operand_at);
  for (uint loop = 0u; loop < MOST_LOOPS; ++loop) {
    if (loop < loops) result += coordinates[loop] * parameter(operand_at + 1u + loop);
  }
  return result;
}

#endif
