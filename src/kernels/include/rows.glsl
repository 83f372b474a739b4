// Rows of elements, each shared by LANES invocations of a workgroup. LANES_ADJACENT says whether the lanes of a row are
// neighbours (elements of a row are neighbours in memory) or whether neighbours have different rows (elements with the
// same place in neighbouring rows are neighbours).
//
// The includer declares both constants, with LANES a power of two that divides the workgroup; struct State; and
// combine, which joins what two lanes found.
#ifndef LAPILLI_ROWS
#define LAPILLI_ROWS

#include "real.glsl"

State combine(State own, State other);

shared State lane_states[gl_WorkGroupSize.x];

uint rows_of_group() { return gl_WorkGroupSize.x / LANES; }

uint own_lane() {
  return LANES_ADJACENT != 0u ? gl_LocalInvocationIndex & (LANES - 1u) : gl_LocalInvocationIndex / rows_of_group();
}

uint own_row() {
  const uint row = LANES_ADJACENT != 0u ? gl_LocalInvocationIndex / LANES
                                        : gl_LocalInvocationIndex - own_lane() * rows_of_group();
  return group_number() * rows_of_group() + row;
}

// What all lanes of the row found together, to each of them. Every invocation of the workgroup has to call it.
State combine_lanes(State own) {
  if (LANES == 1u) return own;
  const uint lane = own_lane(), distance = LANES_ADJACENT != 0u ? 1u : rows_of_group();
  barrier();
  lane_states[gl_LocalInvocationIndex] = own;
  for (uint lanes = LANES / 2u; lanes > 0u; lanes /= 2u) {
    barrier();
    if (lane < lanes) {
      own = combine(own, lane_states[gl_LocalInvocationIndex + lanes * distance]);
      lane_states[gl_LocalInvocationIndex] = own;
    }
  }
  barrier();
  return lane_states[gl_LocalInvocationIndex - lane * distance];
}

// A sum as `value + rest`: the rounding error of each addition is kept (Knuth's two-sum).
void add_exactly(inout REAL value, inout REAL rest, REAL summand) {
  precise const REAL total = value + summand;
  precise const REAL part = total - value;
  precise const REAL error = (value - (total - part)) + (summand - part);
  rest += error;
  value = total;
}

// Where the sum is infinite or not a number, so is the rest, which then says nothing.
REAL rounded_sum(REAL value, REAL rest) {
  return is_not_a_number(rest) || is_infinity(rest) ? value : value + rest;
}

// The sum of exponentials of all elements so far as `sum * exponential(largest)`; (-infinity, 0) before the first.
void add_exponential(inout REAL largest, inout REAL sum, REAL x) {
  if (x == -INFINITY) return;
  if (x <= largest) {
    sum += exponential(x - largest);
  } else {
    sum = sum * exponential(largest - x) + 1.0;
    largest = x;
  }
}

void add_exponentials(inout REAL largest, inout REAL sum, REAL other_largest, REAL other_sum) {
  if (other_sum == 0.0) return;
  const REAL both = is_not_a_number(other_largest) || other_largest > largest ? other_largest : largest;
  const REAL own = sum == 0.0 ? 0.0 : sum * exponential(largest - both);
  sum = own + other_sum * exponential(other_largest - both);
  largest = both;
}

#endif
