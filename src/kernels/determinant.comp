// Determinants by Gaussian elimination in place, one workgroup a matrix.
#version 460
#extension GL_GOOGLE_include_directive : require

layout(local_size_x_id = 1) in;

#include "parameters.glsl"

#if LEVEL >= 3
#define REAL double
#else
#define REAL float
#endif

layout(binding = 1) writeonly restrict buffer Determinants { REAL determinants[]; };
layout(binding = 2) coherent restrict buffer Matrices { REAL elements[]; };

// Parameters: how many matrices, their rows, where the first result goes.
const uint SIZE_AT = 1u, FIRST_AT = 2u;

shared uint pivot;

void find_pivot(uint matrix, uint size, uint k) {
  pivot = k;
  for (uint i = k + 1u; i < size; ++i) {
    if (abs(elements[matrix + i * size + k]) > abs(elements[matrix + pivot * size + k])) pivot = i;
  }
}

void complete_writes() {
  memoryBarrierBuffer();
  barrier();
}

void main() {
  const uint number = group_number();
  if (number >= parameter(0u)) return;
  const uint size = parameter(SIZE_AT), matrix = number * size * size, lane = gl_LocalInvocationIndex;
  REAL result = REAL(1.0);
  for (uint k = 0u; k < size; ++k) {
    if (lane == 0u) find_pivot(matrix, size, k);
    complete_writes();
    const uint chosen = pivot;
    for (uint j = k + lane; j < size && chosen != k; j += gl_WorkGroupSize.x) {
      const REAL upper = elements[matrix + k * size + j];
      elements[matrix + k * size + j] = elements[matrix + chosen * size + j];
      elements[matrix + chosen * size + j] = upper;
    }
    complete_writes();
    const REAL diagonal = elements[matrix + k * size + k];
    result *= chosen == k ? diagonal : -diagonal;
    if (diagonal == REAL(0.0)) break;
    const uint rest = size - k - 1u;
    for (uint i = lane; i < rest * rest; i += gl_WorkGroupSize.x) {
      const uint row = matrix + (k + 1u + i / rest) * size, column = k + 1u + i % rest;
      elements[row + column] -= elements[row + k] / diagonal * elements[matrix + k * size + column];
    }
    complete_writes();
  }
  if (lane == 0u) determinants[parameter(FIRST_AT) + number] = result;
}
