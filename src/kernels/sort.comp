// One pass of a sort: the first ranks the keys within runs of FIRST_RUN by counting, each later one merges runs by twos,
// where every key finds its place in the other run by bisection. What moves are the places of the keys.
#version 460
#extension GL_GOOGLE_include_directive : require

layout(local_size_x_id = 1) in;
layout(constant_id = 2) const uint MERGES = 0;
layout(constant_id = 3) const uint LARGEST_FIRST = 0;
layout(constant_id = 4) const uint OUTER_LOOPS = 1;  // which pick the row
layout(constant_id = 5) const uint KEY_LOOPS = 0;    // over the elements of a key; 0: it has one
layout(constant_id = 6) const uint SOURCE_DTYPE = 1;

#define CHAIN_ID 7
#define CHAIN_STEPS 8
#include "loops.glsl"
#include "operands.glsl"
#include "order.glsl"

layout(binding = 1) writeonly restrict buffer Sorted { uint sorted[]; };
layout(binding = 2) readonly restrict buffer Unsorted { uint unsorted[]; };
INPUT_OPERAND(source, 3)

// Parameters: keys in all; keys of a row (as a divisor); the length of runs; how many keys of a row are wanted; the stride
// of the source from key to key; the source and the divisors of the outer loops; elements of a key, the source's strides
// along them and their divisors.
const uint LENGTH_AT = 1u, RUN_AT = 4u, WANTED_AT = 5u, STRIDE_AT = 6u, SOURCE_AT = 7u;
const uint DIVISORS_AT = SOURCE_AT + 1u + OUTER_LOOPS;
const uint KEY_LENGTH_AT = DIVISORS_AT + DIVISOR_WORDS * (OUTER_LOOPS - 1u);
const uint KEY_STRIDES_AT = KEY_LENGTH_AT + 1u;
const uint KEY_DIVISORS_AT = KEY_STRIDES_AT + KEY_LOOPS;

uint key_offset(uint element) {
  uint result = 0u;
  for (uint loop = MOST_LOOPS - 1u; loop > 0u; --loop) {
    if (loop >= KEY_LOOPS) continue;
    const Divisor size = divisor_parameter(KEY_DIVISORS_AT + DIVISOR_WORDS * (loop - 1u));
    const uint rest = divide(element, size);
    result += (element - rest * size.size) * parameter(KEY_STRIDES_AT + loop);
    element = rest;
  }
  return result + element * parameter(KEY_STRIDES_AT);
}

// Whether the key at place `a` of the row at `row` stands before that at place `b`.
bool precedes(uint row, uint a, uint b) {
  const uint at_a = row + a * parameter(STRIDE_AT), at_b = row + b * parameter(STRIDE_AT);
  const uint elements = KEY_LOOPS == 0u ? 1u : parameter(KEY_LENGTH_AT);
  for (uint element = 0u; element < elements; ++element) {
    const uint offset = KEY_LOOPS == 0u ? 0u : key_offset(element);
    load_source(SOURCE_DTYPE, at_a + offset, 0u);
    load_source(SOURCE_DTYPE, at_b + offset, 1u);
    const int order = order_of(SOURCE_DTYPE, 0u, 1u);
    if (order != 0) return (order < 0) != (LARGEST_FIRST != 0u);
  }
  return a < b;
}

// How many of `count` sorted keys from `first` on stand before `key`.
uint bisect(uint row, uint key, uint first, uint count) {
  uint low = 0u, high = count;
  while (low < high) {
    const uint middle = (low + high) / 2u;
    if (precedes(row, unsorted[first + middle], key)) {
      low = middle + 1u;
    } else {
      high = middle;
    }
  }
  return low;
}

void main() {
  const uint element = group_number() * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
  if (element >= parameter(0u)) return;
  const Divisor length = divisor_parameter(LENGTH_AT);
  const uint row_number = divide(element, length), place = element - row_number * length.size;
  find_coordinates(row_number, OUTER_LOOPS, DIVISORS_AT);
  const uint row = address(SOURCE_AT, OUTER_LOOPS), first = row_number * length.size;
  const uint run = parameter(RUN_AT), wanted = parameter(WANTED_AT);
  const uint own = place / run * run;
  if (MERGES == 0u) {
    uint rank = 0u;
    for (uint other = own; other < min(own + run, length.size); ++other) {
      if (other != place && precedes(row, other, place)) ++rank;
    }
    if (rank < wanted) sorted[first + own + rank] = place;
    return;
  }
  // Of a run, no more than the wanted keys have been written.
  const uint offset = place - own;
  if (offset >= wanted) return;
  const bool is_left = (own / run & 1u) == 0u;
  const uint other = is_left ? own + run : own - run;
  const uint others = other < length.size ? min(min(run, length.size - other), wanted) : 0u;
  const uint key = unsorted[first + place];
  const uint rank = offset + bisect(row, key, first + other, others);
  if (rank < wanted) sorted[first + min(own, other) + rank] = key;
}
