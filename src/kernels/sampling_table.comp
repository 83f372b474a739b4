// What the results along one sampled axis are made of: for each its first element and, unless the kernel is the nearest
// element, the weights of the elements from there on (Sampling::table in src/ops/sampling.h): a word each, or two where the level
// has double precision.
#version 460
#extension GL_GOOGLE_include_directive : require

layout(local_size_x_id = 1) in;
layout(constant_id = 2) const uint KERNEL = 0;    // lapilli::SamplingKernel
layout(constant_id = 3) const uint ROUNDING = 0;  // lapilli::NearestRounding
layout(constant_id = 4) const uint EXCLUDE_OUTSIDE = 0;
layout(constant_id = 5) const uint CROP = 0;
layout(constant_id = 6) const uint WIDE_REGION = 0;  // of float64

#include "cubic.glsl"
#include "parameters.glsl"
#include "types.glsl"

layout(binding = 1) writeonly restrict buffer Table { uint table[]; };
layout(binding = 2) readonly restrict buffer Region { float region[]; };
#if LEVEL >= 3
layout(binding = 2) readonly restrict buffer WideRegion { double wide_region[]; };
#endif

// Parameters: how many results, where their first row goes, words of a row; step, begin and divisor of the coordinate;
// elements of the input, elements of a result, by how much the kernel is stretched as two numbers, coefficient of cubic;
// where the region says start and end.
const uint FIRST_ROW_AT = 1u, ROW_WORDS_AT = 2u, STEP_AT = 3u, BEGIN_AT = 4u, DIVISOR_AT = 5u, EXTENT_AT = 6u;
const uint TAPS_AT = 7u, SPREAD_AT = 8u, SPREAD_DIVISOR_AT = 9u, CUBIC_AT = 10u, START_AT = 11u, END_AT = 12u;

const uint NEAREST = 0u, LINEAR = 1u;
const uint HALF_DOWN = 0u, HALF_UP = 1u, UP = 3u;
const uint OUTSIDE = 0x80000000u;

struct Coordinate {
  int whole;
  uint rest, divisor;  // 0 <= rest < divisor
  REAL fraction;       // on the same side of 1/2 as rest / divisor
};

// high:low / divisor bit by bit, for quotients below 2^32.
uint long_division(uint high, uint low, uint divisor, out uint rest) {
  uint quotient = 0u;
  for (int bit = 31; bit >= 0; --bit) {
    const bool carry = (high & 0x80000000u) != 0u;
    high = (high << 1) | (low >> 31);
    low <<= 1;
    if (carry || high >= divisor) {
      high -= divisor;
      quotient |= 1u << uint(bit);
    }
  }
  rest = high;
  return quotient;
}

// (index * step + begin) / divisor in 64 bits.
Coordinate coordinate_of(uint index) {
  const int begin = int(parameter(BEGIN_AT));
  const uint divisor = parameter(DIVISOR_AT);
  uint high, low, carry;
  umulExtended(index, parameter(STEP_AT), high, low);
  low = uaddCarry(low, uint(begin), carry);
  high += carry + (begin < 0 ? 0xFFFFFFFFu : 0u);
  const bool negative = (high & 0x80000000u) != 0u;
  if (negative) {
    low = uaddCarry(~low, 1u, carry);
    high = ~high + carry;
  }
  uint rest;
  const int quotient = int(long_division(high, low, divisor, rest));
  const bool backwards = negative && rest != 0u;
  const uint forwards = backwards ? divisor - rest : rest;
  const int whole = (negative ? -quotient : quotient) - (backwards ? 1 : 0);
  return Coordinate(whole, forwards, divisor, REAL(forwards) / REAL(divisor));
}

// A coordinate that is no fraction of integers.
Coordinate coordinate_of(REAL value) {
  const REAL whole = floor(value), fraction = value - whole;
  const uint quarters = fraction == 0.0 ? 0u : fraction < 0.5 ? 1u : fraction == 0.5 ? 2u : 3u;
  return Coordinate(int(whole), quarters, 4u, fraction);
}

REAL edge(uint index) {
#if LEVEL >= 3
  if (WIDE_REGION != 0u) return wide_region[index];
#endif
  return region[index];
}

int nearest(Coordinate at) {
  // rest * 2 against divisor, without leaving 32 bits.
  const uint other = at.divisor - at.rest;
  const bool next = ROUNDING == HALF_DOWN ? at.rest > other
                    : ROUNDING == HALF_UP ? at.rest >= other
                                          : ROUNDING == UP && at.rest > 0u;
  return at.whole + (next ? 1 : 0);
}

REAL weight(uint tap, int first, Coordinate at) {
  const int place = first + int(tap);
  if (EXCLUDE_OUTSIDE != 0u && (place < 0 || place >= int(parameter(EXTENT_AT)))) return 0.0;
  const uint taps = parameter(TAPS_AT);
  const REAL shrink = min(1.0, REAL(parameter(SPREAD_DIVISOR_AT)) / REAL(parameter(SPREAD_AT)));
  const REAL distance = (REAL(int(tap + 1u) - int(taps / 2u)) - at.fraction) * shrink;
  return KERNEL == LINEAR ? max(0.0, 1.0 - abs(distance)) : cubic_weight(distance, uintBitsToFloat(parameter(CUBIC_AT)));
}

void main() {
  const uint index = group_number() * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
  if (index >= parameter(0u)) return;
  const uint row = parameter(FIRST_ROW_AT) + index * parameter(ROW_WORDS_AT), taps = parameter(TAPS_AT);
  Coordinate at = coordinate_of(index);
  if (CROP != 0u) {
    const REAL start = edge(parameter(START_AT)), end = edge(parameter(END_AT));
    const REAL last = REAL(parameter(EXTENT_AT)) - 1.0;
    const REAL place = last * (start + (end - start) * (REAL(at.whole) + at.fraction));
    if (!(place >= 0.0 && place <= last)) {
      table[row] = OUTSIDE;
      return;
    }
    at = coordinate_of(place);
  }
  if (KERNEL == NEAREST) {
    table[row] = uint(clamp(nearest(at), 0, int(parameter(EXTENT_AT)) - 1));
    return;
  }
  const int first = at.whole - int(taps / 2u) + 1;
  REAL total = 0.0;
  for (uint tap = 0u; tap < taps; ++tap) total += weight(tap, first, at);
  table[row] = uint(first);
  for (uint tap = 0u; tap < taps; ++tap) {
    const REAL share = weight(tap, first, at) / total;
#if LEVEL >= 3
    const uvec2 words = unpackDouble2x32(share);
    table[row + 1u + 2u * tap] = words.x;
    table[row + 2u + 2u * tap] = words.y;
#else
    table[row + 1u + tap] = floatBitsToUint(share);
#endif
  }
}
