// Rows through decision trees: an invocation has one row and one tree, and goes from the root to a leaf.
#version 460
#extension GL_GOOGLE_include_directive : require

layout(local_size_x_id = 1) in;

#include "tree.glsl"

layout(binding = 1) writeonly restrict buffer Leaves { int leaves[]; };
layout(binding = 2) readonly restrict buffer Rows { REAL features[]; };
layout(binding = 3) readonly restrict buffer Nodes { ivec4 nodes[]; };  // feature, mode, next when it holds, when not
layout(binding = 4) readonly restrict buffer Splits { REAL splits[]; };
layout(binding = 5) readonly restrict buffer Roots { int roots[]; };

// Parameters: results; trees (as a divisor); features of a row; nodes; offsets of leaves and rows.
const uint TREES_AT = 1u, WIDTH_AT = 4u, NODES_AT = 5u, LEAVES_AT = 6u, ROWS_AT = 7u;

// Those of lapilli::TreeMode.
const int LESS_OR_EQUAL = 0, LESS = 1, GREATER_OR_EQUAL = 2, GREATER = 3, EQUAL = 4, UNEQUAL = 5;
const int MISSING_IS_TRUE = 8;

bool holds(int mode, REAL value, REAL split) {
  if (is_not_a_number(value)) return mode >= MISSING_IS_TRUE;
  switch (mode & (MISSING_IS_TRUE - 1)) {
    case LESS_OR_EQUAL: return value <= split;
    case LESS: return value < split;
    case GREATER_OR_EQUAL: return value >= split;
    case GREATER: return value > split;
    case EQUAL: return value == split;
  }
  return value != split;
}

void main() {
  const uint element = group_number() * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
  if (element >= parameter(0u)) return;
  const Divisor trees = divisor_parameter(TREES_AT);
  const uint row = divide(element, trees), first = parameter(ROWS_AT) + row * parameter(WIDTH_AT);
  int next = roots[element - row * trees.size];
  // No way through a tree is longer than it has nodes.
  for (uint steps = parameter(NODES_AT); next >= 0 && steps > 0u; --steps) {
    const ivec4 node = nodes[next];
    next = holds(node.y, features[first + uint(node.x)], splits[next]) ? node.z : node.w;
  }
  leaves[parameter(LEAVES_AT) + element] = -1 - next;
}
