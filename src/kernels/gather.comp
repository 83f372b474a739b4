// Elements of the source whose places along some of its axes are read from indices.
#version 460
#extension GL_GOOGLE_include_directive : require

layout(local_size_x_id = 1) in;
layout(constant_id = 2) const uint LOOPS = 1;
layout(constant_id = 3) const uint CHOSEN_AXES = 1;  // of the source, along which indices choose
layout(constant_id = 4) const uint SOURCE_DTYPE = 1;
layout(constant_id = 5) const uint OUTPUT_DTYPE = 1;
layout(constant_id = 6) const uint INDEX_DTYPE = 7;
layout(constant_id = 7) const uint EPILOGUE_INPUTS = 0;
layout(constant_id = 8) const uint EPILOGUE_DTYPES = 0;  // one byte each
layout(constant_id = 9) const uint WINDOWED = 0;  // 1: of the places along the only chosen axis, some are bound

#define CHAIN_ID 10
#define CHAIN_STEPS 8
#include "source.glsl"

INPUT_OPERAND(index, 6)

// Parameters: the number of results; the operands: output, source, epilogue, indices; what places.glsl
// reads; where WINDOWED, the first of the places that are bound and their count; divisors of the loops; the immediates.
const uint OPERANDS_AT = 1u, OPERAND_WORDS = 1u + LOOPS, INDEX_OPERAND = 2u + EPILOGUE_INPUTS;
const uint PLACES_AT = OPERANDS_AT + OPERAND_WORDS * (INDEX_OPERAND + 1u);
const uint WINDOW_AT = PLACES_AT + 1u + 2u * CHOSEN_AXES;
const uint DIVISORS_AT = WINDOW_AT + 2u * WINDOWED;
const uint IMMEDIATES_AT = DIVISORS_AT + DIVISOR_WORDS * (LOOPS - 1u);

#include "places.glsl"

uint operand_address(uint operand) { return address(OPERANDS_AT + OPERAND_WORDS * operand, LOOPS); }

uint epilogue_address(uint i) { return operand_address(2u + i); }

void main() {
  const uint element = group_number() * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
  if (element >= parameter(0u)) return;
  find_coordinates(element, LOOPS, DIVISORS_AT);
  load_immediates(IMMEDIATES_AT);
  const uint index = operand_address(INDEX_OPERAND);
  uint offset;
  if (WINDOWED != 0u) {
    load_index(INDEX_DTYPE, index, INDEX_REGISTER);
    const uint bound = place(integers[INDEX_REGISTER], parameter(PLACES_AT + 1u)) - parameter(WINDOW_AT);
    if (bound >= parameter(WINDOW_AT + 1u)) return;
    offset = bound * parameter(PLACES_AT + 2u);
  } else {
    offset = chosen_offset(index);
  }
  load_source(SOURCE_DTYPE, operand_address(1u) + offset, 0u);
  store_result(operand_address(0u));
}
