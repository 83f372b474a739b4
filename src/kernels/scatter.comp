// Updates written to places that indices say, so that the result is the same every time. Where they are joined, one
// invocation writes all updates that may meet in one place, in their order. Where one takes the place of another, a first
// dispatch finds the last update of each place, and a second writes those.
#version 460
#extension GL_GOOGLE_include_directive : require

layout(local_size_x_id = 1) in;
layout(constant_id = 2) const uint FUNCTION_CODE = 0;  // joins what is there with the update; identity: the update alone
layout(constant_id = 3) const uint OUTER_LOOPS = 1;    // over updates that never meet
layout(constant_id = 4) const uint INNER_LOOPS = 1;    // over those that may
layout(constant_id = 5) const uint CHOSEN_AXES = 1;
layout(constant_id = 6) const uint OUTPUT_DTYPE = 1;
layout(constant_id = 7) const uint UPDATE_DTYPE = 1;
layout(constant_id = 8) const uint INDEX_DTYPE = 7;
layout(constant_id = 9) const uint MODE = 0;

const uint JOIN = 0u, CLAIM = 1u, WRITE_CLAIMED = 2u;

#define CHAIN_ID 10
#define CHAIN_STEPS 8
#include "loops.glsl"
#include "operands.glsl"

UPDATED_OPERAND(output, 1)
INPUT_OPERAND(update, 2)
INPUT_OPERAND(index, 3)
layout(binding = 4) restrict buffer Claims { uint claims[]; };  // of each place, one more than the number of an update

// Parameters: invocations; updates of each; the outer operands: output, updates, indices, numbers of updates; divisors of
// the outer loops; the strides of updates and of indices along the inner loops; their divisors; what places.glsl reads.
const uint LENGTH_AT = 1u, OPERANDS_AT = 2u, OPERAND_WORDS = 1u + OUTER_LOOPS;
const uint OUTER_DIVISORS_AT = OPERANDS_AT + 4u * OPERAND_WORDS;
const uint STRIDES_AT = OUTER_DIVISORS_AT + DIVISOR_WORDS * (OUTER_LOOPS - 1u);
const uint INNER_DIVISORS_AT = STRIDES_AT + 2u * INNER_LOOPS;
const uint PLACES_AT = INNER_DIVISORS_AT + DIVISOR_WORDS * (INNER_LOOPS - 1u);

#include "places.glsl"

uint outer_address(uint operand) { return address(OPERANDS_AT + OPERAND_WORDS * operand, OUTER_LOOPS); }

// Offsets of the update (x) and its indices (y).
uvec2 inner_offsets(uint position) {
  uvec2 result = uvec2(0u);
  for (uint loop = MOST_LOOPS - 1u; loop > 0u; --loop) {
    if (loop >= INNER_LOOPS) continue;
    const Divisor size = divisor_parameter(INNER_DIVISORS_AT + DIVISOR_WORDS * (loop - 1u));
    const uint rest = divide(position, size), coordinate = position - rest * size.size;
    result += coordinate * uvec2(parameter(STRIDES_AT + loop), parameter(STRIDES_AT + INNER_LOOPS + loop));
    position = rest;
  }
  return result + position * uvec2(parameter(STRIDES_AT), parameter(STRIDES_AT + INNER_LOOPS));
}

// Register 0, which is there, and register 1, the update, into register 0.
void join() {
  if (is_real(OUTPUT_DTYPE)) {
    reals[0] = FUNCTION_CODE == F_identity ? reals[1] : real_step(FUNCTION_CODE, reals[0], reals[1], 0.0);
#if LEVEL >= 3
  } else if (OUTPUT_DTYPE == FLOAT64) {
    doubles[0] = FUNCTION_CODE == F_identity ? doubles[1] : double_step(FUNCTION_CODE, doubles[0], doubles[1], 0.0LF);
#endif
  } else {
    const bool natural = is_unsigned(OUTPUT_DTYPE);
    integers[0] = FUNCTION_CODE == F_identity
                      ? integers[1]
                      : narrow(OUTPUT_DTYPE, integer_step(FUNCTION_CODE, natural, integers[0], integers[1], INTEGER(0)));
  }
}

void main() {
  const uint element = group_number() * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
  if (element >= parameter(0u)) return;
  find_coordinates(element, OUTER_LOOPS, OUTER_DIVISORS_AT);
  const uint target = outer_address(0u), update = outer_address(1u), index = outer_address(2u);
  const uint number = outer_address(3u) + 1u;
  for (uint position = 0u; position < parameter(LENGTH_AT); ++position) {
    const uvec2 offsets = inner_offsets(position);
    const uint place = target + chosen_offset(index + offsets.y);
    const uint claim = place - parameter(OPERANDS_AT);  // claims lie as the output does, from its start on
    if (MODE == CLAIM) {
      atomicMax(claims[claim], number);
      continue;
    }
    if (MODE == WRITE_CLAIMED && claims[claim] != number) continue;
    load_update(UPDATE_DTYPE, update + offsets.x, 1u);
    if (FUNCTION_CODE != F_identity) load_output(OUTPUT_DTYPE, place, 0u);
    join();
    store_output(OUTPUT_DTYPE, place, 0u);
  }
}
