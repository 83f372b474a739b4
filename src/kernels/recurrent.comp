// All steps of a recurrent layer: a workgroup for each direction of each sequence of the batch. Its state lies in
// shared memory where it fits, else in a buffer.
#version 460
#extension GL_GOOGLE_include_directive : require

layout(local_size_x_id = 1) in;
layout(constant_id = 2) const uint KIND_CODE = 0;
layout(constant_id = 3) const uint SHARED_ELEMENTS = 1;  // 1: the state lies in a buffer
layout(constant_id = 4) const uint DTYPES_LOW = 0;    // one byte each: Y, last hidden, last cell, products
layout(constant_id = 5) const uint DTYPES_HIGH = 0;   // weights, bias, initial hidden, initial cell
layout(constant_id = 6) const uint PEEPHOLE_DTYPE = 1;
layout(constant_id = 7) const uint PRESENT = 0;  // bits: bias, lengths, initial hidden, initial cell, peepholes
layout(constant_id = 8) const uint BACKWARDS = 0;  // a bit a direction
layout(constant_id = 9) const uint CLIPS = 0;
layout(constant_id = 10) const uint INPUT_FORGET = 0;
layout(constant_id = 11) const uint ACTIVATIONS = 0;         // of direction 0, one byte each
layout(constant_id = 12) const uint SECOND_ACTIVATIONS = 0;  // of direction 1

#include "parameters.glsl"
#include "real.glsl"
#include "real_operands.glsl"

REAL_OUTPUT(result, 1)
REAL_OUTPUT(last_hidden, 2)
REAL_OUTPUT(last_cell, 3)
REAL_INPUT(product, 4)
REAL_INPUT(weight, 5)
REAL_INPUT(bias, 6)
layout(binding = 7) readonly buffer Lengths { int lengths[]; };
REAL_INPUT(initial_hidden, 8)
REAL_INPUT(initial_cell, 9)
REAL_INPUT(peephole, 10)
layout(binding = 11) buffer Scratch { REAL scratch[]; };

#define KIND(name, code) const uint K_##name = code;
#include "recurrent_kinds.def"
#undef KIND
#define ACTIVATION(name, code, alpha, beta) const uint A_##name = code;
#include "recurrent_activations.def"
#undef ACTIVATION

// Parameters: groups, steps, sequences (as a divisor), hidden units, the clip; alpha and beta of up to three
// activations in each of two directions; operands: their offset and strides.
const uint STEPS_AT = 1u, BATCH_AT = 2u, HIDDEN_AT = 5u, CLIP_AT = 6u, NUMBERS_AT = 7u;
const uint RESULT_AT = 19u;        // offset, step, direction, sequence, unit
const uint LAST_HIDDEN_AT = 24u;   // offset, direction, sequence, unit
const uint LAST_CELL_AT = 28u;     // the same
const uint PRODUCT_AT = 32u;       // offset, step, sequence, row
const uint WEIGHT_AT = 36u;        // offset, direction, row, unit
const uint BIAS_AT = 40u;          // offset, direction, row
const uint LENGTH_AT = 43u;        // offset, sequence
const uint FIRST_HIDDEN_AT = 45u;  // offset, direction, sequence, unit
const uint FIRST_CELL_AT = 49u;    // the same
const uint PEEPHOLE_AT = 53u;      // offset, direction, row

uint dtype_of(uint word, uint i) { return (word >> (8u * i)) & 0xFFu; }
bool present(uint i) { return (PRESENT & (1u << i)) != 0u; }

// The state of the workgroup: hidden units, cell, recurrent sums of up to four gates.
const bool SHARES = SHARED_ELEMENTS > 1u;
shared REAL shared_state[SHARED_ELEMENTS];
uint scratch_start;

REAL state(uint i) { return SHARES ? shared_state[i] : scratch[scratch_start + i]; }

void set_state(uint i, REAL x) {
  if (SHARES) {
    shared_state[i] = x;
  } else {
    scratch[scratch_start + i] = x;
  }
}

void synchronize() {
  if (!SHARES) memoryBarrierBuffer();
  barrier();
}

uint direction, entry, hidden;

REAL activated(uint which, REAL x) {
  const uint code = dtype_of(direction == 0u ? ACTIVATIONS : SECOND_ACTIVATIONS, which);
  const uint numbers = NUMBERS_AT + 6u * direction + 2u * which;
  const REAL alpha = uintBitsToFloat(parameter(numbers)), beta = uintBitsToFloat(parameter(numbers + 1u));
  switch (code) {
    case A_relu: return x < 0.0 ? 0.0 : x;
    case A_tanh: return hyperbolic_tangent(x);
    case A_sigmoid: return sigmoid(x);
    case A_affine: return alpha * x + beta;
    case A_leaky_relu: return x < 0.0 ? alpha * x : x;
    case A_thresholded_relu: return x > alpha ? x : 0.0;
    case A_scaled_tanh: return alpha * hyperbolic_tangent(beta * x);
    case A_hard_sigmoid: return limited(alpha * x + beta, 0.0, 1.0);
    case A_elu: return x < 0.0 ? alpha * exponential_minus_one(x) : x;
    case A_softsign: return x / (1.0 + abs(x));
    case A_softplus: return softplus(x);
  }
  return x;
}

REAL gate(uint which, REAL x) {
  if (CLIPS != 0u) {
    const REAL most = uintBitsToFloat(parameter(CLIP_AT));
    x = limited(x, -most, most);
  }
  return activated(which, x);
}

// Products of weights from row `first` on with the vector that begins at `vector` in the state, into the sums.
void multiply_rows(uint first, uint end, uint vector) {
  const uint sums = 2u * hidden, stride = parameter(WEIGHT_AT + 3u);
  for (uint row = first + gl_LocalInvocationIndex; row < end; row += gl_WorkGroupSize.x) {
    uint at = parameter(WEIGHT_AT) + direction * parameter(WEIGHT_AT + 1u) + row * parameter(WEIGHT_AT + 2u);
    REAL sum = 0.0;
    for (uint unit = 0u; unit < hidden; ++unit, at += stride)
      sum += state(vector + unit) * real_weight(dtype_of(DTYPES_HIGH, 0u), at);
    if (present(0u)) {
      const uint bias_at = parameter(BIAS_AT) + direction * parameter(BIAS_AT + 1u) + row * parameter(BIAS_AT + 2u);
      sum += real_bias(dtype_of(DTYPES_HIGH, 1u), bias_at);
    }
    set_state(sums + row, sum);
  }
}

uint products_at;

REAL projected(uint row) {
  return real_product(dtype_of(DTYPES_LOW, 3u), products_at + row * parameter(PRODUCT_AT + 3u));
}

REAL recurrent(uint row) { return state(2u * hidden + row); }

REAL peephole(uint which, uint unit, REAL cell) {
  if (!present(4u)) return 0.0;
  const uint at = parameter(PEEPHOLE_AT) + direction * parameter(PEEPHOLE_AT + 1u) +
                  (which * hidden + unit) * parameter(PEEPHOLE_AT + 2u);
  return real_peephole(PEEPHOLE_DTYPE, at) * cell;
}

REAL gated_unit(uint unit) {
  const uint reset_row = hidden + unit, last_row = 2u * hidden + unit;
  const REAL update = gate(0u, projected(unit) + recurrent(unit));
  REAL own = recurrent(last_row);
  if (KIND_CODE == K_gated_reset_after) own *= gate(0u, projected(reset_row) + recurrent(reset_row));
  return (1.0 - update) * gate(1u, projected(last_row) + own) + update * state(unit);
}

REAL long_short_term_unit(uint unit) {
  const uint out_row = hidden + unit, forget_row = 2u * hidden + unit, cell_row = 3u * hidden + unit;
  const REAL cell = state(hidden + unit);
  const REAL entering = gate(0u, projected(unit) + recurrent(unit) + peephole(0u, unit, cell));
  const REAL forget =
      INPUT_FORGET != 0u ? 1.0 - entering
                         : gate(0u, projected(forget_row) + recurrent(forget_row) + peephole(2u, unit, cell));
  const REAL changed = forget * cell + entering * gate(1u, projected(cell_row) + recurrent(cell_row));
  const REAL leaving = gate(0u, projected(out_row) + recurrent(out_row) + peephole(1u, unit, changed));
  set_state(hidden + unit, changed);
  return leaving * activated(2u, changed);
}

REAL next_unit(uint unit) {
  if (KIND_CODE == K_simple) return gate(0u, projected(unit) + recurrent(unit));
  return KIND_CODE == K_long_short_term ? long_short_term_unit(unit) : gated_unit(unit);
}

void advance() {
  const uint gates = KIND_CODE == K_simple ? 1u : KIND_CODE == K_long_short_term ? 4u : 3u;
  multiply_rows(0u, (KIND_CODE == K_gated ? 2u : gates) * hidden, 0u);
  synchronize();
  if (KIND_CODE == K_gated) {
    // What is left of the hidden state goes where the fourth gate of other kinds has its sums.
    for (uint unit = gl_LocalInvocationIndex; unit < hidden; unit += gl_WorkGroupSize.x) {
      const uint row = hidden + unit;
      set_state(5u * hidden + unit, state(unit) * gate(0u, projected(row) + recurrent(row)));
    }
    synchronize();
    multiply_rows(2u * hidden, 3u * hidden, 5u * hidden);
    synchronize();
  }
  for (uint unit = gl_LocalInvocationIndex; unit < hidden; unit += gl_WorkGroupSize.x)
    set_state(unit, next_unit(unit));
  synchronize();
}

REAL initial_hidden(uint unit) {
  if (!present(2u)) return 0.0;
  return real_initial_hidden(dtype_of(DTYPES_HIGH, 2u),
                             parameter(FIRST_HIDDEN_AT) + direction * parameter(FIRST_HIDDEN_AT + 1u) +
                                 entry * parameter(FIRST_HIDDEN_AT + 2u) + unit * parameter(FIRST_HIDDEN_AT + 3u));
}

REAL initial_cell(uint unit) {
  if (!present(3u)) return 0.0;
  return real_initial_cell(dtype_of(DTYPES_HIGH, 3u),
                           parameter(FIRST_CELL_AT) + direction * parameter(FIRST_CELL_AT + 1u) +
                               entry * parameter(FIRST_CELL_AT + 2u) + unit * parameter(FIRST_CELL_AT + 3u));
}

void begin() {
  for (uint unit = gl_LocalInvocationIndex; unit < hidden; unit += gl_WorkGroupSize.x) {
    set_state(unit, initial_hidden(unit));
    set_state(hidden + unit, initial_cell(unit));
  }
  synchronize();
}

void write_step(uint step, bool exists) {
  const uint start = parameter(RESULT_AT) + step * parameter(RESULT_AT + 1u) + direction * parameter(RESULT_AT + 2u) +
                     entry * parameter(RESULT_AT + 3u);
  for (uint unit = gl_LocalInvocationIndex; unit < hidden; unit += gl_WorkGroupSize.x)
    write_result(dtype_of(DTYPES_LOW, 0u), start + unit * parameter(RESULT_AT + 4u), exists ? state(unit) : 0.0);
}

void finish() {
  for (uint unit = gl_LocalInvocationIndex; unit < hidden; unit += gl_WorkGroupSize.x) {
    write_last_hidden(dtype_of(DTYPES_LOW, 1u),
                      parameter(LAST_HIDDEN_AT) + direction * parameter(LAST_HIDDEN_AT + 1u) +
                          entry * parameter(LAST_HIDDEN_AT + 2u) + unit * parameter(LAST_HIDDEN_AT + 3u),
                      state(unit));
    if (KIND_CODE != K_long_short_term) continue;
    write_last_cell(dtype_of(DTYPES_LOW, 2u),
                    parameter(LAST_CELL_AT) + direction * parameter(LAST_CELL_AT + 1u) +
                        entry * parameter(LAST_CELL_AT + 2u) + unit * parameter(LAST_CELL_AT + 3u),
                    state(hidden + unit));
  }
}

void main() {
  const uint group = group_number();
  if (group >= parameter(0u)) return;
  const Divisor batch = divisor_parameter(BATCH_AT);
  const uint steps = parameter(STEPS_AT);
  direction = divide(group, batch);
  entry = group - direction * batch.size;
  hidden = parameter(HIDDEN_AT);
  scratch_start = group * 6u * hidden;
  uint length = steps;
  if (present(1u)) {
    const int given = lengths[parameter(LENGTH_AT) + entry * parameter(LENGTH_AT + 1u)];
    length = min(uint(max(given, 0)), steps);
  }
  begin();
  const bool backwards = (BACKWARDS & (1u << direction)) != 0u;
  const uint rows = (KIND_CODE == K_simple ? 1u : KIND_CODE == K_long_short_term ? 4u : 3u) * hidden;
  for (uint i = 0u; i < length; ++i) {
    const uint step = backwards ? length - 1u - i : i;
    products_at = parameter(PRODUCT_AT) + step * parameter(PRODUCT_AT + 1u) + entry * parameter(PRODUCT_AT + 2u) +
                  direction * rows * parameter(PRODUCT_AT + 3u);
    advance();
    write_step(step, true);
  }
  for (uint step = length; step < steps; ++step) write_step(step, false);
  finish();
}
