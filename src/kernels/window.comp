// One invocation reduces the elements of one place of a moving window.
#version 460
#extension GL_GOOGLE_include_directive : require

layout(local_size_x_id = 1) in;
layout(constant_id = 2) const uint FUNCTION_CODE = 0;
layout(constant_id = 3) const uint PREPARATION_CODE = 0;
layout(constant_id = 4) const uint LOOPS = 1;
layout(constant_id = 5) const uint WINDOW_AXES = 1;
layout(constant_id = 6) const uint WINDOW_0 = 1;  // elements of the window along its axes, those that are not there: 1
layout(constant_id = 7) const uint WINDOW_1 = 1;
layout(constant_id = 8) const uint WINDOW_2 = 1;
layout(constant_id = 9) const uint WINDOW_3 = 1;
layout(constant_id = 10) const uint COUNT_PADDING = 0;
layout(constant_id = 11) const uint INDICES = 0;  // whether a second output takes where the maximum was found
layout(constant_id = 12) const uint SOURCE_DTYPE = 1;
layout(constant_id = 13) const uint OUTPUT_DTYPE = 1;
layout(constant_id = 14) const uint EPILOGUE_INPUTS = 0;
layout(constant_id = 15) const uint EPILOGUE_DTYPES = 0;  // one byte each

#define CHAIN_ID 16
#define CHAIN_STEPS 8
#include "source.glsl"

#if LEVEL >= 2
layout(binding = 6) writeonly restrict buffer Indices { int64_t indices[]; };
#else
layout(binding = 6) writeonly restrict buffer Indices { int indices[]; };
#endif

#define FUNCTION(name, code) const uint R_##name = code;
#include "reduction_functions.def"
#undef FUNCTION

// Parameters: the number of results and the exponent; the operands: output, source at the window's first element,
// epilogue, and, to find the place of the window: its begin along each axis, the second output, the number of its
// first element in the source; for each axis of the window: the source's extent, the extent with the padding behind it,
// dilation, stride of the source, stride of the element numbers; divisors of the loops; the immediates.
const uint COUNT_AT = 0u, EXPONENT_AT = 1u, OPERANDS_AT = 2u, OPERAND_WORDS = 1u + LOOPS;
const uint BEGINS = 2u + EPILOGUE_INPUTS, INDEX_OPERANDS = BEGINS + WINDOW_AXES;
const uint AXES_AT = OPERANDS_AT + OPERAND_WORDS * (INDEX_OPERANDS + 2u * INDICES), AXIS_WORDS = 5u;
const uint DIVISORS_AT = AXES_AT + AXIS_WORDS * WINDOW_AXES;
const uint IMMEDIATES_AT = DIVISORS_AT + DIVISOR_WORDS * (LOOPS - 1u);

const uint MOST_AXES = 4u;

uint operand_address(uint operand) { return address(OPERANDS_AT + OPERAND_WORDS * operand, LOOPS); }

uint epilogue_address(uint i) { return operand_address(2u + i); }

struct Axis {
  uint begin;  // where the window begins; wraps around below 0
  uint extent, padded, dilation, stride, index_stride;
};
Axis axes[MOST_AXES];

void load_axes() {
  for (uint i = 0u; i < MOST_AXES; ++i) {
    axes[i] = Axis(0u, 1u, 1u, 0u, 0u, 0u);
    if (i >= WINDOW_AXES) continue;
    const uint at = AXES_AT + AXIS_WORDS * i;
    axes[i] = Axis(operand_address(BEGINS + i), parameter(at), parameter(at + 1u), parameter(at + 2u), parameter(at + 3u),
                   parameter(at + 4u));
  }
}

// What the window has found so far.
REAL real_result;
INTEGER integer_result;
uint found, counted;  // the element number of the maximum; how many elements the mean counts
bool found_any;

void start() {
  const bool maximum = FUNCTION_CODE == R_maximum;
  real_result = maximum ? -INFINITY : 0.0;
  integer_result = maximum ? lowest_integer(SOURCE_DTYPE) : INTEGER(0);
  counted = 0u;
  found_any = false;
  found = 0u;
}

// Whether the element in register 0 takes the place of the maximum so far; not-a-number does.
bool is_larger() {
  if (is_floating(SOURCE_DTYPE)) {
    const REAL x = real_register(SOURCE_DTYPE, 0u);
    return x > real_result || (is_not_a_number(x) && !is_not_a_number(real_result));
  }
  return integer_less(is_unsigned(SOURCE_DTYPE), integer_result, integers[0]);
}

void prepare_element() {
  if (is_floating(SOURCE_DTYPE)) {
    const REAL exponent = REAL(uintBitsToFloat(parameter(EXPONENT_AT)));
    set_real_register(SOURCE_DTYPE, 0u, prepared(PREPARATION_CODE, exponent, real_register(SOURCE_DTYPE, 0u)));
  } else {
    integers[0] = prepared(PREPARATION_CODE, integers[0]);
  }
}

void visit(uint source, uint index) {
  load_source(SOURCE_DTYPE, source, 0u);
  prepare_element();
  const bool maximum = FUNCTION_CODE == R_maximum;
  if (maximum && found_any && !is_larger()) return;
  if (is_floating(SOURCE_DTYPE)) {
    const REAL x = real_register(SOURCE_DTYPE, 0u);
    real_result = maximum ? x : real_result + x;
  } else {
    integer_result = maximum ? integers[0] : integer_result + integers[0];
  }
  found = index;
  found_any = true;
}

// Into register 0.
void finish() {
  const bool mean = FUNCTION_CODE == R_mean;
  const uint divisor = mean ? max(counted, 1u) : 1u;
  if (is_floating(SOURCE_DTYPE)) {
    set_real_register(SOURCE_DTYPE, 0u, mean ? real_result / REAL(divisor) : real_result);
  } else {
    integers[0] = mean ? quotient(is_unsigned(SOURCE_DTYPE), integer_result, INTEGER(divisor)) : integer_result;
  }
}

// Where step `step` of the window lies along an axis, and whether there are data.
#define STEP(i, step)                                                         \
  const uint position_##i = axes[i].begin + step * axes[i].dilation;          \
  const bool inside_##i = position_##i < axes[i].extent;                      \
  const bool padded_##i = int(position_##i) < int(axes[i].padded);

void visit_window(uint source, uint index) {
  for (uint a = 0u; a < WINDOW_0; ++a) {
    STEP(0, a)
    for (uint b = 0u; b < WINDOW_1; ++b) {
      STEP(1, b)
      for (uint c = 0u; c < WINDOW_2; ++c) {
        STEP(2, c)
        for (uint d = 0u; d < WINDOW_3; ++d) {
          STEP(3, d)
          const bool inside = inside_0 && inside_1 && inside_2 && inside_3;
          if (inside || (COUNT_PADDING != 0u && padded_0 && padded_1 && padded_2 && padded_3)) ++counted;
          if (!inside) continue;
          visit(source + a * axes[0].dilation * axes[0].stride + b * axes[1].dilation * axes[1].stride +
                    c * axes[2].dilation * axes[2].stride + d * axes[3].dilation * axes[3].stride,
                index + position_0 * axes[0].index_stride + position_1 * axes[1].index_stride +
                    position_2 * axes[2].index_stride + position_3 * axes[3].index_stride);
        }
      }
    }
  }
}

void main() {
  const uint element = group_number() * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
  if (element >= parameter(COUNT_AT)) return;
  find_coordinates(element, LOOPS, DIVISORS_AT);
  load_immediates(IMMEDIATES_AT);
  load_axes();
  start();
  const uint first_index = INDICES != 0u ? operand_address(INDEX_OPERANDS + 1u) : 0u;
  visit_window(operand_address(1u), first_index);
  finish();
  store_result(operand_address(0u));
  if (INDICES != 0u) {
    const uint at = operand_address(INDEX_OPERANDS);
#if LEVEL >= 2
    indices[at] = int64_t(found_any ? found : first_index);
#else
    indices[at] = int(found_any ? found : first_index);
#endif
  }
}
