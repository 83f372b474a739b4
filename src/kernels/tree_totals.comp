// What the leaves that a row has come to say of a target, put together: each row and target is shared by some lanes.
#version 460
#extension GL_GOOGLE_include_directive : require

layout(local_size_x_id = 1) in;
layout(constant_id = 2) const uint LANES = 1;
layout(constant_id = 3) const uint FUNCTION_CODE = 0;
const uint LANES_ADJACENT = 1u;

#include "tree.glsl"

#define FUNCTION(name, code) const uint R_##name = code;
#include "reduction_functions.def"
#undef FUNCTION

layout(binding = 1) writeonly restrict buffer Totals { REAL totals[]; };
layout(binding = 2) readonly restrict buffer Leaves { int leaves[]; };
layout(binding = 3) readonly restrict buffer Starts { uint starts[]; };
layout(binding = 4) readonly restrict buffer Targets { uint targets[]; };
layout(binding = 5) readonly restrict buffer Weights { REAL weights[]; };

// Parameters: results; targets (as a divisor); trees; offset of the results.
const uint TARGETS_AT = 1u, TREES_AT = 4u, TOTALS_AT = 5u;

struct State {
  REAL value, rest;  // a sum and its rounding error
  bool found;
};

#include "rows.glsl"

State combine(State own, State other) {
  if (!other.found) return own;
  if (!own.found) return other;
  if (FUNCTION_CODE == R_sum) {
    add_exactly(own.value, own.rest, other.value);
    own.rest += other.rest;
  } else {
    own.value = FUNCTION_CODE == R_minimum ? min(own.value, other.value) : max(own.value, other.value);
  }
  return own;
}

// The share of a leaf on a target; those of a leaf are in the order of their targets.
uint find_share(uint leaf, uint target) {
  uint low = starts[leaf], high = starts[leaf + 1u];
  const uint end = high;
  while (low < high) {
    const uint middle = (low + high) / 2u;
    if (targets[middle] < target) {
      low = middle + 1u;
    } else {
      high = middle;
    }
  }
  return low < end && targets[low] == target ? low : end;
}

void main() {
  const uint result = own_row(), trees = parameter(TREES_AT);
  const bool valid = result < parameter(0u);
  const Divisor targets_of_row = divisor_parameter(TARGETS_AT);
  const uint row = divide(result, targets_of_row), target = result - row * targets_of_row.size;
  State state = State(REAL(0.0), REAL(0.0), false);
  for (uint tree = own_lane(); valid && tree < trees; tree += LANES) {
    const uint leaf = uint(leaves[row * trees + tree]), share = find_share(leaf, target);
    if (share < starts[leaf + 1u]) state = combine(state, State(weights[share], REAL(0.0), true));
  }
  state = combine_lanes(state);
  if (valid && own_lane() == 0u) totals[parameter(TOTALS_AT) + result] = rounded_sum(state.value, state.rest);
}
