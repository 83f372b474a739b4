// The numbers of decision trees, which are computed in the type that they are stored in.
#ifndef LAPILLI_TREE
#define LAPILLI_TREE

#include "parameters.glsl"
#include "types.glsl"
#include "elementary.glsl"

#if LEVEL >= 3
#define REAL double
bool is_missing(double x) { return isnan(x); }
#else
#define REAL float
bool is_missing(float x) { return is_not_a_number(x); }
#endif

#endif
