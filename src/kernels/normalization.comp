// Rows of elements brought to a common scale: one pass or two over a row for its statistics, one more to write it.
#version 460
#extension GL_GOOGLE_include_directive : require

layout(local_size_x_id = 1) in;
layout(constant_id = 2) const uint LANES = 1;  // of one row
layout(constant_id = 3) const uint LANES_ADJACENT = 1;
layout(constant_id = 4) const uint KIND_CODE = 0;
layout(constant_id = 5) const uint STATISTICS = 0;   // whether mean and inverse deviation are outputs too
layout(constant_id = 6) const uint OUTER_LOOPS = 1;  // which pick the row
layout(constant_id = 7) const uint INNER_LOOPS = 1;  // which go along it
layout(constant_id = 8) const uint SOURCE_DTYPE = 1;
layout(constant_id = 9) const uint OUTPUT_DTYPE = 1;
layout(constant_id = 10) const uint STATISTICS_DTYPE = 1;
layout(constant_id = 11) const uint EPILOGUE_INPUTS = 0;
layout(constant_id = 12) const uint EPILOGUE_DTYPES = 0;  // one byte each

#define CHAIN_ID 13
#define CHAIN_STEPS 8
#include "source.glsl"

OUTPUT_OPERAND(mean, 6)
OUTPUT_OPERAND(deviation, 7)

#define KIND(name, code) const uint N_##name = code;
#include "normalization_kinds.def"
#undef KIND

// Parameters: rows, elements of a row, epsilon; the outer operands: output, source, epilogue, and where there are
// statistics, their two outputs; divisors of the outer loops; for output, source and epilogue the strides of the inner
// loops; their divisors; the immediates.
const uint LENGTH_AT = 1u, EPSILON_AT = 2u, OPERANDS_AT = 3u, OPERAND_WORDS = 1u + OUTER_LOOPS;
const uint OPERANDS = 2u + EPILOGUE_INPUTS;
const uint OUTER_DIVISORS_AT = OPERANDS_AT + OPERAND_WORDS * (OPERANDS + 2u * STATISTICS);
const uint STRIDES_AT = OUTER_DIVISORS_AT + DIVISOR_WORDS * (OUTER_LOOPS - 1u);
const uint INNER_DIVISORS_AT = STRIDES_AT + INNER_LOOPS * OPERANDS;
const uint IMMEDIATES_AT = INNER_DIVISORS_AT + DIVISOR_WORDS * (INNER_LOOPS - 1u);

const bool SOFTENS = KIND_CODE == N_softmax || KIND_CODE == N_log_softmax;

struct State {
  REAL value, second;  // the largest element and the sum of exponentials, or a sum and its rest
};

#include "rows.glsl"

State combine(State own, State other) {
  if (SOFTENS) {
    add_exponentials(own.value, own.second, other.value, other.second);
  } else {
    add_exactly(own.value, own.second, other.value);
    own.second += other.second;
  }
  return own;
}

uint outer_address(uint operand) { return address(OPERANDS_AT + OPERAND_WORDS * operand, OUTER_LOOPS); }

const uint MOST_OPERANDS = 5u;
uint row_addresses[MOST_OPERANDS];
uint inner_coordinates[MOST_LOOPS];

void find_row(uint row) {
  find_coordinates(row, OUTER_LOOPS, OUTER_DIVISORS_AT);
  for (uint i = 0u; i < MOST_OPERANDS; ++i) row_addresses[i] = i < OPERANDS ? outer_address(i) : 0u;
}

void find_inner_coordinates(uint position) {
  for (uint loop = MOST_LOOPS - 1u; loop > 0u; --loop) {
    if (loop >= INNER_LOOPS) continue;
    const Divisor size = divisor_parameter(INNER_DIVISORS_AT + DIVISOR_WORDS * (loop - 1u));
    const uint rest = divide(position, size);
    inner_coordinates[loop] = position - rest * size.size;
    position = rest;
  }
  inner_coordinates[0] = position;
}

uint element_address(uint operand) {
  uint result = row_addresses[operand];
  for (uint loop = 0u; loop < MOST_LOOPS; ++loop) {
    if (loop < INNER_LOOPS) result += inner_coordinates[loop] * parameter(STRIDES_AT + INNER_LOOPS * operand + loop);
  }
  return result;
}

uint epilogue_address(uint i) { return element_address(2u + i); }

REAL load_element(uint position) {
  find_inner_coordinates(position);
  load_source(SOURCE_DTYPE, element_address(1u), 0u);
  return real_register(SOURCE_DTYPE, 0u);
}

// The sum over the row of elements, or of squared distances from `center`.
REAL row_sum(uint length, bool squares, REAL center) {
  State state = State(REAL(0.0), REAL(0.0));
  for (uint position = own_lane(); position < length; position += LANES) {
    const REAL x = load_element(position) - center;
    add_exactly(state.value, state.second, squares ? x * x : x);
  }
  state = combine_lanes(state);
  return rounded_sum(state.value, state.second);
}

State exponential_sum(uint length) {
  State state = State(REAL(-INFINITY), REAL(0.0));
  for (uint position = own_lane(); position < length; position += LANES) {
    add_exponential(state.value, state.second, load_element(position));
  }
  return combine_lanes(state);
}

REAL normalized(REAL x, REAL center, REAL scale) {
  switch (KIND_CODE) {
    case N_softmax: return exponential(x - center) / scale;
    case N_log_softmax: return (x - center) - scale;
  }
  return (x - center) * scale;
}

void write_row(uint length, REAL center, REAL scale) {
  for (uint position = own_lane(); position < length; position += LANES) {
    set_real_register(SOURCE_DTYPE, 0u, normalized(load_element(position), center, scale));
    store_result(element_address(0u));
  }
}

void write_statistics(REAL mean, REAL inverse_deviation) {
  set_real_register(STATISTICS_DTYPE, 0u, mean);
  store_mean(STATISTICS_DTYPE, outer_address(OPERANDS), 0u);
  set_real_register(STATISTICS_DTYPE, 0u, inverse_deviation);
  store_deviation(STATISTICS_DTYPE, outer_address(OPERANDS + 1u), 0u);
}

void main() {
  const uint row = own_row();
  const bool exists = row < parameter(0u);
  // A row that does not exist has no elements, but its lanes meet the others at the barriers.
  const uint length = exists ? parameter(LENGTH_AT) : 0u;
  find_row(exists ? row : 0u);
  load_immediates(IMMEDIATES_AT);
  REAL center = 0.0, scale = 1.0;
  if (SOFTENS) {
    const State state = exponential_sum(length);
    center = state.value;
    // Infinity less infinity is in the sum, so nothing of the row is a number.
    const REAL sum = is_infinity(center) ? REAL(NOT_A_NUMBER) : state.second;
    scale = KIND_CODE == N_log_softmax ? logarithm(sum) : sum;
  } else {
    const REAL count = REAL(length);
    if (KIND_CODE == N_standard_score) center = row_sum(length, false, 0.0) / count;
    scale = 1.0 / sqrt(row_sum(length, true, center) / count + uintBitsToFloat(parameter(EPSILON_AT)));
  }
  write_row(length, center, scale);
  if (STATISTICS != 0u && exists && own_lane() == 0u) write_statistics(center, scale);
}
