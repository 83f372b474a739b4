// Elements of the source at coordinates that a grid says, interpolated along one to three axes.
#version 460
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

layout(local_size_x_id = 1) in;
layout(constant_id = 2) const uint LOOPS = 1;
layout(constant_id = 3) const uint AXES = 2;
layout(constant_id = 4) const uint TAPS = 2;  // elements along an axis: 1 is the nearest, 2 linear, 4 cubic
layout(constant_id = 5) const uint PADDING = 0;
layout(constant_id = 6) const uint ALIGN_CORNERS = 0;
layout(constant_id = 7) const uint IN_ELEMENTS = 0;
layout(constant_id = 8) const uint SOURCE_DTYPE = 1;
layout(constant_id = 9) const uint OUTPUT_DTYPE = 1;
layout(constant_id = 10) const uint GRID_DTYPE = 1;
layout(constant_id = 11) const uint EPILOGUE_INPUTS = 0;
layout(constant_id = 12) const uint EPILOGUE_DTYPES = 0;  // one byte each

#define CHAIN_ID 13
#define CHAIN_STEPS 8
#include "cubic.glsl"
#include "source.glsl"

INPUT_OPERAND(grid, 6)

// Parameters: the number of results; the operands: output, source, epilogue, grid, and for each axis, where coordinates
// are in elements, the base; for each axis the source's extent and stride, and how far its coordinate lies from the
// grid's first; divisors of the loops; the immediates.
const uint OPERANDS_AT = 1u, OPERAND_WORDS = 1u + LOOPS, GRID = 2u + EPILOGUE_INPUTS, BASES = 3u + EPILOGUE_INPUTS;
const uint AXES_AT = OPERANDS_AT + OPERAND_WORDS * (BASES + (IN_ELEMENTS != 0u ? AXES : 0u)), AXIS_WORDS = 3u;
const uint DIVISORS_AT = AXES_AT + AXIS_WORDS * AXES;
const uint IMMEDIATES_AT = DIVISORS_AT + DIVISOR_WORDS * (LOOPS - 1u);

const uint BORDER = 1u, REFLECTION = 2u;
const REAL CUBIC_COEFFICIENT = -0.75;
const uint GRID_REGISTER = 7u;  // no input of an epilogue

uint operand_address(uint operand) { return address(OPERANDS_AT + OPERAND_WORDS * operand, LOOPS); }

uint epilogue_address(uint i) { return operand_address(2u + i); }

REAL reflected(REAL x, REAL low, REAL high) {
  const REAL range = high - low, over = x < low ? low - x : x - high;
  if (!(range > 0.0)) return low;
  if (!(over > 0.0)) return x;
  const REAL turns = floor(over / range), rest = over - turns * range;
  const bool even = turns - 2.0 * floor(turns * 0.5) == 0.0;
  return (x < low) == even ? low + rest : high - rest;
}

struct Axis {
  REAL at, low, high, last;  // the coordinate, the bounds of reflection, the last element
  uint stride;
};

REAL grid_value(uint index) {
  load_grid(GRID_DTYPE, index, GRID_REGISTER);
  return real_register(GRID_DTYPE, GRID_REGISTER);
}

Axis load_axis(uint axis, uint grid) {
  if (axis >= AXES) return Axis(0.0, 0.0, 0.0, 0.0, 0u);
  const uint at = AXES_AT + AXIS_WORDS * axis;
  const REAL extent = REAL(parameter(at)), value = grid_value(grid + parameter(at + 2u));
  Axis result;
  result.stride = parameter(at + 1u);
  result.last = extent - 1.0;
  result.low = ALIGN_CORNERS != 0u ? 0.0 : -0.5;
  result.high = ALIGN_CORNERS != 0u ? result.last : result.last + 0.5;
  if (IN_ELEMENTS != 0u) {
    result.at = value + REAL(int(operand_address(BASES + axis)));
  } else {
    result.at = ALIGN_CORNERS != 0u ? (value + 1.0) * 0.5 * result.last : ((value + 1.0) * extent - 1.0) * 0.5;
  }
  if (TAPS == 1u) result.at = round_half_even(result.at);
  // Further out, all elements around are the edge; float32 would lose the fraction there.
  if (PADDING == BORDER) result.at = clamp(result.at, -3.0, result.last + 3.0);
  if (PADDING == REFLECTION) result.at = reflected(result.at, result.low, result.high);
  return result;
}

struct Tap {
  REAL weight;  // 0 where the element is outside and counts as zero
  uint offset;
};

Tap tap_of(Axis axis, uint tap) {
  const REAL first = TAPS == 1u ? round_half_even(axis.at) : floor(axis.at) - REAL(TAPS / 2u) + 1.0;
  REAL place = first + REAL(tap);
  const REAL distance = axis.at - place;
  REAL weight = TAPS == 1u ? 1.0 : TAPS == 2u ? max(0.0, 1.0 - abs(distance)) : cubic_weight(distance, CUBIC_COEFFICIENT);
  if (PADDING == REFLECTION) place = round_half_even(reflected(place, axis.low, axis.high));
  if (PADDING == 0u && !(place >= 0.0 && place <= axis.last)) weight = 0.0;
  return Tap(weight, uint(clamp(place, 0.0, max(axis.last, 0.0))) * axis.stride);
}

uint taps(uint axis) { return axis < AXES ? TAPS : 1u; }

Tap tap_along(uint number, Axis axis, uint tap) {
  if (number >= AXES) return Tap(1.0, 0u);
  return tap_of(axis, tap);
}

void interpolate(uint source, Axis axis_0, Axis axis_1, Axis axis_2) {
  REAL sum = 0.0;
  INTEGER nearest = INTEGER(0);
  [[dont_unroll]] for (uint a = 0u; a < taps(0u); ++a) {
    const Tap tap_0 = tap_along(0u, axis_0, a);
    for (uint b = 0u; b < taps(1u); ++b) {
      const Tap tap_1 = tap_along(1u, axis_1, b);
      for (uint c = 0u; c < taps(2u); ++c) {
        const Tap tap_2 = tap_along(2u, axis_2, c);
        const REAL weight = tap_0.weight * tap_1.weight * tap_2.weight;
        if (weight == 0.0) continue;
        load_source(SOURCE_DTYPE, source + tap_0.offset + tap_1.offset + tap_2.offset, 0u);
        const REAL value = number_register(SOURCE_DTYPE, 0u);
        sum += TAPS == 1u ? value : weight * value;
        nearest = integers[0];
      }
    }
  }
  // The nearest integer keeps all its bits.
  if (TAPS == 1u && !is_floating(SOURCE_DTYPE)) {
    integers[0] = nearest;
  } else {
    set_number_register(SOURCE_DTYPE, 0u, sum);
  }
}

void main() {
  const uint element = group_number() * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
  if (element >= parameter(0u)) return;
  find_coordinates(element, LOOPS, DIVISORS_AT);
  load_immediates(IMMEDIATES_AT);
  const uint grid = operand_address(GRID);
  interpolate(operand_address(1u), load_axis(0u, grid), load_axis(1u, grid), load_axis(2u, grid));
  store_result(operand_address(0u));
}
