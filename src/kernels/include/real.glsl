// Functions of the real numbers that a kernel computes in (REAL in types.glsl).
#ifndef LAPILLI_REAL
#define LAPILLI_REAL

#include "elementary.glsl"
#include "types.glsl"

#if LEVEL >= 3
#include "elementary_double.glsl"
REAL exponential(REAL x) { return double_exponential(x); }
REAL logarithm(REAL x) { return double_logarithm(x); }
REAL power(REAL x, REAL y) { return double_power(x, y); }
REAL hyperbolic_tangent(REAL x) { return double_hyperbolic_tangent(x); }
REAL exponential_minus_one(REAL x) { return double_exponential_minus_one(x); }
REAL sigmoid(REAL x) { return double_logistic(x); }
REAL softplus(REAL x) { return double_softplus(x); }
#else
REAL exponential(REAL x) { return exp(x); }
REAL logarithm(REAL x) { return log(x); }
REAL power(REAL x, REAL y) { return accurate_power(x, y); }
REAL hyperbolic_tangent(REAL x) { return accurate_hyperbolic_tangent(x); }
REAL exponential_minus_one(REAL x) { return accurate_exponential_minus_one(x); }
REAL sigmoid(REAL x) { return logistic(x); }
REAL softplus(REAL x) { return accurate_softplus(x); }
#endif

#endif
