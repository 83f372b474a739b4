// The elements of each row become one. A row may be cut into parts, each of which another workgroup reduces; a second
// dispatch then reduces what they found.
#version 460
#extension GL_GOOGLE_include_directive : require

layout(local_size_x_id = 1) in;
layout(constant_id = 2) const uint LANES = 1;  // of one row
layout(constant_id = 3) const uint LANES_ADJACENT = 1;
layout(constant_id = 4) const uint FUNCTION_CODE = 0;
layout(constant_id = 5) const uint PREPARATION_CODE = 0;
layout(constant_id = 6) const uint OUTER_LOOPS = 1;  // which pick the row
layout(constant_id = 7) const uint INNER_LOOPS = 1;  // which go along it
layout(constant_id = 8) const uint SOURCE_DTYPE = 1;
layout(constant_id = 9) const uint OUTPUT_DTYPE = 1;
layout(constant_id = 10) const uint EPILOGUE_INPUTS = 0;
layout(constant_id = 11) const uint EPILOGUE_DTYPES = 0;  // one byte each

#define CHAIN_ID 12
#define CHAIN_STEPS 8
#include "source.glsl"

#define FUNCTION(name, code) const uint R_##name = code;
#include "reduction_functions.def"
#undef FUNCTION

// Parameters: rows, parts of a row (as a divisor), elements of a part, elements of a row, and the number to divide by
// for the mean; the outer operands: output, source, epilogue; divisors of the outer loops; strides of the source along
// the inner loops and their divisors; the immediates.
const uint PARTS_AT = 1u, PART_LENGTH_AT = 4u, LENGTH_AT = 5u, COUNT_AT = 6u, OPERANDS_AT = 7u;
const uint OPERAND_WORDS = 1u + OUTER_LOOPS;
const uint OUTER_DIVISORS_AT = OPERANDS_AT + OPERAND_WORDS * (2u + EPILOGUE_INPUTS);
const uint STRIDES_AT = OUTER_DIVISORS_AT + DIVISOR_WORDS * (OUTER_LOOPS - 1u);
const uint INNER_DIVISORS_AT = STRIDES_AT + INNER_LOOPS;
const uint IMMEDIATES_AT = INNER_DIVISORS_AT + DIVISOR_WORDS * (INNER_LOOPS - 1u);

const bool FINDS_INDEX = FUNCTION_CODE >= R_first_largest;
const bool LARGEST = FUNCTION_CODE == R_maximum || FUNCTION_CODE == R_first_largest || FUNCTION_CODE == R_last_largest;
const bool LAST = FUNCTION_CODE == R_last_largest || FUNCTION_CODE == R_last_smallest;
const bool SUMS = FUNCTION_CODE == R_sum || FUNCTION_CODE == R_mean;
const uint NOWHERE = 0xFFFFFFFFu;

struct State {
  REAL value, second;  // a sum and its rest, or the largest element and the sum of exponentials
  INTEGER integer;
  uint position;
};

#include "rows.glsl"

State initial_state() {
  State state;
  state.second = 0.0;
  state.position = NOWHERE;
  state.value = FUNCTION_CODE == R_product ? 1.0 : SUMS ? 0.0 : FUNCTION_CODE == R_minimum ? INFINITY : -INFINITY;
  state.integer = FUNCTION_CODE == R_product ? INTEGER(1)
                  : SUMS                     ? INTEGER(0)
                  : FUNCTION_CODE == R_minimum ? highest_integer(SOURCE_DTYPE) : lowest_integer(SOURCE_DTYPE);
  return state;
}

// -1: the other wins, 0: equals, 1: the own one. Not-a-number wins.
int compare(State own, State other) {
  int order;
  if (is_floating(SOURCE_DTYPE)) {
    const bool own_nan = is_not_a_number(own.value), other_nan = is_not_a_number(other.value);
    if (own_nan || other_nan) return own_nan && other_nan ? 0 : own_nan ? 1 : -1;
    order = own.value == other.value ? 0 : own.value > other.value ? 1 : -1;
  } else {
    order = own.integer == other.integer ? 0 : integer_less(is_unsigned(SOURCE_DTYPE), own.integer, other.integer) ? -1 : 1;
  }
  return LARGEST ? order : -order;
}

State combine(State own, State other) {
  if (FINDS_INDEX) {
    if (own.position == NOWHERE) return other;
    if (other.position == NOWHERE) return own;
    const int order = compare(own, other);
    const bool earlier = own.position < other.position;
    return order > 0 || (order == 0 && earlier != LAST) ? own : other;
  }
  if (FUNCTION_CODE == R_maximum || FUNCTION_CODE == R_minimum) {
    if (compare(own, other) >= 0) return own;
    return other;
  }
  if (FUNCTION_CODE == R_log_sum_exp) {
    add_exponentials(own.value, own.second, other.value, other.second);
  } else if (FUNCTION_CODE == R_product) {
    own.value *= other.value;
    own.integer *= other.integer;
  } else {
    add_exactly(own.value, own.second, other.value);
    own.second += other.second;
    own.integer += other.integer;
  }
  return own;
}

// The element in register 0 as the state of a row that has only it.
State state_of_element(uint position) {
  State state = initial_state();
  state.position = position;
  if (is_floating(SOURCE_DTYPE)) {
    state.value = prepared(PREPARATION_CODE, REAL(1.0), real_register(SOURCE_DTYPE, 0u));
  } else {
    state.integer = prepared(PREPARATION_CODE, integers[0]);
  }
  return state;
}

void accumulate(inout State state, uint position) {
  const State element = state_of_element(position);
  if (FUNCTION_CODE == R_log_sum_exp) {
    add_exponential(state.value, state.second, element.value);
  } else {
    state = combine(state, element);
  }
}

uint inner_offset(uint position) {
  uint result = 0u;
  for (uint loop = MOST_LOOPS - 1u; loop > 0u; --loop) {
    if (loop >= INNER_LOOPS) continue;
    const Divisor size = divisor_parameter(INNER_DIVISORS_AT + DIVISOR_WORDS * (loop - 1u));
    const uint rest = divide(position, size);
    result += (position - rest * size.size) * parameter(STRIDES_AT + loop);
    position = rest;
  }
  return result + position * parameter(STRIDES_AT);
}

// Into register 0, as the type of the source has it (an index: int64).
void finish(State state) {
  const uint count = parameter(COUNT_AT);
  if (FINDS_INDEX) {
    integers[0] = state.position == NOWHERE ? INTEGER(0) : INTEGER(state.position);
  } else if (is_floating(SOURCE_DTYPE)) {
    REAL result = SUMS ? rounded_sum(state.value, state.second) : state.value;
    if (FUNCTION_CODE == R_mean) result = count == 0u ? NOT_A_NUMBER : result / REAL(count);
    if (FUNCTION_CODE == R_log_sum_exp && !is_infinity(state.value)) result = state.value + logarithm(state.second);
    set_real_register(SOURCE_DTYPE, 0u, result);
  } else {
    integers[0] = FUNCTION_CODE == R_mean
                      ? quotient(is_unsigned(SOURCE_DTYPE), narrow(SOURCE_DTYPE, state.integer), INTEGER(count))
                      : narrow(SOURCE_DTYPE, state.integer);
  }
}

uint outer_address(uint operand) { return address(OPERANDS_AT + OPERAND_WORDS * operand, OUTER_LOOPS); }

uint epilogue_address(uint i) { return outer_address(2u + i); }

void main() {
  const uint row = own_row();
  const bool exists = row < parameter(0u);
  const Divisor parts = divisor_parameter(PARTS_AT);
  const uint whole_row = divide(row, parts), part = row - whole_row * parts.size;
  find_coordinates(whole_row, OUTER_LOOPS, OUTER_DIVISORS_AT);
  State state = initial_state();
  if (exists) {
    const uint source = outer_address(1u), first = part * parameter(PART_LENGTH_AT);
    const uint end = min(first + parameter(PART_LENGTH_AT), parameter(LENGTH_AT));
    for (uint position = first + own_lane(); position < end; position += LANES) {
      load_source(SOURCE_DTYPE, source + inner_offset(position), 0u);
      accumulate(state, position);
    }
  }
  state = combine_lanes(state);
  if (!exists || own_lane() != 0u) return;
  load_immediates(IMMEDIATES_AT);
  finish(state);
  store_result(outer_address(0u) + part);
}
