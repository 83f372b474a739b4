// What every kernel is told at run time: 32-bit words, in push constants where they fit, else in a uniform buffer.
// The planner writes them in the order in which the kernel reads them (ParameterWriter in src/plan/emission.h).
#ifndef LAPILLI_PARAMETERS
#define LAPILLI_PARAMETERS

layout(constant_id = 0) const uint PARAMETERS_PUSHED = 0;

const uint PUSHED_WORDS = 32;
const uint UNIFORM_WORDS = 128;
layout(push_constant) uniform PushedParameters { uint words[PUSHED_WORDS]; } pushed;
layout(binding = 0) uniform UniformParameters { uvec4 words[UNIFORM_WORDS / 4]; } uniform_parameters;

uint parameter(uint index) {
  return PARAMETERS_PUSHED != 0 ? pushed.words[index] : uniform_parameters.words[index >> 2][index & 3u];
}

// A size and what divides by it without a division: floor(n / size) = (high(n * multiplier) + n) >> shift, for n and
// size below 2^31 (Granlund and Montgomery 1994, "Division by invariant integers using multiplication").
struct Divisor {
  uint size, multiplier, shift;
};
const uint DIVISOR_WORDS = 3;

Divisor divisor_parameter(uint index) {
  return Divisor(parameter(index), parameter(index + 1u), parameter(index + 2u));
}

uint divide(uint dividend, Divisor divisor) {
  uint high, low;
  umulExtended(dividend, divisor.multiplier, high, low);
  return (high + dividend) >> divisor.shift;
}

// The number of this workgroup; there may be more of them than asked for, in up to three axes.
uint group_number() {
  return gl_WorkGroupID.x + gl_NumWorkGroups.x * (gl_WorkGroupID.y + gl_NumWorkGroups.y * gl_WorkGroupID.z);
}

#endif
