// Quotients and remainders to the last bit, where a driver's own division may be wrong by 2.5 units.
#ifndef LAPILLI_EXACT
#define LAPILLI_EXACT

#include "elementary.glsl"

// What is left of x after taking a * b, which is close to it, with all digits of the product (Dekker 1971, by Veltkamp's
// splitting).
float less_product(float x, float a, float b) {
  precise const float scaled_a = a * 4097.0, scaled_b = b * 4097.0;
  precise const float high_a = scaled_a - (scaled_a - a), high_b = scaled_b - (scaled_b - b);
  precise const float low_a = a - high_a, low_b = b - high_b;
  precise const float product = a * b;
  precise const float error = ((high_a * high_b - product) + high_a * low_b + low_a * high_b) + low_a * low_b;
  precise const float rest = (x - product) - error;
  return rest;
}

// x / y rounded to nearest: what is left is divided once more.
float exact_quotient(float x, float y) {
  const float quotient = x / y;
  const float magnitude = abs(quotient);
  if (!(magnitude > 1e-20 && magnitude < 1e20 && abs(y) > 1e-16 && abs(y) < 1e16)) return quotient;
  precise const float corrected = quotient + less_product(x, quotient, y) / y;
  return corrected;
}

#ifndef INLINED
// The significand of a positive float, in [2^23, 2^24), and the exponent that goes with it.
uint significand_of(uint bits, out int exponent) {
  const int lift = max(23 - findMSB(bits), 0);
  exponent = max(int(bits >> 23), 1) - lift;
  return lift > 0 ? bits << lift : (bits & 0x7FFFFFu) | 0x800000u;
}

// Of any quotient: what is left of the significands, after 16 bits of the quotient at a time. Those may be wrong by one,
// so what is left fits 32 bits, whatever the products lose above them.
float long_remainder(float x, float y) {
  const uint dividend = floatBitsToUint(x) & 0x7FFFFFFFu, divisor = floatBitsToUint(y) & 0x7FFFFFFFu;
  if (dividend >= 0x7F800000u || divisor > 0x7F800000u || divisor == 0u) return NOT_A_NUMBER;
  if (dividend < divisor) return x;
  int exponent, unit;
  uint rest = significand_of(dividend, exponent);
  const uint whole = significand_of(divisor, unit);
  const float inverse = 1.0 / float(whole);
  rest = rest >= whole ? rest - whole : rest;
  for (int left = exponent - unit; left > 0; left -= 16) {
    const int bits = min(left, 16);
    const int next = int((rest << bits) - uint(float(rest) * float(1 << bits) * inverse) * whole);
    rest = uint(next < 0 ? next + int(whole) : next >= int(whole) ? next - int(whole) : next);
  }
  if (rest == 0u) return with_sign_of(0.0, x);
  const int lift = 23 - findMSB(rest);
  unit -= lift;
  rest <<= lift;
  return with_sign_of(uintBitsToFloat(unit > 0 ? (uint(unit - 1) << 23) + rest : rest >> (1 - unit)), x);
}

// fmod, to the bit. A quotient of few bits is wrong by one at most.
float exact_remainder(float x, float y) {
  const float quotient = abs(trunc(x / y)), size = abs(y);
  if (!(quotient < 1048576.0 && size > 1e-16 && size < 1e16)) return long_remainder(x, y);
  if (abs(x) < size) return x;
  const float rest = less_product(abs(x), quotient, size);
  return with_sign_of(rest < 0.0 ? rest + size : rest >= size ? rest - size : rest, x);
}

// What is left with the sign of the divisor, as Python has it.
float exact_modulo(float x, float y) {
  const float rest = exact_remainder(x, y);
  const uint bits = floatBitsToUint(rest);
  if ((bits & 0x7FFFFFFFu) == 0u) return with_sign_of(rest, y);
  return ((bits ^ floatBitsToUint(y)) & 0x80000000u) != 0u ? rest + y : rest;
}
#endif

#endif
