// Probabilities of classes from those of pairs (lapilli::PairCoupling), an invocation a row.
#version 460
#extension GL_GOOGLE_include_directive : require

layout(local_size_x_id = 1) in;

#include "parameters.glsl"

layout(binding = 1) coherent restrict buffer Shares { float shares[]; };
layout(binding = 2) readonly restrict buffer Pairs { float pairs[]; };
layout(binding = 3) coherent restrict buffer Products { float products[]; };  // of the matrix with the shares

// Parameters: rows, classes, pairs, offsets of shares, pairs and products.
const uint CLASSES_AT = 1u, COUNT_AT = 2u, SHARES_AT = 3u, PAIRS_AT = 4u, PRODUCTS_AT = 5u;

uint classes, own_pairs;

// How probable class i is against j.
float against(uint i, uint j) {
  const uint low = min(i, j), high = max(i, j);
  const float first = pairs[own_pairs + low * classes - low * (low + 1u) / 2u + high - low - 1u];
  return i < j ? first : 1.0 - first;
}

float diagonal(uint t) {
  float sum = 0.0;
  for (uint j = 0u; j < classes; ++j) {
    if (j != t) sum += against(j, t) * against(j, t);
  }
  return sum;
}

float element(uint t, uint j, float diagonal_of_t) { return j == t ? diagonal_of_t : -against(j, t) * against(t, j); }

void main() {
  const uint row = group_number() * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
  if (row >= parameter(0u)) return;
  classes = parameter(CLASSES_AT);
  own_pairs = parameter(PAIRS_AT) + row * parameter(COUNT_AT);
  const uint p = parameter(SHARES_AT) + row * classes, qp = parameter(PRODUCTS_AT) + row * classes;
  for (uint t = 0u; t < classes; ++t) shares[p + t] = 1.0 / float(classes);
  for (uint iteration = max(100u, classes); iteration > 0u; --iteration) {
    float pqp = 0.0, error = 0.0;
    for (uint t = 0u; t < classes; ++t) {
      const float diagonal_of_t = diagonal(t);
      float sum = 0.0;
      for (uint j = 0u; j < classes; ++j) sum += element(t, j, diagonal_of_t) * shares[p + j];
      products[qp + t] = sum;
      pqp += shares[p + t] * sum;
    }
    for (uint t = 0u; t < classes; ++t) error = max(error, abs(products[qp + t] - pqp));
    if (error < 0.005 / float(classes)) break;
    for (uint t = 0u; t < classes; ++t) {
      const float diagonal_of_t = diagonal(t), product = products[qp + t];
      const float difference = (pqp - product) / diagonal_of_t, scale = 1.0 / (1.0 + difference);
      shares[p + t] += difference;
      pqp = (pqp + difference * (difference * diagonal_of_t + 2.0 * product)) * scale * scale;
      for (uint j = 0u; j < classes; ++j) {
        products[qp + j] = (products[qp + j] + difference * element(t, j, diagonal_of_t)) * scale;
        shares[p + j] *= scale;
      }
    }
  }
}
