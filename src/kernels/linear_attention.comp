// Linear attention: a workgroup takes some columns of one head's state, which belong to as many values, through all
// steps. LANES invocations share a column, each with keys of its own. The state lies in shared memory where it fits, else
// in a buffer.
#version 460
#extension GL_GOOGLE_include_directive : require

layout(local_size_x_id = 1) in;
layout(constant_id = 2) const uint LANES = 1;         // of one column; a power of two
layout(constant_id = 3) const uint SHARED_WORDS = 1;  // 1: the state lies in a buffer
layout(constant_id = 4) const uint SUM_WORDS = 1;     // one an invocation where there are several lanes
layout(constant_id = 5) const uint DTYPES_LOW = 0;    // one byte each: results, last state, queries, keys
layout(constant_id = 6) const uint DTYPES_HIGH = 0;   // values, first state, decay, beta
layout(constant_id = 7) const uint PRESENT = 0;       // bits: first state, decay, beta

#include "parameters.glsl"
#include "real_operands.glsl"

REAL_OUTPUT(result, 1)
REAL_OUTPUT(last_state, 2)
REAL_INPUT(query, 3)
REAL_INPUT(key, 4)
REAL_INPUT(value, 5)
REAL_INPUT(first_state, 6)
REAL_INPUT(decay, 7)
REAL_INPUT(rate, 8)
layout(binding = 9) buffer Scratch { float scratch[]; };

// Parameters: workgroups; blocks of columns and heads of keys (as divisors); steps; keys and values of a head; query heads
// for each head of keys; the scale; operands: their offset and strides.
const uint BLOCKS_AT = 1u, HEADS_AT = 4u, STEPS_AT = 7u, KEYS_AT = 8u, VALUES_AT = 9u, GROUP_AT = 10u, SCALE_AT = 11u;
const uint RESULT_AT = 12u;       // offset, sequence, step, element
const uint LAST_STATE_AT = 16u;   // offset, sequence, head, key, value
const uint QUERY_AT = 21u;        // offset, sequence, step, element
const uint KEY_AT = 25u;          // the same
const uint VALUE_AT = 29u;        // the same
const uint FIRST_STATE_AT = 33u;  // offset, sequence, head, key, value
const uint DECAY_AT = 38u;        // offset, sequence, step, head, key
const uint RATE_AT = 43u;         // offset, sequence, step, head

const bool SHARES = SHARED_WORDS > 1u;
shared float shared_state[SHARED_WORDS];
shared float sums[SUM_WORDS];

uint dtype_of(uint word, uint i) { return (word >> (8u * i)) & 0xFFu; }
bool present(uint i) { return (PRESENT & (1u << i)) != 0u; }

uint columns, column, lane, keys, entry, head, scratch_start;
bool exists;  // the column

// Only this invocation touches its keys of its column.
uint cell(uint k) { return k * columns + column; }

float state(uint k) { return SHARES ? shared_state[cell(k)] : scratch[scratch_start + cell(k)]; }

void set_state(uint k, float x) {
  if (SHARES) {
    shared_state[cell(k)] = x;
  } else {
    scratch[scratch_start + cell(k)] = x;
  }
}

// Over the lanes of a column. Every invocation of the workgroup has to call it.
float summed(float own) {
  if (LANES == 1u) return own;
  barrier();
  sums[gl_LocalInvocationIndex] = own;
  barrier();
  float sum = 0.0;
  for (uint i = 0u; i < LANES; ++i) sum += sums[i * columns + column];
  return sum;
}

// Where a row of one step begins.
uint row_of(uint operand, uint step) {
  return parameter(operand) + entry * parameter(operand + 1u) + step * parameter(operand + 2u);
}

uint state_place(uint operand, uint k, uint v) {
  return parameter(operand) + entry * parameter(operand + 1u) + head * parameter(operand + 2u) +
         k * parameter(operand + 3u) + v * parameter(operand + 4u);
}

float key_at(uint row, uint k) {
  return real_key(dtype_of(DTYPES_LOW, 3u), row + (head * keys + k) * parameter(KEY_AT + 3u));
}

void advance(uint step, uint v) {
  const uint key_row = row_of(KEY_AT, step);
  float known = 0.0;
  if (present(1u) || present(2u)) {
    const uint decay_row = row_of(DECAY_AT, step) + head * parameter(DECAY_AT + 3u);
    for (uint k = lane; k < keys; k += LANES) {
      float element = state(k);
      if (present(1u)) element *= exp(real_decay(dtype_of(DTYPES_HIGH, 2u), decay_row + k * parameter(DECAY_AT + 4u)));
      set_state(k, element);
      if (present(2u)) known += element * key_at(key_row, k);
    }
  }
  float change = 0.0;
  if (exists) {
    const uint values = parameter(VALUES_AT);
    change = real_value(dtype_of(DTYPES_HIGH, 0u), row_of(VALUE_AT, step) + (head * values + v) * parameter(VALUE_AT + 3u));
  }
  if (present(2u)) {
    known = summed(known);
    change = real_rate(dtype_of(DTYPES_HIGH, 3u), row_of(RATE_AT, step) + head * parameter(RATE_AT + 3u)) * (change - known);
  }
  for (uint k = lane; k < keys; k += LANES) set_state(k, state(k) + key_at(key_row, k) * change);
}

void write_results(uint step, uint v) {
  const uint group = parameter(GROUP_AT), query_row = row_of(QUERY_AT, step);
  for (uint i = 0u; i < group; ++i) {
    const uint query_head = head * group + i;
    float sum = 0.0;
    for (uint k = lane; k < keys; k += LANES) {
      const uint place = query_row + (query_head * keys + k) * parameter(QUERY_AT + 3u);
      sum += state(k) * real_query(dtype_of(DTYPES_LOW, 2u), place);
    }
    sum = summed(sum);
    if (!exists || lane != 0u) continue;
    const uint place = row_of(RESULT_AT, step) + (query_head * parameter(VALUES_AT) + v) * parameter(RESULT_AT + 3u);
    write_result(dtype_of(DTYPES_LOW, 0u), place, sum * uintBitsToFloat(parameter(SCALE_AT)));
  }
}

void main() {
  const uint group = group_number();
  if (group >= parameter(0u)) return;
  const Divisor blocks = divisor_parameter(BLOCKS_AT), heads = divisor_parameter(HEADS_AT);
  const uint state_number = divide(group, blocks), block = group - state_number * blocks.size;
  entry = divide(state_number, heads);
  head = state_number - entry * heads.size;
  columns = gl_WorkGroupSize.x / LANES;
  lane = gl_LocalInvocationIndex / columns;
  column = gl_LocalInvocationIndex - lane * columns;
  keys = parameter(KEYS_AT);
  scratch_start = group * keys * columns;
  const uint v = block * columns + column;
  exists = v < parameter(VALUES_AT);
  for (uint k = lane; k < keys; k += LANES) {
    const bool given = present(0u) && exists;
    set_state(k, given ? real_first_state(dtype_of(DTYPES_HIGH, 1u), state_place(FIRST_STATE_AT, k, v)) : 0.0);
  }
  const uint steps = parameter(STEPS_AT);
  for (uint step = 0u; step < steps; ++step) {
    advance(step, v);
    write_results(step, v);
  }
  if (!exists) return;
  for (uint k = lane; k < keys; k += LANES) {
    write_last_state(dtype_of(DTYPES_LOW, 1u), state_place(LAST_STATE_AT, k, v), state(k));
  }
}
