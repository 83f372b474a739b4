// Elements that follow from sizes: they are numbers once a plan is made, so they come as parameters.
#version 460
#extension GL_GOOGLE_include_directive : require

layout(local_size_x_id = 1) in;
layout(constant_id = 2) const uint OUTPUT_DTYPE = 7;

#define CHAIN_ID 3
#define CHAIN_STEPS 8
#include "operands.glsl"

OUTPUT_OPERAND(output, 1)

// Parameters: how many elements, where the first one goes, the elements.
const uint FIRST_AT = 1u, ELEMENTS_AT = 2u;

void main() {
  const uint element = gl_LocalInvocationIndex;
  if (element >= parameter(0u)) return;
  integers[0] = INTEGER(int(parameter(ELEMENTS_AT + element)));
  store_output(OUTPUT_DTYPE, parameter(FIRST_AT) + element, 0u);
}
