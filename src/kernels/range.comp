// Numbers at equal distances.
#version 460
#extension GL_GOOGLE_include_directive : require

layout(local_size_x_id = 1) in;
layout(constant_id = 2) const uint OUTPUT_DTYPE = 1;
layout(constant_id = 3) const uint START_DTYPE = 1;
layout(constant_id = 4) const uint STEP_DTYPE = 1;

#define CHAIN_ID 5
#define CHAIN_STEPS 8
#include "operands.glsl"

OUTPUT_OPERAND(output, 1)
INPUT_OPERAND(start, 2)
INPUT_OPERAND(step, 3)

// Parameters: how many; offset and stride of the output; where the first number and the distance lie.
const uint OFFSET_AT = 1u, STRIDE_AT = 2u, START_AT = 3u, STEP_AT = 4u;

void main() {
  const uint element = group_number() * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
  if (element >= parameter(0u)) return;
  load_start(START_DTYPE, parameter(START_AT), 0u);
  load_step(STEP_DTYPE, parameter(STEP_AT), 1u);
  if (is_real(OUTPUT_DTYPE)) {
    reals[0] += float(element) * reals[1];
#if LEVEL >= 3
  } else if (OUTPUT_DTYPE == FLOAT64) {
    doubles[0] += double(element) * doubles[1];
#endif
  } else {
    integers[0] += INTEGER(element) * integers[1];
  }
  store_output(OUTPUT_DTYPE, parameter(OFFSET_AT) + element * parameter(STRIDE_AT), 0u);
}
