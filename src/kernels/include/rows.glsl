// Rows of elements, each shared by LANES invocations of a workgroup. LANES_ADJACENT says whether the lanes of a row are
// neighbours (elements of a row are neighbours in memory) or whether neighbours have different rows (elements with the
// same place in neighbouring rows are neighbours).
//
// The includer declares both constants, with LANES a power of two that divides the workgroup; struct State; and
// combine, which joins what two lanes found.
#ifndef LAPILLI_ROWS
#define LAPILLI_ROWS

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
void add_exactly(inout float value, inout float rest, float summand) {
  precise const float total = value + summand;
  precise const float part = total - value;
  precise const float error = (value - (total - part)) + (summand - part);
  rest += error;
  value = total;
}

// Where the sum is infinite or not a number, so is the rest, which then says nothing.
float rounded_sum(float value, float rest) {
  return is_not_a_number(rest) || is_infinity(rest) ? value : value + rest;
}

// The sum of exponentials of all elements so far as `sum * exp(largest)`; (-infinity, 0) before the first.
void add_exponential(inout float largest, inout float sum, float x) {
  if (x == -INFINITY) return;
  if (x <= largest) {
    sum += exp(x - largest);
  } else {
    sum = sum * exp(largest - x) + 1.0;
    largest = x;
  }
}

void add_exponentials(inout float largest, inout float sum, float other_largest, float other_sum) {
  if (other_sum == 0.0) return;
  const float both = is_not_a_number(other_largest) || other_largest > largest ? other_largest : largest;
  const float own = sum == 0.0 ? 0.0 : sum * exp(largest - both);
  sum = own + other_sum * exp(other_largest - both);
  largest = both;
}

#endif
