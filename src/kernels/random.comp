// Random numbers by Philox 4x32 with ten rounds: each element has its own counter.
#version 460
#extension GL_GOOGLE_include_directive : require

layout(local_size_x_id = 1) in;
layout(constant_id = 2) const uint NORMAL = 0;
layout(constant_id = 3) const uint LOOPS = 1;
layout(constant_id = 4) const uint OUTPUT_DTYPE = 1;

#define CHAIN_ID 5
#define CHAIN_STEPS 8
#include "loops.glsl"
#include "operands.glsl"

OUTPUT_OPERAND(output, 1)

// Parameters: elements; the key; the stream; bounds, or mean and deviation, each as a float and as the two words of a
// double; the output and the divisors of its loops.
const uint KEY_AT = 1u, STREAM_AT = 3u, FIRST_AT = 4u, SECOND_AT = 7u, OUTPUT_AT = 10u;
const uint DIVISORS_AT = OUTPUT_AT + 1u + LOOPS;

uvec4 philox(uvec4 counter, uvec2 key) {
  for (uint i = 0u; i < 10u; ++i) {
    uint a, b, a_high, b_high;
    umulExtended(0xD2511F53u, counter.x, a_high, a);
    umulExtended(0xCD9E8D57u, counter.z, b_high, b);
    counter = uvec4(b_high ^ counter.y ^ key.x, b, a_high ^ counter.w ^ key.y, a);
    key += uvec2(0x9E3779B9u, 0xBB67AE85u);
  }
  return counter;
}

const float FRACTION_24 = 5.9604644775390625e-8;

void main() {
  const uint element = group_number() * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
  if (element >= parameter(0u)) return;
  const uvec2 key = uvec2(parameter(KEY_AT), parameter(KEY_AT + 1u));
  const uvec4 words = philox(uvec4(element, 0u, parameter(STREAM_AT), 0u), key);
  const float first = uintBitsToFloat(parameter(FIRST_AT)), second = uintBitsToFloat(parameter(SECOND_AT));
  float unit = float(words.x >> 8) * FRACTION_24;
  if (NORMAL != 0u) {
    const float radius = sqrt(-2.0 * accurate_logarithm(float((words.x >> 8) + 1u) * FRACTION_24));
    unit = radius * accurate_cosine(2.0 * PI * (float(words.y >> 8) * FRACTION_24));
  }
#if LEVEL >= 3
  if (OUTPUT_DTYPE == FLOAT64) {
    const double low = packDouble2x32(uvec2(parameter(FIRST_AT + 1u), parameter(FIRST_AT + 2u)));
    const double high = packDouble2x32(uvec2(parameter(SECOND_AT + 1u), parameter(SECOND_AT + 2u)));
    const double fraction = double(unit) + (NORMAL != 0u ? 0.0LF : double(words.y >> 3) * 1.1102230246251565e-16LF);
    doubles[0] = low + fraction * (NORMAL != 0u ? high : high - low);
  }
#endif
  reals[0] = first + unit * (NORMAL != 0u ? second : second - first);
  find_coordinates(element, LOOPS, DIVISORS_AT);
  store_output(OUTPUT_DTYPE, address(OUTPUT_AT, LOOPS), 0u);
}
