// Running sums or products of rows. Long rows are cut into parts: a first dispatch finds the total of each part, a second
// scans the totals, and a third scans the parts, each from what all before it come to.
#version 460
#extension GL_GOOGLE_include_directive : require

layout(local_size_x_id = 1) in;
layout(constant_id = 2) const uint LANES = 1;  // of one row
layout(constant_id = 3) const uint LANES_ADJACENT = 1;
layout(constant_id = 4) const uint FUNCTION_CODE = 0;
layout(constant_id = 5) const uint EXCLUSIVE = 0;
layout(constant_id = 6) const uint REVERSE = 0;
layout(constant_id = 7) const uint STORES_TOTALS = 0;  // of each part, and nothing else
layout(constant_id = 8) const uint HAS_START = 0;      // of each part, in the operand `start`
layout(constant_id = 9) const uint OUTER_LOOPS = 1;    // which pick the row
layout(constant_id = 10) const uint SOURCE_DTYPE = 1;
layout(constant_id = 11) const uint OUTPUT_DTYPE = 1;
layout(constant_id = 12) const uint START_DTYPE = 1;

#define CHAIN_ID 13
#define CHAIN_STEPS 8
#include "loops.glsl"
#include "operands.glsl"

OUTPUT_OPERAND(output, 1)
INPUT_OPERAND(source, 2)
INPUT_OPERAND(start, 3)

#define FUNCTION(name, code) const uint R_##name = code;
#include "reduction_functions.def"
#undef FUNCTION

// Parameters: rows, each part counted; parts of a row (as a divisor); elements of a part; elements of a row; strides of
// output and source along the row; the outer operands: output, source; divisors of the outer loops.
const uint PARTS_AT = 1u, PART_LENGTH_AT = 4u, LENGTH_AT = 5u, OUTPUT_STRIDE_AT = 6u, SOURCE_STRIDE_AT = 7u;
const uint OPERANDS_AT = 8u, OPERAND_WORDS = 1u + OUTER_LOOPS;
const uint DIVISORS_AT = OPERANDS_AT + 2u * OPERAND_WORDS;

struct State {
  REAL value, rest;  // a sum and its rounding error
  INTEGER integer;
};

#include "rows.glsl"

State identity() {
  const bool product = FUNCTION_CODE == R_product;
  State state;
  state.value = product ? 1.0 : 0.0;
  state.rest = 0.0;
  state.integer = INTEGER(product ? 1 : 0);
  return state;
}

State combine(State own, State other) {
  if (FUNCTION_CODE == R_product) {
    own.value *= other.value;
    own.integer *= other.integer;
  } else {
    add_exactly(own.value, own.rest, other.value);
    own.rest += other.rest;
    own.integer += other.integer;
  }
  return own;
}

// What a type keeps in register 0 as a state.
State loaded(uint dtype) {
  State state = identity();
  if (is_floating(dtype)) {
    state.value = real_register(dtype, 0u);
  } else {
    state.integer = integers[0];
  }
  return state;
}

void store(State state, uint place) {
  if (is_floating(OUTPUT_DTYPE)) {
    const REAL result = FUNCTION_CODE == R_product ? state.value : rounded_sum(state.value, state.rest);
    set_real_register(OUTPUT_DTYPE, 0u, result);
  } else {
    integers[0] = state.integer;
  }
  store_output(OUTPUT_DTYPE, place, 0u);
}

struct Running {
  State before, through, total;  // those of this tile: without the own element, with it, all
};

// Along the lanes of a row. Every invocation of the workgroup has to call it.
Running scan_lanes(State own) {
  if (LANES == 1u) return Running(identity(), own, own);
  const uint lane = own_lane(), distance = LANES_ADJACENT != 0u ? 1u : rows_of_group();
  const uint self = gl_LocalInvocationIndex;
  barrier();
  lane_states[self] = own;
  for (uint step = 1u; step < LANES; step *= 2u) {
    barrier();
    State before = own;
    if (lane >= step) before = lane_states[self - step * distance];
    barrier();
    if (lane >= step) own = combine(before, own);
    lane_states[self] = own;
  }
  barrier();
  State before = identity();
  if (lane > 0u) before = lane_states[self - distance];
  return Running(before, own, lane_states[self + (LANES - 1u - lane) * distance]);
}

void main() {
  const uint row = own_row();
  const bool exists = row < parameter(0u);
  const Divisor parts = divisor_parameter(PARTS_AT);
  const uint whole_row = divide(row, parts), part = row - whole_row * parts.size;
  const uint length = parameter(LENGTH_AT), part_length = parameter(PART_LENGTH_AT);
  find_coordinates(whole_row, OUTER_LOOPS, DIVISORS_AT);
  const uint target = address(OPERANDS_AT, OUTER_LOOPS), source = address(OPERANDS_AT + OPERAND_WORDS, OUTER_LOOPS);
  const uint first = part * part_length, end = min(first + part_length, length);
  State carried = identity();
  if (HAS_START != 0u && exists) {
    load_start(START_DTYPE, row, 0u);
    carried = loaded(START_DTYPE);
  }
  for (uint tile = 0u; tile < part_length; tile += LANES) {
    const uint position = first + tile + own_lane();
    const bool inside = exists && position < end;
    const uint place = REVERSE != 0u ? length - 1u - position : position;
    State own = identity();
    if (inside) {
      load_source(SOURCE_DTYPE, source + place * parameter(SOURCE_STRIDE_AT), 0u);
      own = loaded(SOURCE_DTYPE);
    }
    const Running running = scan_lanes(own);
    if (inside && STORES_TOTALS == 0u) {
      const State result = EXCLUSIVE != 0u ? combine(carried, running.before) : combine(carried, running.through);
      store(result, target + place * parameter(OUTPUT_STRIDE_AT));
    }
    carried = combine(carried, running.total);
  }
  if (STORES_TOTALS != 0u && exists && own_lane() == 0u) store(carried, row);
}
