// The numbers of decision trees, which are computed in the type that they are stored in.
#ifndef LAPILLI_TREE
#define LAPILLI_TREE

#include "parameters.glsl"
#include "real.glsl"

#endif
