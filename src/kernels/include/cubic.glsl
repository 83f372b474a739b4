// Weights of the elements around a coordinate.
#ifndef LAPILLI_CUBIC
#define LAPILLI_CUBIC

#include "types.glsl"

// Keys' cubic convolution; `a` is its slope at distance 1.
REAL cubic_weight(REAL distance, REAL a) {
  const REAL x = abs(distance);
  if (x <= 1.0) return ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0;
  return x < 2.0 ? ((a * x - 5.0 * a) * x + 8.0 * a) * x - 4.0 * a : 0.0;
}

#endif
